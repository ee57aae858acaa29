package import PhotoModel
import SQLite

/// What people order.
extension Store {
    package enum CancelOutcome: Sendable {
        case cancelled
        /// An import holds the job: the caller cancels that, and it finishes the job as cancelled.
        case inFlight
    }

    /// Queues a failed or cancelled job again, as if it had never been tried.
    ///
    /// A job that crashed the daemon before still runs alone, and two further crashes end it again.
    /// - Throws: `E_NOT_FOUND`; `E_CONFLICT` for a job in another state, and for an orphan, which waits for its photo.
    package func retry(_ job: Job.ID, at now: Timestamp) throws(Problem) {
        try write { (connection) throws(Problem) in
            let changed = try connection.change(
                "UPDATE job SET \(Self.again) WHERE id = ? AND \(Self.canRetry)", [.integer(job)])
            guard changed == 0 else { return }
            guard let present = try JobRow.find(job, on: connection) else { throw .noJob(job) }
            throw Problem(
                .conflict, "Job \(job) is \(present.state.rawValue) and cannot be tried again.",
                todo: present.problem?.code == .orphan
                    ? present.problem?.whatToDo : "Retry only jobs that failed or were cancelled.")
        }
    }

    /// Queues all failed jobs again.
    /// - Returns: how many.
    package func retryAllFailed(at now: Timestamp) throws(Problem) -> Int {
        try write { (connection) throws(Problem) in
            try connection.change("UPDATE job SET \(Self.again) WHERE state = 'failed' AND \(Self.canRetry)")
        }
    }

    /// Queues again what failed with one of these codes.
    /// - Returns: the jobs.
    package func retryFailed(with codes: [Problem.Code], at now: Timestamp) throws(Problem) -> [Job.ID] {
        let places = codes.map { _ in "?" }.joined(separator: ", ")
        return try write { (connection) throws(Problem) in
            let jobs = try connection.all(
                "SELECT id FROM job INDEXED BY job_state WHERE state = 'failed' AND problem_code IN (\(places)) ORDER BY id",
                codes.map { .text($0.rawValue) }
            ) { row throws(SQLiteError) in try row.integer(0) }
            for job in jobs {
                try connection.change("UPDATE job SET \(Self.again) WHERE id = ?", [.integer(job)])
            }
            return jobs
        }
    }

    static let again = """
        state = 'queued', attempts = 0, crash_count = min(crash_count, 1), not_before = NULL, finished_at = NULL, \
        problem_code = NULL, problem_title = NULL, problem_recovery = NULL, asset_id = NULL
        """
    private static let canRetry = "state IN ('failed', 'cancelled') AND problem_code IS NOT 'E_ORPHAN'"

    /// - Throws: `E_NOT_FOUND`; `E_CONFLICT` for a job that has ended otherwise. Cancelling twice is no error.
    package func cancel(_ job: Job.ID, at now: Timestamp) throws(Problem) -> CancelOutcome {
        try write { (connection) throws(Problem) in
            let cancelled = try connection.change(
                "UPDATE job SET \(Self.cancelled) WHERE id = ? AND state = 'queued'",
                [.integer(now.nanoseconds), .integer(job)])
            if cancelled == 1 { return .cancelled }
            guard let present = try JobRow.find(job, on: connection) else { throw .noJob(job) }
            if present.state.isInFlight { return .inFlight }
            if present.state == .cancelled { return .cancelled }
            throw Problem(
                .conflict, "Job \(job) is \(present.state.rawValue) already and cannot be cancelled.",
                todo: "Nothing; cancel only what is still queued or being imported.")
        }
    }

    /// Cancels what is queued of a batch.
    /// - Returns: the jobs that imports hold; the caller cancels those.
    /// - Throws: `E_NOT_FOUND`.
    package func cancelBatch(_ batch: Batch.ID, at now: Timestamp) throws(Problem) -> [Job.ID] {
        try write { (connection) throws(Problem) in
            guard try connection.number("SELECT 1 FROM batch WHERE id = ?", [.integer(batch)]) != nil
            else { throw .noBatch(batch) }
            try connection.change(
                "UPDATE job SET \(Self.cancelled) WHERE batch_id = ? AND state = 'queued'",
                [.integer(now.nanoseconds), .integer(batch)])
            return try connection.all(
                """
                SELECT id FROM job INDEXED BY job_in_flight
                WHERE batch_id = ? AND state IN ('copying', 'previewing', 'committing') ORDER BY id
                """, [.integer(batch)]
            ) { row throws(SQLiteError) in try row.integer(0) }
        }
    }

    private static let cancelled = "state = 'cancelled', finished_at = ?, not_before = NULL"
}
