import Control
import Ingest
import PhotoModel
import Preview
import Service
import Store
import Synchronization
import Upkeep
import Watch

/// How the daemon is.
extension Daemon {
    /// Everything that restricts the work, the outages first. What is wrong with the mirror restricts none, and is told
    /// apart.
    var reasons: [Problem] {
        var seen: Set<Problem> = []
        return
            (outages.reasons + [room.shortage, previewsOwed.problem].compactMap { $0 } + openDrops.problems
            + watcher.health.flatMap(\.reasons)
            + [decoders.problem].compactMap { $0 })
            .filter { seen.insert($0).inserted }
    }

    var state: DaemonState {
        if phase.isStopping { return .stopping }
        if phase.isStarting { return .starting }
        if outages.isPaused { return .paused }
        let isDegraded =
            !outages.reasons.isEmpty || room.shortage != nil || previewsOwed.problem != nil
            || watcher.health.contains { $0.health == .degraded }
            || !(mirror.status?.reasons.isEmpty ?? true)
        return isDegraded ? .degraded : .running
    }

    /// Applies what can change while running; a bad file leaves the old configuration in force.
    func reload() -> DaemonOrders.ReloadOutcome { reloadTurn.withLock { _ in reloadNow() } }

    private func reloadNow() -> DaemonOrders.ReloadOutcome {
        manager.reloading()
        defer { manager.ready() }
        let new: Settings
        do throws(ConfigurationSource.Refusal) {
            new = try source.load()
        } catch {
            journal.add(LogLine(.error, error.problem, [("FAULTS", error.text)]))
            return .refused([error.problem])
        }
        let old = live.current
        let fixed = LiveSettings.needsRestart(from: old, to: new)
        var applied = new
        applied.library.path = old.library.path
        applied.control = old.control
        applied.importing.workers = old.importing.workers
        applied.importing.deadline = old.importing.deadline
        live.replace(applied)
        journal.setLevel(new.logLevel)
        memory.set(budget: MachineMemory.budget(applied.importing))
        watcher.replaceDrops(applied.drops)
        if old.library != applied.library {
            // The open library takes its new rules over; one that is away finds them when it is back.
            do throws(Problem) { try keeper.open(applied.library) } catch {
                if outages.begin(error) { journal.add(LogLine(.error, error)) }
            }
        }
        mirror.retry()
        room.sourcesMayGo()
        journal.add(LogLine(.info, "The configuration was reloaded."))
        if !fixed.isEmpty {
            journal.add(
                LogLine(
                    .warning, "Some changes take effect at the next start only.",
                    [("KEYS", fixed.joined(separator: " "))]))
        }
        return .reloaded(.init(applied: LiveSettings.changes(from: old, to: applied), needsRestart: fixed))
    }

    /// Stays so over restarts.
    func setPaused(_ paused: Bool) throws(Problem) {
        try store.set(SettingKeys.paused, to: paused ? "1" : nil)
        outages.setPaused(paused)
        room.wake()
        hub.publish(.state(state))
        journal.add(LogLine(.info, paused ? "Importing was paused." : "Importing goes on."))
    }
}
