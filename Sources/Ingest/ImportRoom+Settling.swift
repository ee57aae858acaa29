package import PhotoModel
import Store

/// What has to be settled before anything is claimed: at start, and again whenever the library or the state was away.
extension ImportRoom {
    /// Recovers interrupted imports, sweeps dead staging, and does what is still owed to sources. No import may be in
    /// flight. Until it has succeeded once, nothing is claimed.
    ///
    /// - Parameter progress: called with every piece of work, for the patience of whoever waits.
    package func settle(
        in library: Library, progress: () -> Void
    ) throws(Problem) {
        try library.checkNotAhead(of: rooms.store)
        let settings = settings
        let recovery = Recovery(
            library: library, store: rooms.store, log: rooms.log, now: rooms.now,
            dispositionOf: { job in ImportPlan(job: job, settings: settings())?.dispositionAfterImport ?? .keep })
        let crashed = signals.hasCrashed()
        let report = try recovery.run(crashed: crashed, progress: progress)
        if report.rolledForward + report.rolledBack > 0 {
            rooms.log(
                LogLine(
                    .info, "Interrupted imports were settled.",
                    [("FORWARD", String(report.rolledForward)), ("BACK", String(report.rolledBack))]))
        }
        if crashed { signals.crashIsCounted() }
        let swept = try Sweep(
            library: library, sweepAfter: settings().importing.sweepAfter, now: rooms.now, log: rooms.log
        ).run(live: [])
        if swept > 0 { rooms.log(LogLine(.info, "Stale staging was swept.", [("COUNT", String(swept))])) }
        rooms.undecided.clear()
        isSettled()
        sourcesMayGo()
    }
}
