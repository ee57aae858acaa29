import Files
import Ingest
import PhotoModel
import Service
import Synchronization

/// Dry runs of imports, one after the other: each reads photos for as long as that takes, and holds one of the few threads
/// that answer requests.
final class DryRuns: Sendable {
    private let daemon: Daemon
    private let isBusy = Mutex(false)

    init(daemon: Daemon) { self.daemon = daemon }

    func run(_ groups: [SettledGroup], settings: Settings) throws(Problem) -> [ImportForecast] {
        let isFirst = isBusy.withLock { isBusy in
            defer { isBusy = true }
            return !isBusy
        }
        guard isFirst else {
            throw Problem(
                .busy, "Another dry run is still being answered.", todo: "Ask again once that one has its answer.")
        }
        defer { isBusy.withLock { $0 = false } }
        guard let library = daemon.keeper.library else {
            throw Problem(
                .libraryOffline, "The library is not there at the moment, so nobody can tell what it would get.")
        }
        let daemon = daemon
        var forecaster = try Forecaster(
            store: daemon.store, library: library, decoders: daemon.decoders, settings: settings,
            now: SystemClock.now(), newID: Machine.newID, isCancelled: { daemon.phase.isStopping },
            log: daemon.journal.log)
        return try forecaster.run(groups)
    }
}
