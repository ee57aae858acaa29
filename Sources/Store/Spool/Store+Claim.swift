package import PhotoModel
import SQLite
import Synchronization

extension Store {
    /// Takes the next job for an import, attempt counted and durable before any work.
    ///
    /// Drops take turns; within a drop the oldest batch first, within a batch the natural order of the names. A job that
    /// was in flight when the daemon crashed is a suspect: it waits until nothing else is ready and nothing is in flight,
    /// and nothing else is claimed while it runs. So ask again whenever an import has ended, not only when jobs come.
    /// - Parameter now: retries due until then take part; a fixed time gives first attempts only.
    /// - Returns: nil when nothing can be claimed now.
    package func claim(
        importID: String, blockedDrops: Set<String>, at now: Timestamp
    ) throws(Problem) -> Claim? {
        try write { (connection) throws(Problem) in
            try connection.change(Self.comeDue, [.integer(now.nanoseconds)])
            guard let id = try nextJob(blockedDrops, on: connection) else { return nil }
            try connection.change(
                """
                UPDATE job SET state = 'copying', attempts = attempts + 1, import_id = ?, problem_code = NULL,
                    problem_title = NULL, problem_recovery = NULL, finished_at = NULL WHERE id = ?
                """, [.text(importID), .integer(id)])
            guard let job = try JobRow.find(id, on: connection) else { throw .noJob(id) }
            lastServed.withLock { $0 = job.drop }
            return Claim(job: job, importID: importID)
        }
    }

    private func nextJob(_ blocked: Set<String>, on connection: borrowing Connection) throws(Problem) -> Job.ID? {
        let suspects = try connection.number(
            """
            SELECT count(*) FROM job INDEXED BY job_in_flight
            WHERE state IN ('copying', 'previewing', 'committing') AND crash_count > 0
            """)
        guard suspects == 0 else { return nil }
        if let drop = try nextDrop(blocked, on: connection) {
            return try connection.number(Self.firstOfDrop, [.text(drop)])
        }
        guard try connection.number(Self.inFlight) == 0 else { return nil }
        return try connection.all(Self.suspects) { row throws(SQLiteError) in
            (id: try row.integer(0), drop: try row.text(1))
        }.first { !blocked.contains($0.drop) }?.id
    }

    /// The next drop after the one served last that has something ready, around the circle.
    private func nextDrop(_ blocked: Set<String>, on connection: borrowing Connection) throws(Problem) -> String? {
        let last = lastServed.withLock { $0 }
        for (start, end) in [(last, nil), ("", last)] as [(String, String?)] {
            var position = start
            while let drop = try connection.one(
                Self.dropAfter, [.text(position)],
                { row throws(SQLiteError) in
                    try row.text(0)
                })
            {
                if let end, drop > end { break }
                if !blocked.contains(drop) { return drop }
                position = drop
            }
        }
        return nil
    }

    // Each of these walks one partial index, so that a queue of 200,000 costs what a queue of ten does.
    // `INDEXED BY`, because the planner, which knows nothing of the numbers, would rather take `job_state` and sort.
    package static let comeDue = """
        UPDATE job INDEXED BY job_due SET not_before = NULL WHERE state = 'queued' AND not_before <= ?
        """
    package static let dropAfter = """
        SELECT drop_name FROM job INDEXED BY job_ready
        WHERE state = 'queued' AND not_before IS NULL AND crash_count = 0 AND waits_for IS NULL AND drop_name > ?
        ORDER BY drop_name LIMIT 1
        """
    package static let firstOfDrop = """
        SELECT id FROM job INDEXED BY job_ready
        WHERE state = 'queued' AND not_before IS NULL AND crash_count = 0 AND waits_for IS NULL AND drop_name = ?
        ORDER BY batch_id, order_key LIMIT 1
        """
    package static let suspects = """
        SELECT id, drop_name FROM job INDEXED BY job_suspect
        WHERE state = 'queued' AND not_before IS NULL AND crash_count > 0 AND waits_for IS NULL
        ORDER BY batch_id, order_key
        """
    package static let inFlight = """
        SELECT count(*) FROM job INDEXED BY job_in_flight WHERE state IN ('copying', 'previewing', 'committing')
        """
    package static var knownFile: String { FileClaim.ownerOfVersion }
    package static var originalsOfSize: String { MayHold.originalsOfSize }
    package static var nextFilesystem: String { MayHold.nextFilesystem }
    package static var sameOnFilesystem: String { MayHold.sameOnFilesystem }
    package static var shotFiles: String { ShotPlace.files }
    package static var companionFiles: String { ShotPlace.companions }
}
