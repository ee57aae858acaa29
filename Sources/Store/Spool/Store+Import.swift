package import PhotoModel
import SQLite

/// What an import says of its job. Each call checks that the job still is this import's: `E_CONFLICT` when not.
extension Store {
    /// - Precondition: `state` is one that an import holds a job in.
    package func advance(_ claim: Claim, to state: JobState) throws(Problem) {
        precondition(state.isInFlight)
        try write { (connection) throws(Problem) in
            try Self.update(claim.job.id, of: claim.importID, "state = ?", [.text(state.rawValue)], on: connection)
        }
    }

    /// Ends the job without a commit: failed, duplicate, vanished, skipped or cancelled.
    ///
    /// A vanished file is free again: when it comes back it is new. In the other states it stays known, so that no
    /// rescan brings it up again.
    ///
    /// A duplicate brings its shot as a commit does: sidecars that were orphans before it came are queued again.
    /// - Parameter asset: for a duplicate, the asset that has the same bytes.
    /// - Returns: the jobs of those sidecars.
    /// - Precondition: `state` is terminal, and not `imported`, which only a commit can say.
    @discardableResult
    package func finish(
        _ claim: Claim, as state: JobState, problem: Problem?, asset: Asset.ID?, disposition: DispositionState,
        at now: Timestamp
    ) throws(Problem) -> [Job.ID] {
        precondition(state.isTerminal && state != .imported)
        return try write { (connection) throws(Problem) in
            try Self.end(
                claim, as: state, problem: problem, asset: asset, disposition: disposition, at: now, on: connection)
            return state == .duplicate ? try Self.queueOrphans(ofShotIn: claim.job.id, on: connection) : []
        }
    }

    static func end(
        _ claim: Claim, as state: JobState, problem: Problem?, asset: Asset.ID?, disposition: DispositionState,
        at now: Timestamp, on connection: borrowing Connection
    ) throws(Problem) {
        let job = claim.job.id
        try update(
            job, of: claim.importID,
            """
            state = ?, problem_code = ?, problem_title = ?, problem_recovery = ?, asset_id = ?, disposition = ?,
                finished_at = ?, import_id = NULL, intent = NULL, journal_id = NULL
            """,
            [.text(state.rawValue)] + JobRow.values(problem) + [
                .text(asset), .text(disposition.rawValue), .integer(now.nanoseconds),
            ], on: connection)
        if state == .vanished { try FileClaim.release(job, on: connection) }
        if state == .duplicate {
            try connection.change("UPDATE job SET crash_count = 0 WHERE id = ?", [.integer(job)])
        }
        try Journal.closeOpen(job: job, outcome: "rolled_back", on: connection)
        try Journal.append(
            Journal.Line(
                at: now, job: job, importID: claim.importID, what: "finish", path: claim.job.files.first?.path,
                sha256: nil, detail: problem?.code.rawValue, outcome: state.rawValue), on: connection)
    }

    /// Queued again, not to start before `notBefore`. The attempt counts.
    package func retryLater(_ claim: Claim, problem: Problem, notBefore: Timestamp) throws(Problem) {
        try write { (connection) throws(Problem) in
            try Self.update(
                claim.job.id, of: claim.importID,
                """
                state = 'queued', not_before = ?, problem_code = ?, problem_title = ?, problem_recovery = ?,
                    import_id = NULL, intent = NULL, journal_id = NULL
                """, [.integer(notBefore.nanoseconds)] + JobRow.values(problem), on: connection)
            try Journal.closeOpen(job: claim.job.id, outcome: "rolled_back", on: connection)
        }
    }

    /// Queued again as if never claimed: an outage, or a stop.
    package func giveBack(_ claim: Claim) throws(Problem) {
        try write { (connection) throws(Problem) in try Self.giveBack(claim, on: connection) }
    }

    static func giveBack(_ claim: Claim, on connection: borrowing Connection) throws(Problem) {
        try update(
            claim.job.id, of: claim.importID,
            "state = 'queued', attempts = max(attempts - 1, 0), import_id = NULL, intent = NULL, journal_id = NULL",
            [], on: connection)
        try Journal.closeOpen(job: claim.job.id, outcome: "rolled_back", on: connection)
    }

    /// The source changed under the import: the job goes, its files are unknown again, and the watcher finds them anew.
    package func returnToCandidate(_ claim: Claim) throws(Problem) {
        try write { (connection) throws(Problem) in
            try Self.update(claim.job.id, of: claim.importID, "import_id = NULL", [], on: connection)
            try Journal.closeOpen(job: claim.job.id, outcome: "rolled_back", on: connection)
            try connection.change("DELETE FROM job WHERE id = ?", [.integer(claim.job.id)])
        }
    }

    /// Changes a job that is in flight under `importID`.
    /// - Throws: `E_CONFLICT` when it is not, whatever the reason.
    static func update(
        _ job: Job.ID, of importID: String, _ assignments: String, _ values: [Value],
        on connection: borrowing Connection
    ) throws(Problem) {
        let changed = try connection.change(
            """
            UPDATE job SET \(assignments)
            WHERE id = ? AND import_id = ? AND state IN ('copying', 'previewing', 'committing')
            """, values + [.integer(job), .text(importID)])
        guard changed == 1 else { throw .staleClaim(job) }
    }
}
