package import PhotoModel
import SQLite

/// Looking at the queue.
extension Store {
    /// Jobs by state, from counts that are kept, so that it costs the same at any size.
    package func counts(at now: Timestamp) throws(Problem) -> QueueCounts {
        try read { (connection) throws(Problem) in
            var counts = QueueCounts()
            let tally = try connection.all("SELECT name, jobs FROM tally") { row throws(SQLiteError) in
                (name: try row.text(0), jobs: Int(try row.integer(1)))
            }
            for (name, jobs) in tally {
                switch JobState(rawValue: name) {
                case .queued: counts.queued = jobs
                case .copying, .previewing, .committing: counts.importing += jobs
                case .imported: counts.imported = jobs
                case .failed: counts.failed = jobs
                case .duplicate: counts.duplicate = jobs
                case .vanished: counts.vanished = jobs
                case .skipped: counts.skipped = jobs
                case .cancelled: counts.cancelled = jobs
                case nil: counts.retrying = jobs  // "waiting"
                }
            }
            guard counts.retrying > 0 else { return counts }
            // Those whose time has come are no longer retrying; the next claim takes their time away.
            let due = try connection.number(
                "SELECT count(*) FROM job WHERE state = 'queued' AND not_before <= ?", [.integer(now.nanoseconds)])
            counts.retrying -= Int(due ?? 0)
            let soon = try connection.number(
                "SELECT count(*) FROM job WHERE state = 'queued' AND not_before > ? AND not_before <= ?",
                [.integer(now.nanoseconds), .integer((now + .seconds(60)).nanoseconds)])
            counts.retryingSoon = Int(soon ?? 0)
            return counts
        }
    }

    package func job(_ id: Job.ID) throws(Problem) -> Job? {
        try read { (connection) throws(Problem) in try JobRow.find(id, on: connection) }
    }

    /// Jobs, newest first.
    /// - Throws: `E_BAD_REQUEST` for a limit outside 1...200 or a foreign cursor.
    package func jobs(
        _ filter: JobFilter, limit: Int, after cursor: String? = nil
    ) throws(Problem) -> Page<Job> {
        let limit = try Cursor.checkedLimit(limit)
        var conditions: [String] = []
        var values: [Value] = []
        if let cursor {
            conditions.append("id < ?")
            values.append(.integer(try Cursor.number(cursor)))
        }
        if let state = filter.state {
            conditions.append("state = ?")
            values.append(.text(state.rawValue))
        }
        if let drop = filter.drop {
            conditions.append("drop_name = ?")
            values.append(.text(drop))
        }
        if let batch = filter.batch {
            conditions.append("batch_id = ?")
            values.append(.integer(batch))
        }
        let condition = conditions.isEmpty ? "" : "WHERE " + conditions.joined(separator: " AND ")
        return try read { (connection) throws(Problem) in
            let found = try connection.all(
                "SELECT \(JobRow.columns) FROM job \(condition) ORDER BY id DESC LIMIT ?",
                values + [.integer(Int64(limit + 1))], JobRow.read)
            var page = Page(found, limit: limit) { Cursor.make([String($0.id)]) }
            for position in page.items.indices {
                page.items[position] = try JobRow.withFiles(page.items[position], on: connection)
            }
            return page
        }
    }

    /// The first moment after `now` at which a retry comes due; nil when none waits.
    package func nextDue(after now: Timestamp) throws(Problem) -> Timestamp? {
        try read { (connection) throws(Problem) in
            try connection.number(
                "SELECT min(not_before) FROM job WHERE state = 'queued' AND not_before > ?",
                [.integer(now.nanoseconds)])
        }.map(Timestamp.init(nanoseconds:))
    }
}
