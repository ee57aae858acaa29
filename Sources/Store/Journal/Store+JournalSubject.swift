package import PhotoModel
import SQLite

extension Store {
    /// Which job and which file a journal line is about: how a claimed source finds back to its name.
    package func journalSubject(_ id: Int64) throws(Problem) -> (job: Job.ID, path: Path)? {
        try read { (connection) throws(Problem) in
            try connection.all(
                "SELECT job_id, path FROM journal WHERE id = ? AND job_id IS NOT NULL AND path IS NOT NULL",
                [.integer(id)]
            ) { row throws(SQLiteError) in (job: try row.integer(0), path: Path(bytes: try row.blob(1))) }.first
        }
    }
}
