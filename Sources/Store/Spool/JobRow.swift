import PhotoModel
import SQLite

/// How a job stands in its tables.
enum JobRow {
    static let columns = """
        id, state, drop_name, batch_id, sequence, attempts, crash_count, problem_code, problem_title, problem_recovery, \
        disposition, disposition_code, disposition_title, disposition_recovery, not_before, asset_id, created_at, \
        finished_at, is_manual
        """

    /// The job without its files; see ``withFiles(_:on:)``.
    static func read(_ row: borrowing Row) throws(SQLiteError) -> Job {
        Job(
            id: try row.integer(0), state: try row.word(1), drop: try row.text(2), batch: try row.integer(3),
            sequence: try row.integer(4), attempts: Int(try row.integer(5)), crashes: Int(try row.integer(6)),
            files: [], problem: try problem(row, 7), disposition: try row.word(10),
            dispositionProblem: try problem(row, 11),
            notBefore: try row.optionalInteger(14).map(Timestamp.init(nanoseconds:)), asset: try row.optionalText(15),
            createdAt: Timestamp(nanoseconds: try row.integer(16)),
            finishedAt: try row.optionalInteger(17).map(Timestamp.init(nanoseconds:)),
            isManual: try row.integer(18) == 1)
    }

    static func withFiles(_ job: Job, on connection: borrowing Connection) throws(Problem) -> Job {
        var job = job
        job.files = try connection.all(
            """
            SELECT path, role, filesystem, device, inode, size, mtime_ns FROM job_file
            WHERE job_id = ? ORDER BY position
            """, [.integer(job.id)]
        ) { row throws(SQLiteError) in
            SettledFile(
                path: Path(bytes: try row.blob(0)), role: try row.word(1), filesystem: try row.text(2),
                stamp: FileStamp(
                    device: UInt64(bitPattern: try row.integer(3)), inode: UInt64(bitPattern: try row.integer(4)),
                    size: try row.integer(5), mtime: try row.integer(6)))
        }
        return job
    }

    static func find(_ id: Job.ID, on connection: borrowing Connection) throws(Problem) -> Job? {
        guard let job = try connection.one("SELECT \(columns) FROM job WHERE id = ?", [.integer(id)], read)
        else { return nil }
        return try withFiles(job, on: connection)
    }

    /// The problem in three columns from `first` on; nil when there is none.
    static func problem(_ row: borrowing Row, _ first: Int32) throws(SQLiteError) -> Problem? {
        guard let code: Problem.Code = try row.optionalWord(first) else { return nil }
        return Problem(code, try row.text(first + 1), todo: try row.text(first + 2))
    }

    /// The three values for those columns.
    static func values(_ problem: Problem?) -> [Value] {
        [.text(problem?.code.rawValue), .text(problem?.whatHappened), .text(problem?.whatToDo)]
    }
}
