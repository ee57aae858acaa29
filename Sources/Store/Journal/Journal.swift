package import PhotoModel
import SQLite

/// The append-only record of what was done to files. A line is written before the act, without an outcome; the outcome
/// is added once and then nothing of the line changes any more (triggers see to it). Ids are never used twice.
package enum Journal {
    package struct Line: Hashable, Sendable {
        package let at: Timestamp
        package let job: Job.ID?
        package let importID: String?
        /// `import`, `finish`, or what a disposition is called.
        package let what: String
        package let path: Path?
        package let sha256: SHA256Digest?
        package let detail: String?
        /// nil while the act is under way.
        package let outcome: String?
    }

    @discardableResult
    static func append(_ line: Line, on connection: borrowing Connection) throws(Problem) -> Int64 {
        try connection.change(
            """
            INSERT INTO journal (at, job_id, import_id, what, path, sha256, detail, outcome)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?)
            """,
            [
                .integer(line.at.nanoseconds), .integer(line.job), .text(line.importID), .text(line.what),
                .blob(line.path?.bytes), .blob(line.sha256?.bytes), .text(line.detail), .text(line.outcome),
            ])
        return connection.lastInsertedRow
    }

    static func close(_ id: Int64, outcome: String, on connection: borrowing Connection) throws(Problem) {
        try connection.change(
            "UPDATE journal SET outcome = ? WHERE id = ? AND outcome IS NULL", [.text(outcome), .integer(id)])
    }

    static func closeOpen(
        job: Job.ID, outcome: String, on connection: borrowing Connection
    ) throws(Problem) {
        try connection.change(
            "UPDATE journal SET outcome = ? WHERE job_id = ? AND outcome IS NULL", [.text(outcome), .integer(job)])
    }
}

extension Store {
    /// Writes the line for something about to be done to a file, durable when this returns.
    /// - Returns: its id, which names the line in the library's journal too.
    package func reserveJournal(
        what: String, job: Job.ID?, path: Path, sha256: SHA256Digest?, detail: String?, at now: Timestamp
    ) throws(Problem) -> Int64 {
        try write { (connection) throws(Problem) in
            try Journal.append(
                Journal.Line(
                    at: now, job: job, importID: nil, what: what, path: path, sha256: sha256, detail: detail,
                    outcome: nil), on: connection)
        }
    }

    /// The highest id ever reserved, 0 for none. A library journal that knows a higher one has seen a later state:
    /// `E_STATE_STALE`.
    package func highestJournalID() throws(Problem) -> Int64 {
        try read { (connection) throws(Problem) in
            try connection.number("SELECT seq FROM sqlite_sequence WHERE name = 'journal'") ?? 0
        }
    }

    /// What was done for one job, oldest first.
    package func journal(of job: Job.ID) throws(Problem) -> [Journal.Line] {
        try read { (connection) throws(Problem) in
            try connection.all(
                """
                SELECT at, job_id, import_id, what, path, sha256, detail, outcome FROM journal
                WHERE job_id = ? ORDER BY id
                """, [.integer(job)]
            ) { row throws(SQLiteError) in
                let digest = try row.optionalBlob(5)
                guard digest == nil || digest?.count == 32 else { throw row.unexpected(5) }
                return Journal.Line(
                    at: Timestamp(nanoseconds: try row.integer(0)), job: try row.optionalInteger(1),
                    importID: try row.optionalText(2), what: try row.text(3),
                    path: try row.optionalBlob(4).map { Path(bytes: $0) }, sha256: digest.map(SHA256Digest.init),
                    detail: try row.optionalText(6), outcome: try row.optionalText(7))
            }
        }
    }
}
