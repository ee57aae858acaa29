import PhotoModel
import SQLite

extension Problem {
    /// What an error of the state database means to a person.
    static func state(_ error: SQLiteError) -> Problem {
        switch error.kind {
        case .corrupt:
            Problem(
                .stateIO, "The state database is damaged: \(error.description).",
                todo: "Stop the service and check the disk of the state directory. Keep spool.db, spool.db-wal and "
                    + "spool.db-shm: move them aside together, then put a backup in their place or start with none and "
                    + "run `photospool rebuild`. The photos in the library and in the drop folders are not touched.")
        case .full:
            Problem(
                .stateIO, "The state database cannot grow: \(error.description).",
                todo: "Free space on the disk of the state directory; work then goes on by itself.")
        case .io:
            Problem(
                .stateIO, "The state database cannot be read or written: \(error.description).",
                todo: "Check the disk of the state directory and that the service's user may write there; work then "
                    + "goes on by itself.")
        case .busy:
            Problem(
                .stateIO, "Another program holds the state database: \(error.description).",
                todo: "End the other program, for example sqlite3; work then goes on by itself.")
        case .memory: Problem(.memory, "No memory for the state database: \(error.description).")
        case .constraint:
            Problem(
                .conflict, "The state database refused a contradiction: \(error.description).",
                todo: "Report this; nothing was changed.")
        case .other: Problem(.stateIO, "The state database failed: \(error.description).")
        }
    }

    static func staleClaim(_ job: Job.ID) -> Problem {
        Problem(
            .conflict, "Job \(job) no longer belongs to this import.",
            todo: "Nothing; another import of the job goes on, and this one leaves no trace.")
    }

    static func noJob(_ job: Job.ID) -> Problem { Problem(.notFound, "There is no job \(job).") }
    static func noBatch(_ batch: Batch.ID) -> Problem { Problem(.notFound, "There is no batch \(batch).") }
}

/// SQLite's words become a ``Problem`` here, once, so that the rest of the room throws nothing else.
extension Connection {
    @discardableResult
    func change(_ sql: String, _ values: [Value] = []) throws(Problem) -> Int {
        do throws(SQLiteError) { return try run(sql, values) } catch { throw .state(error) }
    }

    func all<Result>(
        _ sql: String, _ values: [Value] = [], _ read: (borrowing Row) throws(SQLiteError) -> Result
    ) throws(Problem) -> [Result] {
        do throws(SQLiteError) { return try rows(sql, values, read) } catch { throw .state(error) }
    }

    func one<Result>(
        _ sql: String, _ values: [Value] = [], _ read: (borrowing Row) throws(SQLiteError) -> Result
    ) throws(Problem) -> Result? {
        do throws(SQLiteError) { return try first(sql, values, read) } catch { throw .state(error) }
    }

    func numbers(_ sql: String, times: Int, _ values: (Int) -> [Value]) throws(Problem) -> [Int64?] {
        do throws(SQLiteError) {
            return try firstNumbers(sql, times: times, values)
        } catch { throw .state(error) }
    }

    func number(_ sql: String, _ values: [Value] = []) throws(Problem) -> Int64? {
        try one(sql, values) { row throws(SQLiteError) in try row.optionalInteger(0) } ?? nil
    }
}
