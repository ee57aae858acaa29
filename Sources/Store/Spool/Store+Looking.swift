package import PhotoModel
package import SQLite

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
            // Whoever waits for a shot whose own time has not come, waits as long.
            let late = try connection.all(Self.waitingForRetries, [.integer(now.nanoseconds)]) {
                row throws(SQLiteError) in
                try row.integer(0)
            }
            // Those whose time has come are no longer retrying; the next claim takes their time away.
            let due = try connection.number(
                "SELECT count(*) FROM job INDEXED BY job_due WHERE state = 'queued' AND not_before <= ?",
                [.integer(now.nanoseconds)])
            counts.retrying -= Int(due ?? 0)
            let soon = try connection.number(
                "SELECT count(*) FROM job INDEXED BY job_due WHERE state = 'queued' AND not_before > ? AND not_before <= ?",
                [.integer(now.nanoseconds), .integer((now + .seconds(60)).nanoseconds)])
            counts.retryingSoon = Int(soon ?? 0) + late.count { $0 <= (now + .seconds(60)).nanoseconds }
            counts.retrying += late.count
            return counts
        }
    }

    private static let waitingForRetries = """
        SELECT shot.not_before FROM job AS late INDEXED BY job_waiting CROSS JOIN job AS shot ON shot.id = late.waits_for
        WHERE late.waits_for IS NOT NULL AND late.state = 'queued' AND shot.state = 'queued' AND shot.not_before > ?
        """

    package func job(_ id: Job.ID) throws(Problem) -> Job? {
        try read { (connection) throws(Problem) in try JobRow.find(id, on: connection) }
    }

    /// The job that answers for a file in this version; nil when it would be queued.
    package func job(answeringFor file: SettledFile, of drop: String) throws(Problem) -> Job? {
        try read { (connection) throws(Problem) in
            let owner = try FileClaim.owner(
                drop, file.filesystem, file.path, size: file.stamp.size, mtime: file.stamp.mtime, on: connection)
            guard let owner else { return nil }
            return try JobRow.find(owner, on: connection)
        }
    }

    /// Jobs, newest first.
    /// - Throws: `E_BAD_REQUEST` for a limit outside 1...200 or a foreign cursor.
    package func jobs(
        _ filter: JobFilter, limit: Int, after cursor: String? = nil
    ) throws(Problem) -> Page<Job> {
        let limit = try Cursor.checkedLimit(limit)
        let before = if let cursor { try Cursor.number(cursor) } else { nil as Int64? }
        let (sql, values) = Self.jobPage(filter, before: before)
        return try read { (connection) throws(Problem) in
            let found = try connection.all(sql, values + [.integer(Int64(limit + 1))], JobRow.read)
            var page = Page(found, limit: limit) { Cursor.make([String($0.id)]) }
            for position in page.items.indices {
                page.items[position] = try JobRow.withFiles(page.items[position], on: connection)
            }
            return page
        }
    }

    /// The question for a page, its limit left to be bound last. Keyset paging: a page costs the same wherever it lies.
    package static func jobPage(_ filter: JobFilter, before: Job.ID?) -> (sql: String, values: [Value]) {
        let wanted: [(String, Value?)] = [
            ("id < ?", before.map { .integer($0) }), ("state = ?", filter.state.map { .text($0.rawValue) }),
            ("drop_name = ?", filter.drop.map { .text($0) }), ("batch_id = ?", filter.batch.map { .integer($0) }),
        ]
        let conditions = wanted.compactMap { $0.1 == nil ? nil : $0.0 }
        let condition = conditions.isEmpty ? "" : "WHERE " + conditions.joined(separator: " AND ")
        return (
            "SELECT \(JobRow.columns) FROM job \(condition) ORDER BY id DESC LIMIT ?", wanted.compactMap { $0.1 }
        )
    }

    /// The first moment after `now` at which a retry comes due; nil when none waits.
    package func nextDue(after now: Timestamp) throws(Problem) -> Timestamp? {
        try read { (connection) throws(Problem) in
            try connection.number(
                "SELECT min(not_before) FROM job INDEXED BY job_due WHERE state = 'queued' AND not_before > ?",
                [.integer(now.nanoseconds)])
        }.map(Timestamp.init(nanoseconds:))
    }
}
