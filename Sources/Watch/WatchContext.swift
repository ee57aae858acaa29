import Files
import PhotoModel

/// What all drop folders share. Belongs to the watcher's thread, as everything below does.
final class WatchContext {
    let door: Watcher.Door
    let tuning: WatchTuning
    let deadlines = SharedDeadlines()
    /// nil when the kernel gives none: then everything is polled.
    let inotify: Inotify?
    let inotifyFailure: Errno?
    /// Which folder an event is about.
    var watched: [Int32: FolderNode] = [:]
    var outbox = Outbox()
    /// Files found and not looked at again yet.
    var freshFiles = 0
    /// Numbers the listings of folders, over all drops.
    private(set) var listings: UInt64 = 0
    /// When something was last found or handed over.
    var lastProgress = Moment.now

    init(door: Watcher.Door, tuning: WatchTuning) {
        self.door = door
        self.tuning = tuning
        do throws(Errno) {
            inotify = try Inotify()
            inotifyFailure = nil
        } catch {
            inotify = nil
            inotifyFailure = error
        }
    }

    var isScanningAhead: Bool { freshFiles >= tuning.scanAhead }

    func nextListing() -> UInt64 {
        listings += 1
        return listings
    }
}

/// One heap for all drop folders.
final class SharedDeadlines {
    var heap = Deadlines()
}

extension Moment {
    static var now: Moment { Moment(nanoseconds: 0) + SystemClock.monotonic() }
}
