import Files
import PhotoModel
import Service
import Synchronization

/// Keeps the service manager patient through a long recovery, without writing to it for every megabyte.
final class Patience: Sendable {
    private let manager: ServiceManager
    private let last = Mutex<Duration?>(nil)

    init(_ manager: ServiceManager) { self.manager = manager }

    /// There is progress; at most once a second the manager hears of it.
    func progress() {
        let now = SystemClock.monotonic()
        let isDue = last.withLock { last in
            if let last, now - last < .seconds(1) { return false }
            last = now
            return true
        }
        guard isDue else { return }
        manager.status("Settling interrupted imports")
        manager.extendTimeout(by: .seconds(60))
    }
}
