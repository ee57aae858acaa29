import PhotoModel
import Synchronization

/// How fast photos come in, over the last half minute.
final class Rates: Sendable {
    private struct Second {
        var number: Int64
        var files = 0
        var bytes: Int64 = 0
    }

    static let window: Int64 = 30

    private let seconds = Mutex<[Second]>([])
    private let monotonic: @Sendable () -> Duration

    init(monotonic: @escaping @Sendable () -> Duration) { self.monotonic = monotonic }

    func count(files: Int, bytes: Int64) {
        let now = monotonic().components.seconds
        seconds.withLock { seconds in
            seconds.removeAll { $0.number <= now - Self.window }
            if seconds.last?.number != now { seconds.append(Second(number: now)) }
            seconds[seconds.count - 1].files += files
            seconds[seconds.count - 1].bytes += bytes
        }
    }

    /// Files and bytes a second; zero when nothing came for the whole window.
    var perSecond: (files: Double, bytes: Double) {
        let now = monotonic().components.seconds
        return seconds.withLock { seconds in
            let recent = seconds.filter { $0.number > now - Self.window }
            guard let first = recent.first else { return (0, 0) }
            let span = Double(max(1, now - first.number + 1))
            return (
                Double(recent.reduce(0) { $0 + $1.files }) / span,
                Double(recent.reduce(0) { $0 + $1.bytes }) / span
            )
        }
    }
}
