internal import Glibc
internal import Synchronization
internal import Workers

/// Pings the service manager from a thread of its own, and only while the daemon really gets on. When it does not, the
/// manager ends it with SIGABRT and starts it anew, and recovery puts things right.
package final class Watchdog: Sendable {
    private let alarm: Alarm
    private let thread: Mutex<DaemonThread?>

    /// Pings at once, and then twice in each `interval` until ``stop()``.
    ///
    /// - Parameters:
    ///   - interval: ``ServiceManager/watchdogInterval``.
    ///   - isAlive: asked before each ping, on the watchdog's thread; it must not wait. See ``Liveness``.
    package init(interval: Duration, manager: ServiceManager, isAlive: @escaping @Sendable () -> Bool) {
        let alarm = Alarm()
        self.alarm = alarm
        thread = Mutex(
            DaemonThread(named: "watchdog") {
                repeat {
                    if isAlive() { manager.ping() }
                } while !alarm.sleep(for: interval / 2)
            })
    }

    /// No ping comes after this has returned.
    package func stop() {
        alarm.ring()
        // Joined outside the lock: it may take as long as one question.
        let last = thread.withLock { thread in
            let last = consume thread
            thread = nil
            return last
        }
        last?.join()
    }

    deinit { alarm.ring() }
}

/// Lets a thread sleep that can be woken for good. The time is CLOCK_MONOTONIC's, through poll(2).
private final class Alarm: Sendable {
    private let reading: Int32
    private let writing: Int32

    init() {
        var ends: [Int32] = [-1, -1]
        let code = unsafe pipe(&ends)
        // Made when the daemon starts; without descriptors then it is none.
        precondition(code == 0, "the system gives no more descriptors")
        reading = ends[0]
        writing = ends[1]
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    }

    deinit {
        _ = close(reading)
        _ = close(writing)
    }

    func ring() {
        var byte: UInt8 = 1
        _ = unsafe write(writing, &byte, 1)  // a full pipe has rung already
    }

    /// True when it was rung.
    func sleep(for duration: Duration) -> Bool {
        let end = ContinuousClock.now + duration
        while true {
            let left = ContinuousClock.now.duration(to: end)
            let milliseconds = left.components.seconds * 1000 + left.components.attoseconds / 1_000_000_000_000_000
            var entry = pollfd(fd: reading, events: Int16(POLLIN), revents: 0)
            let ready = unsafe poll(&entry, 1, Int32(clamping: max(0, milliseconds + (left > .zero ? 1 : 0))))
            if ready > 0 { return true }
            if left <= .zero { return false }
        }
    }
}
