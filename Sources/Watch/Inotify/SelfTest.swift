import Files
import Glibc
import PhotoModel

/// Proves now and then that events arrive: a file of the daemon's own is opened for writing and closed, and the kernel
/// has to tell of it. Nothing is written, so no disk wakes for it.
final class SelfTest {
    private let folder: Path
    private let gap: Duration
    private let patience: Duration
    private var watch: Int32 = -1
    /// When the file was closed; nil while nothing is on its way.
    private var sentAt: Moment?
    private(set) var nextTime = Moment(nanoseconds: 0)
    private(set) var isDeaf = false

    init(in folder: Path, by tuning: WatchTuning) {
        self.folder = folder
        gap = tuning.selfTestGap
        patience = tuning.selfTestPatience
    }

    static let name = Path("selftest")

    enum Finding { case deaf, hears }

    /// What is to be done by the clock.
    /// - Parameter isDrained: whether the kernel's queue was empty just now; until then the event may stand in it.
    /// - Returns: what has changed, if anything.
    func keepTime(at now: Moment, isDrained: Bool, on inotify: Inotify) -> Finding? {
        guard now >= nextTime else { return nil }
        if sentAt != nil {
            guard isDrained else { return nil }
            sentAt = nil
            nextTime = now + gap
            if isDeaf { return nil }
            isDeaf = true
            return .deaf
        }
        guard isDrained else { return nil }  // it may be what no longer fits
        do throws(Errno) {
            try send(on: inotify)
            sentAt = now
            nextTime = now + patience
        } catch {
            // A read-only or full state, or no watch left: it says nothing about events. Rescans are compared as ever.
            nextTime = now + gap
        }
        return nil
    }

    /// An event that belongs to no folder.
    func hear(_ event: Inotify.Event, at now: Moment) -> Finding? {
        guard event.watch == watch, event.wasWritten else { return nil }
        sentAt = nil
        nextTime = now + gap
        guard isDeaf else { return nil }
        isDeaf = false
        return .hears
    }

    /// Events were lost, and the one that is waited for may be among them: to be tried again.
    func noteLoss(at now: Moment) {
        guard sentAt != nil else { return }
        sentAt = nil
        nextTime = now + patience
    }

    private func send(on inotify: Inotify) throws(Errno) {
        let number = try unsafe (folder / Self.name).withCString { path throws(Errno) in
            try retryingInterrupted {
                unsafe open(path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0o600)
            }
        }
        let file = Descriptor(adopting: number)
        // The same watch as ever, unless somebody has replaced the file.
        watch = try inotify.add(closingOf: file)
        try file.close()
    }
}
