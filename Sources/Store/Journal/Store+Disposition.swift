package import PhotoModel
import SQLite

/// What becomes of sources after their import. It never changes the import's own outcome.
extension Store {
    /// The next jobs whose source still waits to be moved or deleted, oldest first.
    /// - Parameters:
    ///   - job: the last one of the portion before.
    ///   - asset: only those of this asset.
    ///   - onMirror: only those whose originals are all on the mirror.
    package func pendingDispositions(
        after job: Job.ID = 0, of asset: Asset.ID? = nil, onMirror: Bool = false, limit: Int = 200
    ) throws(Problem) -> [Job] {
        let mirrored = Self.isMirrored.replacing("?1", with: "job.asset_id")
        var condition = onMirror ? " AND (asset_id IS NULL OR (\(mirrored)))" : ""
        var values: [Value] = [.integer(job), .integer(Int64(limit))]
        if let asset {
            condition += " AND asset_id = ?3"
            values.append(.text(asset))
        }
        return try read { (connection) throws(Problem) in
            let found = try connection.all(
                """
                SELECT \(JobRow.columns) FROM job INDEXED BY \(asset == nil ? "job_to_dispose" : "job_asset")
                WHERE disposition = 'pending' AND id > ?1\(condition) ORDER BY id LIMIT ?2
                """, values, JobRow.read)
            var jobs: [Job] = []
            for job in found { jobs.append(try JobRow.withFiles(job, on: connection)) }
            return jobs
        }
    }

    /// Records how the disposition ended, or with `pending` why it has not yet, and closes the job's open journal lines
    /// with it.
    package func recordDisposition(
        job: Job.ID, state: DispositionState, problem: Problem?, at now: Timestamp
    ) throws(Problem) {
        try write { (connection) throws(Problem) in
            let changed = try connection.change(
                """
                UPDATE job SET disposition = ?, disposition_code = ?, disposition_title = ?, disposition_recovery = ?
                WHERE id = ?
                """, [.text(state.rawValue)] + JobRow.values(problem) + [.integer(job)])
            guard changed == 1 else { throw .noJob(job) }
            guard state != .pending else { return }
            try Journal.closeOpen(job: job, outcome: state.rawValue, on: connection)
        }
    }
}
