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

    /// The oldest job before `job` that is for photos or videos of the same shot and has not ended. Only older ones: so
    /// two never wait for each other.
    package func unfinishedShot(before job: Job) throws(Problem) -> Job.ID? {
        guard let place = ShotPlace(job) else { return nil }
        return try atTheDoor { (connection) throws(Problem) in
            try place.shots(on: connection).first { $0.job < job.id && !$0.state.isTerminal }?.job
        }
    }

    /// The assets that photos and videos of this shot belong to.
    package func assets(ofShot place: ShotPlace) throws(Problem) -> [Asset] {
        try read { (connection) throws(Problem) in
            let ids = Set(try place.shots(on: connection).compactMap(\.asset)).sorted()
            var assets: [Asset] = []
            for id in ids {
                let found = try connection.one(
                    "SELECT \(AssetRow.columns) FROM asset WHERE id = ?", [.text(id)], AssetRow.read)
                if let found { assets.append(try AssetRow.withResources(found, on: connection)) }
            }
            return assets
        }
    }

    /// Queued again, not to be claimed before `shot` has ended or is gone; the attempt does not count. When it has ended
    /// already, that is at once.
    package func wait(_ claim: Claim, for shot: Job.ID) throws(Problem) {
        try write { (connection) throws(Problem) in
            try Self.update(
                claim.job.id, of: claim.importID,
                """
                state = 'queued', attempts = max(attempts - 1, 0), import_id = NULL, intent = NULL, journal_id = NULL,
                    waits_for = (SELECT id FROM job AS shot WHERE shot.id = ?
                        AND shot.state IN ('queued', 'copying', 'previewing', 'committing'))
                """, [.integer(shot)], on: connection)
            try Journal.closeOpen(job: claim.job.id, outcome: "rolled_back", on: connection)
        }
    }

    /// Queues the sidecars of a shot again that ended as orphans before it came.
    /// - Returns: their jobs.
    @discardableResult
    package func queueOrphans(of place: ShotPlace) throws(Problem) -> [Job.ID] {
        let orphans = try atTheDoor { (connection) throws(Problem) in
            try place.companions(on: connection).filter { $0.state == .failed && $0.code == .orphan }.map(\.job)
        }
        guard !orphans.isEmpty else { return [] }
        return try write { (connection) throws(Problem) in
            var queued: [Job.ID] = []
            for job in Set(orphans).sorted() {
                let changed = try connection.change(
                    "UPDATE job SET \(Self.again) WHERE id = ? AND state = 'failed' AND problem_code = 'E_ORPHAN'",
                    [.integer(job)])
                if changed == 1 { queued.append(job) }
            }
            return queued
        }
    }
}
