import Files
import PhotoModel

/// What all drop folders share. Belongs to the watcher's thread, as everything below does.
final class WatchContext {
    let door: Watcher.Door
    let tuning: WatchTuning
    let deadlines = SharedDeadlines()
    /// Made when the first folder is to be watched; nil also when the kernel gives none, and everything is polled.
    private(set) var inotify: Inotify?
    private(set) var inotifyFailure: Errno?
    /// Whether the kernel's queue was read to its end in this turn: what was to be heard by now has been.
    var isDrained = true
    /// Whether the self-test found that no events arrive: then nothing is watched.
    var isDeaf = false
    /// Number of the listing before which the last events were lost.
    private(set) var loss: UInt64 = 0
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
    }

    func openInotify() -> Inotify? {
        if inotify == nil {
            do throws(Errno) {
                inotify = try Inotify()
                inotifyFailure = nil
            } catch {
                inotifyFailure = error
            }
        }
        return inotify
    }

    var isScanningAhead: Bool { freshFiles >= tuning.scanAhead }

    /// Events were lost: what a listing finds from now on may be what they told of.
    func noteLoss() { loss = nextListing() }

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
