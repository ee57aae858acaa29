package import PhotoModel
import Workers

/// How one import ended. A failed import is an outcome, not a throw.
package enum ImportOutcome: Sendable {
    /// Committed; the state says so already.
    case imported(Asset.ID)
    /// Every file is in the library already, and was read again there.
    case duplicate(of: Asset.ID)
    /// The job is over without an import: vanished, skipped or failed for good.
    case ended(JobState, Problem)
    /// Trouble of this job that may pass: counts as an attempt.
    case tryLater(Problem)
    /// Trouble that any job would meet: work pauses, and the attempt does not count.
    case outage(Problem)
    /// The source changed meanwhile; it has to settle anew.
    case sourceChanged
    /// The filesystem of the source is not there: the job waits for it, and the attempt does not count.
    case sourceAway(filesystem: FilesystemID)
    /// It does not fit at the moment; smaller ones may. The attempt does not count.
    case doesNotFit(Problem)
    /// It ends early and may still be arriving: not decided before that time, and the attempt does not count.
    case mayStillArrive(Problem, until: Timestamp)
    /// A late member: its shot's job comes first, and the attempt does not count.
    case waitsForShot(Job.ID)
    /// Its files are of several shots, or some of them are broken: each group gets a job of its own. The attempt does not
    /// count.
    case parted([SettledGroup])
    /// Sidecars whose shot is not known any more: it vanished, or settles anew. They go back to where they wait for it.
    case alone
    /// Sidecars that belong to none of the assets that their shot has, which may be none at all.
    case orphan(Problem, seen: Set<Asset.ID>)
    case cancelled
    /// The service stops: given back, as if it had not been tried.
    case stopped
    /// The state could not take the commit; the files stand under their final names, and recovery decides.
    case unresolved(Problem)
}

extension ImportOutcome {
    /// What comes of an import that was given up for `reason`: nothing is tried again that nobody wants any more. What has
    /// been decided stands.
    func given(up reason: Cancellation.Reason?) -> ImportOutcome {
        switch (self, reason) {
        case (.cancelled, .stopping): .stopped
        case (.tryLater, .requested), (.outage, .requested), (.sourceChanged, .requested), (.sourceAway, .requested),
            (.doesNotFit, .requested), (.waitsForShot, .requested), (.alone, .requested), (.parted, .requested),
            (.orphan, .requested), (.mayStillArrive, .requested):
            .cancelled
        default: self
        }
    }
}

/// Ends an import early, from any depth. Internal to Ingest: the importer turns it into an ``ImportOutcome``.
struct ImportEnded: Error {
    let outcome: ImportOutcome
    /// The source that it is about, where it is about one.
    var source: Path?

    init(_ outcome: ImportOutcome) { self.outcome = outcome }

    func about(_ source: Path) -> ImportEnded {
        var ended = self
        ended.source = source
        return ended
    }

    /// A problem sorted by what it means for the job and for the others.
    init(_ problem: Problem) {
        outcome =
            switch problem.code {
            case .sourceVanished: .ended(.vanished, problem)
            case .tombstone, .filtered, .unsupported: .ended(.skipped, problem)
            case let code where code.isOutage: .outage(problem)
            // The catalog changed while this was committed: the next attempt sees it as it is now.
            case let code where code.isTransient || code == .conflict: .tryLater(problem)
            default: .ended(.failed, problem)
            }
    }
}
