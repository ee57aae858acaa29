package import PhotoModel
import SQLite

extension Store {
    /// Whether any version of this file has a job, in whatever state. One look-up in one index.
    package func knowsPath(
        drop: String, filesystem: FilesystemID, path: Path
    ) throws(Problem) -> Bool {
        try atTheDoor { (connection) throws(Problem) in
            try connection.number(
                """
                SELECT 1 FROM job_file WHERE drop_name = ? AND filesystem = ? AND path = ? AND is_current = 1 LIMIT 1
                """, [.text(drop), .text(filesystem), .blob(path.bytes)]) != nil
        }
    }
}
