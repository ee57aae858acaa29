import Files
package import PhotoModel
import Synchronization

/// Finds files that arrive in the drop folders, waits until each has arrived completely, and hands groups to the queue.
///
/// A thread of its own does everything, in ``run()``, with further ones for drop folders on shares (``Lanes``); the other
/// methods may be called from any thread and return at once. It remembers only what has not settled yet: what was handed
/// over is known to the store, and asked there.
package final class Watcher: Sendable {
    /// The other rooms, as the watcher sees them. All are called on the watcher's threads, and may block them for as long
    /// as a transaction takes.
    package struct Door: Sendable {
        /// One version of one file.
        package typealias Version = (path: Path, size: Int64, mtime: Int64)

        /// Which of these files were handed over in this version before, in any life of the daemon.
        package var areKnown:
            @Sendable (_ drop: String, _ filesystem: FilesystemID, _ files: [Version]) throws(Problem) -> [Bool]
        /// Returns once the groups are durably in the queue; files known already are left out there. When it throws, the
        /// same groups are offered again later.
        package var enqueue: @Sendable (_ groups: [SettledGroup]) throws(Problem) -> Void
        /// Whether any version of this file was handed over before.
        package var knowsPath:
            @Sendable (_ drop: String, _ filesystem: FilesystemID, _ path: Path) throws(Problem) -> Bool
        /// Whether a photo or video of this stem was handed over from this folder before: then a sidecar that comes
        /// alone is late, and no orphan.
        package var knowsShot:
            @Sendable (_ drop: String, _ filesystem: FilesystemID, _ folder: Path, _ stem: Path) throws(Problem) -> Bool
        /// Why the folder that a drop's path leads to now must not be taken for it; nil when nothing speaks against it.
        package var objection: @Sendable (_ drop: String) -> Problem?
        package var log: Log
        /// ``Watcher/health`` has changed in more than its counts.
        package var changed: @Sendable () -> Void

        package init(
            areKnown:
                @escaping @Sendable (_ drop: String, _ filesystem: FilesystemID, _ files: [Version])
                throws(Problem) -> [Bool],
            enqueue: @escaping @Sendable (_ groups: [SettledGroup]) throws(Problem) -> Void,
            knowsPath:
                @escaping @Sendable (_ drop: String, _ filesystem: FilesystemID, _ path: Path) throws(Problem) -> Bool,
            knowsShot:
                @escaping @Sendable (_ drop: String, _ filesystem: FilesystemID, _ folder: Path, _ stem: Path)
                throws(Problem) -> Bool,
            objection: @escaping @Sendable (_ drop: String) -> Problem?,
            log: @escaping Log,
            changed: @escaping @Sendable () -> Void
        ) {
            self.areKnown = areKnown
            self.enqueue = enqueue
            self.knowsPath = knowsPath
            self.knowsShot = knowsShot
            self.objection = objection
            self.log = log
            self.changed = changed
        }
    }

    private let lanes: Lanes
    private let door: Door
    private let tuning: WatchTuning
    private let ownFolder: Path?

    /// - Parameters:
    ///   - ownFolder: a folder of the daemon's, for the file by which it tests that events arrive; nil for no such test.
    ///   - once: List everything, hand over what settles without waiting for members that may still come, and return
    ///     from ``run()``.
    package convenience init(drops: [DropFolder], ownFolder: Path?, door: Door, once: Bool) {
        self.init(drops: drops, ownFolder: ownFolder, door: door, tuning: once ? .once : WatchTuning())
    }

    init(
        drops: [DropFolder], ownFolder: Path?, door: Door, tuning: WatchTuning,
        remotePlaces: @escaping @Sendable () -> RemotePlaces = RemotePlaces.now
    ) {
        self.ownFolder = ownFolder
        self.door = door
        self.tuning = tuning
        lanes = Lanes(drops, door: door, tuning: tuning, remotePlaces: remotePlaces)
    }

    /// Watches until ``stop()``, or in a `once` life until everything has been handed over. To be called once.
    package func run() {
        let loop = WatchLoop(lane: lanes.shared, door: door, tuning: tuning)
        loop.lanes = lanes
        if let ownFolder, !tuning.isOnce { loop.selfTest = SelfTest(in: ownFolder, by: tuning) }
        loop.run(lanes.assign())
        lanes.waitForOthers()
        lanes.shared.end()
    }

    package func stop() { lanes.give(.stop) }

    /// Looks at everything in one drop folder, or in all, as if it had just been plugged in.
    package func rescan(_ drop: String? = nil) { lanes.give(.rescan(drop: drop)) }

    /// Works by these drop folders from now on. What stays the same is not disturbed.
    package func replaceDrops(_ drops: [DropFolder]) { lanes.configure(drops) }

    /// Lets a source settle anew although it may be known: it changed under its import.
    package func recheck(_ path: Path) { lanes.give(.recheck(path)) }

    package var health: [DropHealth] { lanes.health }

    /// Moves at least every five seconds: proof of life for the watchdog. A share that does not answer does not hold it
    /// up; ``health`` tells of that.
    package var progressMark: UInt64 { lanes.shared.progressMark }
}

extension DropHealth {
    init(notYetSeen drop: DropFolder) {
        self.init(
            name: drop.name, path: drop.path, mode: drop.watch == .poll ? "poll" : "inotify", health: .ok,
            watches: 0,
            candidates: 0, waitingForOthers: 0, hasFinishedFirstScan: false, reasons: [])
    }

    /// The same with every number 0 or 1, to see whether there is something to tell.
    var withoutCounts: DropHealth {
        var copy = self
        copy.watches = 0
        copy.candidates = min(candidates, 1)
        copy.waitingForOthers = min(waitingForOthers, 1)
        copy.polled = min(polled, 1)
        return copy
    }
}
