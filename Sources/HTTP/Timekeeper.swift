import Dispatch

/// Calls a closure again and again, on a queue of its own.
///
/// `@unchecked Sendable`: Dispatch objects may be used from any thread, its Swift face only does not say so.
final class Timekeeper: @unchecked Sendable {
    private let timer: any DispatchSourceTimer

    init(every interval: Duration, _ tick: @escaping @Sendable () -> Void) {
        let queue = DispatchQueue(label: "photospool.http.time")
        timer = DispatchSource.makeTimerSource(queue: queue)
        let (seconds, attoseconds) = interval.components
        let nanoseconds = Int(seconds) * 1_000_000_000 + Int(attoseconds / 1_000_000_000)
        // Nobody waits for the exact moment, and a late tick saves a wakeup.
        timer.schedule(
            deadline: .now() + .nanoseconds(nanoseconds), repeating: .nanoseconds(nanoseconds),
            leeway: .nanoseconds(nanoseconds / 5))
        timer.setEventHandler(handler: tick)
        timer.activate()
    }

    func stop() { timer.cancel() }
}
