import Files
package import PhotoModel
import Store

extension DispositionStep {
    /// Finishes the claims that a dead process left in a drop folder: one whose content is that of an imported job is
    /// disposed of, any other is put back where it came from.
    package func finishClaims(in drop: DropFolder) throws(Problem) {
        var left: [Int64] = []
        do throws(Errno) {
            left = try SourceClaims.left(in: drop.path)
        } catch {
            return  // no claims, or the drop is absent: it is asked again when the drop returns
        }
        for id in left {
            guard let subject = try store.journalSubject(id), let job = try store.job(subject.job),
                let file = job.files.first(where: { $0.path == subject.path }),
                let relative = subject.path.below(drop.path)
            else {
                log(
                    LogLine(
                        .warning, "A claimed source belongs to no job that is known; it stays where it is.",
                        [("DROP", drop.name), ("PATH", SafeText.of(drop.path / SourceClaims.name(id)))]))
                continue
            }
            let mayGo = try isMirrored(job)
            do throws(Errno) {
                let claims = try SourceClaims(drop: drop.path)
                let expected = original(of: subject.path, job: job)?.sha256
                if drop.afterImport != .keep, job.disposition == .pending, mayGo,
                    try claims.holds(id, expecting: file.stamp, sha256: expected)
                {
                    if drop.afterImport == .move {
                        try claims.move(id, to: Self.target(of: relative, drop: drop), from: relative)
                    } else {
                        try claims.delete(id, from: relative)
                    }
                } else {
                    try claims.putBack(id, to: relative)
                }
            } catch {
                log(
                    LogLine(
                        .warning, "A claimed source could neither be disposed of nor put back.",
                        [("DROP", drop.name), ("PATH", SafeText.of(subject.path)), ("ERRNO", error.name)]))
            }
        }
    }

    /// Whether a claim of this source lies in its drop folder, or nobody can tell.
    func isClaimed(_ file: SettledFile, job: Job, drop: DropFolder) throws(Problem) -> Bool {
        var left: [Int64] = []
        do throws(Errno) {
            left = try SourceClaims.left(in: drop.path)
        } catch {
            return error != .noEntry  // nothing was ever claimed there
        }
        for id in left {
            guard let subject = try store.journalSubject(id) else { continue }
            if subject.job == job.id, subject.path == file.path { return true }
        }
        return false
    }

    /// The original that was made of a source; nil when the catalog does not name it, as for a duplicate.
    func original(of source: Path, job: Job) -> Resource? {
        guard let asset = job.asset else { return nil }
        do throws(Problem) {
            return try store.asset(asset)?.resources.first { $0.sourcePath == source }
        } catch {
            return nil  // inode, size and mtime are compared all the same
        }
    }
}
