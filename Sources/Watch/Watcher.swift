package import PhotoModel
import Synchronization

/// Finds files that arrive in the drop folders, waits until each has arrived completely, and hands groups to the queue.
///
/// One thread of its own does everything, in ``run()``; the other methods may be called from any thread and return at
/// once. It remembers only what has not settled yet: what was handed over is known to the store, and asked there.
package final class Watcher: Sendable {
    /// The other rooms, as the watcher sees them. All are called on the watcher's thread, and may block it for as long
    /// as a transaction takes.
    package struct Door: Sendable {
        /// Whether this version of the file was handed over before, in any life of the daemon.
        package var isKnown:
            @Sendable (_ drop: String, _ filesystem: FilesystemID, _ path: Path, _ size: Int64, _ mtime: Int64)
                throws(Problem) -> Bool
        /// Returns once the groups are durably in the queue; files known already are left out there. When it throws, the
        /// same groups are offered again later.
        package var enqueue: @Sendable (_ groups: [SettledGroup]) throws(Problem) -> Void
        /// Whether a photo or video of this stem was handed over from this folder before: then a sidecar that comes
        /// alone is late, and no orphan.
        package var knowsShot: @Sendable (_ drop: String, _ folder: Path, _ stem: Path) throws(Problem) -> Bool = {
            (_, _, _) in false
        }
        package var log: Log
        /// ``Watcher/health`` has changed in more than its counts.
        package var changed: @Sendable () -> Void

        package init(
            isKnown:
                @escaping @Sendable (
                    _ drop: String, _ filesystem: FilesystemID, _ path: Path, _ size: Int64, _ mtime: Int64
                ) throws(Problem) -> Bool,
            enqueue: @escaping @Sendable (_ groups: [SettledGroup]) throws(Problem) -> Void,
            log: @escaping Log,
            changed: @escaping @Sendable () -> Void
        ) {
            self.isKnown = isKnown
            self.enqueue = enqueue
            self.log = log
            self.changed = changed
        }
    }

    enum Order: Sendable {
        case stop
        case rescan(drop: String?)
        case replace([DropFolder])
        case recheck(Path)
    }

    private struct Shared {
        var orders: [Order] = []
        var health: [DropHealth] = []
    }

    private let drops: [DropFolder]
    private let door: Door
    private let tuning: WatchTuning
    private let shared: Mutex<Shared>
    private let turns = Atomic<UInt64>(0)
    /// Without one, orders are seen within a second.
    let bell = Bell()

    /// - Parameter once: List everything, hand over what settles without waiting for members that may still come, and
    ///   return from ``run()``.
    package convenience init(drops: [DropFolder], door: Door, once: Bool) {
        self.init(drops: drops, door: door, tuning: once ? .once : WatchTuning())
    }

    init(drops: [DropFolder], door: Door, tuning: WatchTuning) {
        self.drops = drops
        self.door = door
        self.tuning = tuning
        shared = Mutex(Shared(health: drops.map(DropHealth.init(notYetSeen:))))
    }

    /// Watches until ``stop()``, or in a `once` life until everything has been handed over. To be called once.
    package func run() {
        WatchLoop(watcher: self, drops: drops, door: door, tuning: tuning).run()
    }

    package func stop() { give(.stop) }

    /// Looks at everything in one drop folder, or in all, as if it had just been plugged in.
    package func rescan(_ drop: String? = nil) { give(.rescan(drop: drop)) }

    /// Works by these drop folders from now on. What stays the same is not disturbed.
    package func replaceDrops(_ drops: [DropFolder]) { give(.replace(drops)) }

    /// Lets a source settle anew although it may be known: it changed under its import.
    package func recheck(_ path: Path) { give(.recheck(path)) }

    package var health: [DropHealth] { shared.withLock { $0.health } }

    /// Moves with every turn of the loop, at least once a second: proof of life for the watchdog.
    package var progressMark: UInt64 { turns.load(ordering: .relaxed) }

    private func give(_ order: Order) {
        shared.withLock { $0.orders.append(order) }
        bell?.ring()
    }

    /// For the loop: the orders given since it last asked.
    func takeOrders() -> [Order] {
        shared.withLock { shared in
            defer { shared.orders.removeAll() }
            return shared.orders
        }
    }

    func publish(_ health: [DropHealth]) {
        let hasChanged = shared.withLock { shared in
            defer { shared.health = health }
            return shared.health.map(\.withoutCounts) != health.map(\.withoutCounts)
        }
        if hasChanged { door.changed() }
    }

    func markTurn() { turns.wrappingAdd(1, ordering: .relaxed) }
}

extension DropHealth {
    init(notYetSeen drop: DropFolder) {
        self.init(
            name: drop.name, path: drop.path, mode: drop.watch == .poll ? "poll" : "inotify", health: .waiting,
            watches: 0,
            candidates: 0, waitingForOthers: 0, hasFinishedFirstScan: false, reasons: [])
    }

    /// The same with every number 0 or 1, to see whether there is something to tell.
    var withoutCounts: DropHealth {
        var copy = self
        copy.watches = 0
        copy.candidates = min(candidates, 1)
        copy.waitingForOthers = min(waitingForOthers, 1)
        return copy
    }
}
