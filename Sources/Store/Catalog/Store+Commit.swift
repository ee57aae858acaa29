package import PhotoModel
import SQLite

extension Store {
    /// Makes durable what the commit is about to do, before the first rename, and puts the job in `committing`.
    ///
    /// Called again (a name was taken in between) it replaces the intent; the journal line before is closed as
    /// `superseded`.
    /// - Returns: the id of the journal line reserved for it, for the library's journal and for
    ///   ``commit(_:job:importID:journal:disposition:at:)``.
    package func recordIntent(
        _ intent: CommitIntent, for claim: Claim, at now: Timestamp
    ) throws(Problem) -> Int64 {
        let text = try IntentText.encode(intent)
        let job = claim.job.id
        return try write { (connection) throws(Problem) in
            try Journal.closeOpen(job: job, outcome: "superseded", on: connection)
            let journal = try Journal.append(
                Journal.Line(
                    at: now, job: job, importID: claim.importID, what: "import", path: intent.moves.last?.final,
                    sha256: intent.moves.last?.sha256, detail: intent.asset.id, outcome: nil), on: connection)
            try Self.update(
                job, of: claim.importID, "state = 'committing', intent = ?, journal_id = ?",
                [.text(text), .integer(journal)], on: connection)
            return journal
        }
    }

    /// Says imported: asset, resources, job and journal line in one transaction. Used by recovery too.
    ///
    /// Success clears the crash count. Sidecars that had been reported as orphans before their shot came are queued again. An intent that joins adds its resources to the asset that is there, whose kind
    /// then follows from all of them.
    /// - Parameter disposition: `pending` when the source is to be moved or deleted, else `keep`.
    /// - Returns: the jobs of those sidecars.
    /// - Throws: `E_CONFLICT` when the job is not this import's, when `journal` is not the line of its latest intent, or
    ///   when the catalog already has a resource at one of the paths or not the asset that is joined.
    @discardableResult
    package func commit(
        _ intent: CommitIntent, job: Job.ID, importID: String, journal: Int64, disposition: DispositionState,
        at now: Timestamp
    ) throws(Problem) -> [Job.ID] {
        try write { (connection) throws(Problem) in
            let reserved = try connection.number(
                "SELECT journal_id FROM job WHERE id = ? AND import_id = ?", [.integer(job), .text(importID)])
            guard reserved == journal else { throw .staleClaim(job) }
            try AssetRow.check(intent, on: connection)
            if intent.joinsExisting {
                try AssetRow.join(intent, on: connection)
            } else {
                try AssetRow.insert(intent.asset, on: connection)
                try AssetRow.add(intent.asset.resources, to: intent.asset.id, on: connection)
            }
            try Self.update(
                job, of: importID,
                """
                state = 'imported', asset_id = ?, disposition = ?, finished_at = ?, crash_count = 0,
                    problem_code = NULL, problem_title = NULL, problem_recovery = NULL,
                    import_id = NULL, intent = NULL, journal_id = NULL
                """, [.text(intent.asset.id), .text(disposition.rawValue), .integer(now.nanoseconds)], on: connection)
            try Journal.close(journal, outcome: "imported", on: connection)
            return try Self.queueOrphans(ofShotIn: job, on: connection)
        }
    }
}
