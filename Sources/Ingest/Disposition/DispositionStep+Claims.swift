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
            let original = try originalOfClaim(id, of: file, job: job, drop: drop)
            do throws(Errno) {
                let claims = try SourceClaims(drop: drop.path)
                if let act = drop.act, let original,
                    try claims.holds(id, expecting: file.stamp, sha256: original.sha256)
                {
                    let target = act == .move ? Self.target(of: relative, drop: drop) : nil
                    try carryOut(act, claim: id, of: relative, to: target, claims)
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

    /// What stands for a claimed source, by the same rules as for one under its name; nil when it is to go back there.
    private func originalOfClaim(
        _ id: Int64, of file: SettledFile, job: Job, drop: DropFolder
    ) throws(Problem) -> Resource? {
        guard let act = drop.act, job.disposition == .pending else { return nil }
        do throws(Problem) {
            return try original(of: file, at: SourceClaims.name(id), job: job, drop: drop, act)
        } catch {
            guard error.code == .disposition else { throw error }
            return nil  // said when its turn comes again
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
}

extension DropFolder {
    /// What its sources come to; nil to keep them.
    var act: DispositionStep.Act? { DispositionStep.Act(rawValue: afterImport.rawValue) }
}
