package import PhotoModel
import SQLite

/// What the process before this one left behind.
extension Store {
    /// A job that was in flight when its process ended.
    package struct Interrupted: Sendable {
        package let job: Job
        package let importID: String
        /// What its commit was about to do; nil when it had not come that far, and nothing can be in the library.
        package let intent: CommitIntent?
        package let journal: Int64?
        /// Why the intent cannot be read, although there is one: nobody can know what its import had done.
        package let fault: Problem?
    }

    /// The jobs that no import of this process holds, as long as it has claimed none: to be called before the first
    /// claim. Each keeps its import id, and with it the right to ``commit(_:job:importID:journal:disposition:at:)``.
    package func interrupted() throws(Problem) -> [Interrupted] {
        try read { (connection) throws(Problem) in
            let found = try connection.all(
                """
                SELECT id, import_id, intent, journal_id FROM job INDEXED BY job_in_flight
                WHERE state IN ('copying', 'previewing', 'committing') ORDER BY id
                """
            ) { row throws(SQLiteError) in
                (
                    id: try row.integer(0), importID: try row.text(1), intent: try row.optionalText(2),
                    journal: try row.optionalInteger(3)
                )
            }
            var interrupted: [Interrupted] = []
            for entry in found {
                guard let job = try JobRow.find(entry.id, on: connection) else { continue }  // same snapshot: cannot be
                var intent: CommitIntent?
                var fault: Problem?
                do throws(Problem) { intent = try entry.intent.map(IntentText.decode) } catch { fault = error }
                interrupted.append(
                    Interrupted(
                        job: job, importID: entry.importID, intent: intent, journal: entry.journal, fault: fault))
            }
            return interrupted
        }
    }

    /// Crashes at which a job is given up, when it ran alone at the last of them.
    package static let poisonousCrashes: Int64 = 3

    /// Gives a job back whose import ended with its process.
    /// - Parameter crashed: whether the daemon died of its own signal while the job was in flight. Then the crash counts
    ///   and from now on the job runs alone; at the third the job fails with `E_POISON`. Otherwise neither crash nor
    ///   attempt counts.
    /// - Returns: the state it is in now: queued or failed.
    package func giveBack(
        interrupted job: Job.ID, crashed: Bool, at now: Timestamp
    ) throws(Problem) -> JobState {
        try write { (connection) throws(Problem) in
            let changed = try connection.change(
                """
                UPDATE job SET state = 'queued', import_id = NULL, intent = NULL, journal_id = NULL,
                    attempts = max(attempts - ?, 0), crash_count = crash_count + ?
                WHERE id = ? AND state IN ('copying', 'previewing', 'committing')
                """, [crashed ? 0 : 1, crashed ? 1 : 0, .integer(job)])
            guard changed == 1 else {
                throw Problem(
                    .conflict, "Job \(job) is not in flight, so there is nothing to give back.", todo: "Report this.")
            }
            try Journal.closeOpen(job: job, outcome: "rolled_back", on: connection)
            let crashes = try connection.number("SELECT crash_count FROM job WHERE id = ?", [.integer(job)]) ?? 0
            guard crashed, crashes >= Self.poisonousCrashes else { return .queued }
            let problem = Problem(.poison, "The service ended \(crashes) times while it worked on this file.")
            try connection.change(
                """
                UPDATE job SET state = 'failed', finished_at = ?, problem_code = ?, problem_title = ?,
                    problem_recovery = ? WHERE id = ?
                """, [.integer(now.nanoseconds)] + JobRow.values(problem) + [.integer(job)])
            try Journal.append(
                Journal.Line(
                    at: now, job: job, importID: nil, what: "finish", path: nil, sha256: nil,
                    detail: problem.code.rawValue, outcome: JobState.failed.rawValue), on: connection)
            return .failed
        }
    }
}
