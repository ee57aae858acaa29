package import PhotoModel
import SQLite

/// Members that come after their shot.
extension Store {
    /// Whether a photo or video of this stem was handed over from this folder on this filesystem before: then a sidecar
    /// that comes alone is late, and no orphan. A job that only held a verdict does not count, nor does one whose source
    /// vanished.
    package func knowsShot(
        drop: String, filesystem: FilesystemID, folder: Path, stem: Path
    ) throws(Problem) -> Bool {
        try knowsShot(ShotPlace(drop: drop, filesystem: filesystem, folder: folder, stem: stem))
    }

    package func knowsShot(_ place: ShotPlace) throws(Problem) -> Bool {
        try atTheDoor { (connection) throws(Problem) in
            try place.shots(on: connection).contains { !FileClaim.isOnlyVerdict($0.state, $0.code) }
        }
    }

    /// The job that `job` has to wait for, since it is for photos or videos of the same shot and has not ended: the oldest
    /// handed over before it, or one after it of `running`. When that one waits itself, the one that it waits for. What
    /// came of parting was handed over with the parted job, so a member that came later waits for all of it.
    ///
    /// - Parameter running: jobs that have begun their imports. A younger one has when the older one had ended, and is
    ///   tried again by now.
    /// - Returns: nil when there is none, or when that one waits for `job`: so two never wait for each other.
    package func unfinishedShot(before job: Job, running: Set<Job.ID> = []) throws(Problem) -> Job.ID? {
        guard let place = ShotPlace(job) else { return nil }
        return try atTheDoor { (connection) throws(Problem) in
            for shot in try place.shots(on: connection) where !shot.state.isTerminal && shot.job != job.id {
                guard shot.isBefore(job.createdAt, job.id) || running.contains(shot.job) else { continue }
                let root = try Self.root(of: shot.job, on: connection)
                if root != job.id { return root }
            }
            return nil
        }
    }

    /// The job at the end of those that wait for one another, from `job` on.
    private static func root(of job: Job.ID, on connection: borrowing Connection) throws(Problem) -> Job.ID {
        var seen: Set<Job.ID> = []
        var job = job
        while seen.insert(job).inserted,
            let next = try connection.number("SELECT waits_for FROM job WHERE id = ?", [.integer(job)])
        {
            job = next
        }
        return job
    }

    /// The assets that photos and videos of this shot belong to.
    package func assets(ofShot place: ShotPlace) throws(Problem) -> [Asset] {
        try read { (connection) throws(Problem) in try Self.assets(of: place.shots(on: connection), on: connection) }
    }

    /// The photos and videos of this shot by their paths, and the assets that each has become: none while it has not been
    /// imported, two when it came in two versions. A job that only held a verdict does not count.
    package func files(ofShot place: ShotPlace) throws(Problem) -> [Path: [Asset]] {
        try read { (connection) throws(Problem) in
            let shots = try place.shots(on: connection).filter { !FileClaim.isOnlyVerdict($0.state, $0.code) }
            let assets = try Self.assets(of: shots, on: connection)
            return Dictionary(grouping: shots, by: \.path).mapValues { versions in
                assets.filter { asset in versions.contains { $0.asset == asset.id } }
            }
        }
    }

    private static func assets(
        of shots: [ShotPlace.Known], on connection: borrowing Connection
    ) throws(Problem) -> [Asset] {
        var assets: [Asset] = []
        for id in Set(shots.compactMap(\.asset)).sorted() {
            if let asset = try AssetRow.find(id, on: connection) { assets.append(asset) }
        }
        return assets
    }

    /// Queued again, not to be claimed before `shot` has ended or is gone; the attempt does not count. When it has ended
    /// already, or waits for this very job, that is at once.
    ///
    /// Nobody waits for a job that waits: whoever waits for this one waits for `shot` from now on, and so everybody knows
    /// how long.
    package func wait(_ claim: Claim, for shot: Job.ID) throws(Problem) {
        try write { (connection) throws(Problem) in
            let root = try Self.root(of: shot, on: connection)
            let other = root == claim.job.id ? nil : root
            try Self.update(
                claim.job.id, of: claim.importID,
                """
                state = 'queued', attempts = max(attempts - 1, 0), import_id = NULL, intent = NULL, journal_id = NULL,
                    waits_for = (SELECT id FROM job AS shot WHERE shot.id = ?
                        AND shot.state IN ('queued', 'copying', 'previewing', 'committing'))
                """, [.integer(other)], on: connection)
            try connection.change(
                """
                UPDATE job SET waits_for = (SELECT waits_for FROM job AS late WHERE late.id = ?1) WHERE waits_for = ?1
                    AND EXISTS (SELECT 1 FROM job AS late WHERE late.id = ?1 AND late.waits_for IS NOT NULL)
                """, [.integer(claim.job.id)])
            try Journal.closeOpen(job: claim.job.id, outcome: "rolled_back", on: connection)
        }
    }

    /// Ends a sidecar's job as `E_ORPHAN`, or queues it again when its shot has an asset by now that was not there when
    /// that was decided: whoever committed it saw no orphan yet.
    /// - Parameter seen: the assets of the shot that were there, and none of which it belongs to.
    /// - Returns: the state it is in now: failed or queued.
    package func finish(
        orphan claim: Claim, problem: Problem, seen: Set<Asset.ID>, at now: Timestamp
    ) throws(Problem) -> JobState {
        try write { (connection) throws(Problem) in
            let assets = try ShotPlace(claim.job)?.shots(on: connection).compactMap(\.asset) ?? []
            if assets.allSatisfy(seen.contains) {
                try Self.end(
                    claim, as: .failed, problem: problem, asset: nil, disposition: .keep, at: now, on: connection)
                return .failed
            }
            try Self.giveBack(claim, on: connection)
            return .queued
        }
    }

    /// Queues the sidecars of a shot again that ended as orphans before it came; in the transaction by which it is there.
    /// - Returns: their jobs.
    static func queueOrphans(
        ofShotIn job: Job.ID, on connection: borrowing Connection
    ) throws(Problem) -> [Job.ID] {
        guard let job = try JobRow.find(job, on: connection), let place = ShotPlace(job),
            job.files.contains(where: { [.photo, .alternatePhoto, .video, .pairedVideo].contains($0.role) })
        else { return [] }
        let orphans = try place.companions(on: connection).filter { $0.state == .failed && $0.code == .orphan }
        var queued: [Job.ID] = []
        for orphan in Set(orphans.map(\.job)).sorted() {
            let changed = try connection.change(
                "UPDATE job SET \(again) WHERE id = ? AND state = 'failed' AND problem_code = 'E_ORPHAN'",
                [.integer(orphan)])
            if changed == 1 { queued.append(orphan) }
        }
        return queued
    }
}
