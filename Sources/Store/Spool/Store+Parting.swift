package import PhotoModel
import SQLite

extension Store {
    /// Gives each shot of a job that holds several a job of its own, all in one transaction: whoever dies before or after
    /// it leaves every file in exactly one job.
    ///
    /// The job keeps the files of the first group and is queued again, as if it had never been claimed. Each other group
    /// becomes a job in the same batch, handed over when the parted one was: whoever came after that one comes after all
    /// of them. One with a verdict has ended with it.
    /// - Parameter groups: of the job's files, each in one of them; the first without a verdict.
    /// - Returns: the new jobs.
    package func part(
        _ claim: Claim, into groups: [SettledGroup], at now: Timestamp
    ) throws(Problem) -> [Job.ID] {
        try write { (connection) throws(Problem) in
            try Self.giveBack(claim, on: connection)
            let job = claim.job
            var desk = BatchDesk(fixed: job.batch, isManual: job.isManual, now: now)
            var ids: [Job.ID] = []
            for group in groups.dropFirst() {
                let key = NaturalOrder.key(of: group.files[0].path)
                let place = try desk.place(for: job.drop, key: key, on: connection)
                let id = try Self.insert(
                    [], of: group, key: key, at: place, isManual: job.isManual, handedOver: job.createdAt, now: now,
                    on: connection)
                try Self.move(group.files, from: job.id, to: id, on: connection)
                if let problem = group.verdict {
                    try Journal.append(
                        Journal.Line(
                            at: now, job: id, importID: nil, what: "finish", path: group.files[0].path, sha256: nil,
                            detail: problem.code.rawValue, outcome: JobState.failed.rawValue), on: connection)
                }
                ids.append(id)
            }
            try desk.finish(on: connection)
            // Out of the way of the new positions first.
            try connection.change("UPDATE job_file SET position = position + 1000 WHERE job_id = ?", [.integer(job.id)])
            try Self.move(groups[0].files, from: job.id, to: job.id, on: connection)
            return ids
        }
    }

    private static func move(
        _ files: [SettledFile], from old: Job.ID, to new: Job.ID, on connection: borrowing Connection
    ) throws(Problem) {
        for (position, file) in files.enumerated() {
            try connection.change(
                "UPDATE job_file SET job_id = ?, position = ?, role = ? WHERE job_id = ? AND path = ?",
                [
                    .integer(new), .integer(Int64(position)), .text(file.role.rawValue), .integer(old),
                    .blob(file.path.bytes),
                ])
        }
    }
}
