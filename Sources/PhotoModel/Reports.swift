/// One line for the log: a constant sentence, the values as fields, so that equal events are equal lines.
package struct LogLine: Sendable {
    package var level: LogLevel
    package var sentence: String
    /// Journal field names are upper case: `JOB_ID`, `CODE`, `DROP`, `PATH`; see systemd.journal-fields(7).
    package var fields: [(String, String)]

    package init(_ level: LogLevel, _ sentence: String, _ fields: [(String, String)] = []) {
        self.level = level
        self.sentence = sentence
        self.fields = fields
    }

    /// A problem as one line: the kind of it, and what happened this time as a field, so that a fault that a thousand
    /// files share is one line said often, and not a thousand.
    package init(_ level: LogLevel, _ problem: Problem, _ fields: [(String, String)] = []) {
        self.init(
            level, problem.code.title,
            [("CODE", problem.code.rawValue), ("DETAIL", problem.whatHappened), ("RECOVERY", problem.whatToDo)]
                + fields)
    }
}

/// Where a room sends its lines. The daemon hands in the real log; a test hands in an array.
package typealias Log = @Sendable (LogLine) -> Void

/// How a drop folder is doing, for the status.
package struct DropHealth: Hashable, Sendable {
    package enum Health: String, Sendable { case ok, waiting, degraded }

    package var name: String
    package var path: Path
    /// What finds files there now: `inotify`, `poll`, or `mixed` when only some folders could be watched.
    package var mode: String
    package var health: Health
    package var watches: Int
    /// Folders read again every `poll_interval`, for no event tells of them.
    package var polled = 0
    /// How often something was read again because events were lost, or a folder was.
    package var rescans = 0
    /// Files seen that have not settled yet.
    package var candidates: Int
    /// Files that wait only for somebody else, as an orphan sidecar does; not part of ``candidates``.
    package var waitingForOthers: Int
    package var hasFinishedFirstScan: Bool
    /// It does not answer: as long as that lasts nothing else here is true any more, and nobody waits for it.
    package var isSilent = false
    package var reasons: [Problem]

    package init(
        name: String, path: Path, mode: String, health: Health, watches: Int, candidates: Int, waitingForOthers: Int,
        hasFinishedFirstScan: Bool, reasons: [Problem]
    ) {
        self.name = name
        self.path = path
        self.mode = mode
        self.health = health
        self.watches = watches
        self.candidates = candidates
        self.waitingForOthers = waitingForOthers
        self.hasFinishedFirstScan = hasFinishedFirstScan
        self.reasons = reasons
    }
}

/// An import that is under way.
package struct InFlightImport: Hashable, Sendable {
    package var job: Job.ID
    package var batch: Batch.ID
    package var phase: JobState
    /// The source that is worked on.
    package var path: Path
    package var bytesDone: Int64
    package var bytesTotal: Int64

    package init(job: Job.ID, batch: Batch.ID, phase: JobState, path: Path, bytesDone: Int64, bytesTotal: Int64) {
        self.job = job
        self.batch = batch
        self.phase = phase
        self.path = path
        self.bytesDone = bytesDone
        self.bytesTotal = bytesTotal
    }
}

/// What happened, for whoever follows along.
package enum SpoolEvent: Sendable {
    case job(id: Job.ID, batch: Batch.ID, drop: String, state: JobState, problem: Problem?, asset: Asset.ID?)
    case progress(InFlightImport)
    case batch(id: Batch.ID)
    case state(DaemonState)
}

package enum DaemonState: String, Sendable { case starting, running, paused, degraded, stopping }

/// Jobs by state. `importing` is copying, previewing and committing together; `retrying` are queued ones whose time has
/// not come, and are counted in `queued` too.
package struct QueueCounts: Hashable, Sendable {
    package var queued = 0
    package var importing = 0
    package var imported = 0
    package var duplicate = 0
    package var failed = 0
    package var cancelled = 0
    package var vanished = 0
    package var skipped = 0
    package var retrying = 0
    /// Of `retrying`, those due within 60 seconds.
    package var retryingSoon = 0
    package init() {}
}
