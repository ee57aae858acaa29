import PhotoModel
import SQLite

/// Gives the jobs of one enqueue their batch and their number in it.
///
/// The number follows the natural order of the names within the whole batch. A job that comes late but belongs before
/// others makes the batch be numbered again: at once as long as it is small, else when it closes, so that a card that
/// is read in random order costs no square. Imports follow `order_key`, not the number, and are in order always.
struct BatchDesk {
    struct Place {
        let batch: Batch.ID
        let sequence: Int64
    }

    /// A batch ends after this long without a new job, and at this many.
    static let quiet: Int64 = 10_000_000_000
    static let largest: Int64 = 10_000
    /// Jobs up to which a batch is numbered again at once; about 1 ms.
    private static let numberedAtOnce: Int64 = 500

    private struct Open {
        var id: Batch.ID
        var total: Int64
        var lastSequence: Int64
        var lastKey: [UInt8]?
        var isNumbered: Bool
    }

    private let fixed: Batch.ID?
    private let isManual: Bool
    private let now: Timestamp
    private var open: [String: Open] = [:]

    init(fixed: Batch.ID?, isManual: Bool, now: Timestamp) {
        self.fixed = fixed
        self.isManual = isManual
        self.now = now
    }

    mutating func place(
        for drop: String, key: [UInt8], on connection: borrowing Connection
    ) throws(Problem) -> Place {
        let desk = fixed == nil ? drop : ""
        var batch = if let known = open[desk] { known } else { try find(drop, on: connection) }
        if fixed == nil && batch.total >= Self.largest {
            try close(batch, on: connection)
            batch = try make(drop, on: connection)
        }
        if let last = batch.lastKey, key.lexicographicallyPrecedes(last) {
            batch.isNumbered = false
        } else {
            batch.lastKey = key
        }
        batch.total += 1
        batch.lastSequence += 1
        open[desk] = batch
        return Place(batch: batch.id, sequence: batch.lastSequence)
    }

    /// Writes back what the places changed.
    func finish(on connection: borrowing Connection) throws(Problem) {
        for batch in open.values {
            try note(batch, on: connection)
            if !batch.isNumbered && batch.total <= Self.numberedAtOnce {
                try Self.number(batch.id, on: connection)
            }
        }
    }

    /// Gives the jobs of a batch the numbers 1, 2, 3… in their order.
    static func number(_ batch: Batch.ID, on connection: borrowing Connection) throws(Problem) {
        try connection.change(
            """
            UPDATE job SET sequence = place.number
            FROM (SELECT id, row_number() OVER (ORDER BY order_key, id) AS number FROM job WHERE batch_id = ?1) AS place
            WHERE job.id = place.id AND job.sequence <> place.number
            """, [.integer(batch)])
        try connection.change(
            """
            UPDATE batch SET is_numbered = 1, last_sequence = (SELECT count(*) FROM job WHERE batch_id = ?1)
            WHERE id = ?1
            """, [.integer(batch)])
    }

    static func close(_ batch: Batch.ID, at time: Int64, on connection: borrowing Connection) throws(Problem) {
        let isNumbered = try connection.number("SELECT is_numbered FROM batch WHERE id = ?", [.integer(batch)])
        if isNumbered == 0 { try number(batch, on: connection) }
        try connection.change("UPDATE batch SET closed_at = ? WHERE id = ?", [.integer(time), .integer(batch)])
    }

    private func close(_ batch: Open, on connection: borrowing Connection) throws(Problem) {
        try note(batch, on: connection)
        try Self.close(batch.id, at: now.nanoseconds, on: connection)
    }

    private func note(_ batch: Open, on connection: borrowing Connection) throws(Problem) {
        try connection.change(
            """
            UPDATE batch SET last_job_at = ?, closed_at = NULL, last_sequence = ?, is_numbered = ? WHERE id = ?
            """,
            [
                .integer(now.nanoseconds), .integer(batch.lastSequence), .integer(batch.isNumbered ? 1 : 0),
                .integer(batch.id),
            ])
    }

    private func find(_ drop: String, on connection: borrowing Connection) throws(Problem) -> Open {
        if let fixed {
            guard let batch = try load("id = ?", [.integer(fixed)], on: connection) else { throw .noBatch(fixed) }
            return batch.open
        }
        if isManual { return try make(drop, on: connection) }  // each call has its own
        let found = try load(
            "drop_name = ? AND is_manual = 0 AND closed_at IS NULL ORDER BY id DESC LIMIT 1", [.text(drop)],
            on: connection)
        guard let found else { return try make(drop, on: connection) }
        if found.lastJobAt + Self.quiet <= now.nanoseconds {
            try Self.close(found.open.id, at: found.lastJobAt + Self.quiet, on: connection)
            return try make(drop, on: connection)
        }
        return found.open
    }

    private func load(
        _ condition: String, _ values: [Value], on connection: borrowing Connection
    ) throws(Problem) -> (open: Open, lastJobAt: Int64)? {
        let found = try connection.one(
            "SELECT id, total, last_sequence, is_numbered, last_job_at FROM batch WHERE \(condition)", values
        ) { row throws(SQLiteError) in
            (
                open: Open(
                    id: try row.integer(0), total: try row.integer(1), lastSequence: try row.integer(2), lastKey: nil,
                    isNumbered: try row.integer(3) == 1), lastJobAt: try row.integer(4)
            )
        }
        guard var found else { return nil }
        found.open.lastKey =
            try connection.one(
                "SELECT order_key FROM job INDEXED BY job_order WHERE batch_id = ? ORDER BY order_key DESC LIMIT 1",
                [.integer(found.open.id)]
            ) { row throws(SQLiteError) in try row.blob(0) }
        return found
    }

    private func make(_ drop: String, on connection: borrowing Connection) throws(Problem) -> Open {
        Open(
            id: try Self.make(drop, isManual: isManual, at: now, on: connection), total: 0, lastSequence: 0,
            lastKey: nil, isNumbered: true)
    }

    static func make(
        _ drop: String, isManual: Bool, at now: Timestamp, on connection: borrowing Connection
    ) throws(Problem) -> Batch.ID {
        try connection.change(
            "INSERT INTO batch (drop_name, is_manual, created_at, last_job_at) VALUES (?, ?, ?, ?)",
            [.text(drop), .integer(isManual ? 1 : 0), .integer(now.nanoseconds), .integer(now.nanoseconds)])
        return connection.lastInsertedRow
    }
}
