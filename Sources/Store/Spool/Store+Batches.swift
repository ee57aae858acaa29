package import PhotoModel
import SQLite

extension Store {
    /// A new batch for one `import` call, which ends like any other once it is quiet.
    package func openManualBatch(at now: Timestamp) throws(Problem) -> Batch.ID {
        try write { (connection) throws(Problem) in
            try BatchDesk.make("", isManual: true, at: now, on: connection)
        }
    }

    /// Ends the batches that have had no new job for ten seconds, and gives their jobs their final numbers.
    package func closeQuietBatches(at now: Timestamp) throws(Problem) {
        // Asked on the reader first: this is called often, and the writer is for those who have something to write.
        let due = try read { (connection) throws(Problem) in
            try Self.quietBatches(at: now, on: connection)
        }
        guard !due.isEmpty else { return }
        try write { (connection) throws(Problem) in
            for (batch, lastJobAt) in try Self.quietBatches(at: now, on: connection) {
                try BatchDesk.close(batch, at: lastJobAt + BatchDesk.quiet, on: connection)
            }
        }
    }

    private static func quietBatches(
        at now: Timestamp, on connection: borrowing Connection
    ) throws(Problem) -> [(id: Batch.ID, lastJobAt: Int64)] {
        try connection.all(
            "SELECT id, last_job_at FROM batch WHERE closed_at IS NULL AND last_job_at <= ?",
            [.integer(now.nanoseconds - BatchDesk.quiet)]
        ) { row throws(SQLiteError) in (id: try row.integer(0), lastJobAt: try row.integer(1)) }
    }

    package func batch(_ id: Batch.ID) throws(Problem) -> Batch? {
        try read { (connection) throws(Problem) in try Self.batch(id, on: connection) }
    }

    /// Batches, newest first, without those that no job is left of.
    /// - Throws: `E_BAD_REQUEST` for a limit outside 1...200 or a foreign cursor.
    package func batches(limit: Int, after cursor: String? = nil) throws(Problem) -> Page<Batch> {
        let limit = try Cursor.checkedLimit(limit)
        let before = try cursor.map { (text) throws(Problem) in try Cursor.number(text) } ?? Int64.max
        return try read { (connection) throws(Problem) in
            let found = try connection.all(
                "SELECT \(Self.batchColumns) FROM batch WHERE id < ? AND total > 0 ORDER BY id DESC LIMIT ?",
                [.integer(before), .integer(Int64(limit + 1))], Self.readBatch)
            return Page(found, limit: limit) { Cursor.make([String($0.id)]) }
        }
    }

    /// The batch to show as "23 of 80": the oldest one being imported, else the one whose turn is next, else the newest
    /// one that is still open; nil when everything is done.
    package func currentBatch(at now: Timestamp) throws(Problem) -> Batch? {
        try read { (connection) throws(Problem) in
            let candidates: [(String, [Value])] = [
                (
                    """
                    SELECT min(batch_id) FROM job INDEXED BY job_in_flight
                    WHERE state IN ('copying', 'previewing', 'committing')
                    """, []
                ),
                ("SELECT batch_id FROM job WHERE state = 'queued' ORDER BY id LIMIT 1", []),
                (
                    "SELECT max(id) FROM batch WHERE closed_at IS NULL AND total > 0 AND last_job_at > ?",
                    [.integer(now.nanoseconds - BatchDesk.quiet)]
                ),
            ]
            for (sql, values) in candidates {
                if let id = try connection.number(sql, values) { return try Self.batch(id, on: connection) }
            }
            return nil
        }
    }

    private static let batchColumns = "id, drop_name, created_at, closed_at, total, done, failed"

    private static func batch(_ id: Batch.ID, on connection: borrowing Connection) throws(Problem) -> Batch? {
        try connection.one("SELECT \(batchColumns) FROM batch WHERE id = ?", [.integer(id)], readBatch)
    }

    private static func readBatch(_ row: borrowing Row) throws(SQLiteError) -> Batch {
        Batch(
            id: try row.integer(0), drop: try row.text(1), createdAt: Timestamp(nanoseconds: try row.integer(2)),
            closedAt: try row.optionalInteger(3).map(Timestamp.init(nanoseconds:)), total: Int(try row.integer(4)),
            done: Int(try row.integer(5)), failed: Int(try row.integer(6)))
    }
}
