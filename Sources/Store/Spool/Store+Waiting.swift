package import PhotoModel
import SQLite

/// Jobs that wait for something that is not their fault.
extension Store {
    /// Queued again, not to be claimed before a time; the attempt does not count. Others go first meanwhile.
    package func postpone(_ claim: Claim, problem: Problem, notBefore: Timestamp) throws(Problem) {
        try write { (connection) throws(Problem) in
            try Self.update(
                claim.job.id, of: claim.importID,
                """
                state = 'queued', attempts = max(attempts - 1, 0), not_before = ?,
                    problem_code = ?, problem_title = ?, problem_recovery = ?,
                    import_id = NULL, intent = NULL, journal_id = NULL
                """, [.integer(notBefore.nanoseconds)] + JobRow.values(problem), on: connection)
            try Journal.closeOpen(job: claim.job.id, outcome: "rolled_back", on: connection)
        }
    }

    /// Lets the jobs of a drop that wait because of `code` be claimed at once.
    package func hasten(drop: String, waitingFor code: Problem.Code) throws(Problem) {
        try write { (connection) throws(Problem) in
            _ = try connection.change(
                """
                UPDATE job SET not_before = NULL
                WHERE drop_name = ? AND state = 'queued' AND not_before IS NOT NULL AND problem_code = ?
                """, [.text(drop), .text(code.rawValue)])
        }
    }

    /// How many jobs failed at or after a time.
    package func failures(since time: Timestamp) throws(Problem) -> Int {
        try read { (connection) throws(Problem) in
            Int(
                try connection.number(
                    "SELECT count(*) FROM job WHERE state = 'failed' AND finished_at >= ?",
                    [.integer(time.nanoseconds)]) ?? 0)
        }
    }
}
