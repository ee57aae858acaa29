internal import CSystemd
internal import Files
internal import PhotoModel
internal import Synchronization

/// Tells the service manager how the daemon is, by sd_notify(3). Without a manager every call does nothing.
///
/// Messages keep the order in which the calls were made; a call that does not fit the state is dropped, so that a late
/// `ready` cannot take back `stopping`.
package final class ServiceManager: Sendable {
    private let machine = Mutex(NotifyMachine())
    private let send: @Sendable (String) -> Void

    /// Talks to `$NOTIFY_SOCKET`.
    package convenience init() {
        // An unreachable manager cannot be told so; the watchdog is the way it notices.
        self.init { state in _ = unsafe sd_notify(0, state) }
    }

    /// - Parameter send: takes each message, lines of `NAME=value`.
    package init(sending send: @escaping @Sendable (String) -> Void) { self.send = send }

    /// Start-up is done, or a reload is.
    package func ready(status: String? = nil) {
        tell { machine in machine.ready(status: status) }
    }

    /// One line for `systemctl status`. Names of files may be in it: it is made safe, and a line that says nothing new
    /// is not sent.
    package func status(_ text: String) {
        tell { machine in machine.status(text) }
    }

    /// The configuration is being read again; ``ready(status:)`` ends it.
    package func reloading() {
        tell { machine in machine.reloading(at: SystemClock.monotonic()) }
    }

    /// The daemon is on its way out.
    package func stopping(status: String? = nil) {
        tell { machine in machine.stopping(status: status) }
    }

    /// Starting, reloading or stopping takes at least this much longer, counted from now.
    package func extendTimeout(by duration: Duration) {
        tell { machine in machine.extendTimeout(by: duration) }
    }

    /// The watchdog's ping.
    package func ping() { send("WATCHDOG=1") }

    /// Within which time the manager wants a ping; nil when it does not watch. See sd_watchdog_enabled(3).
    package static var watchdogInterval: Duration? {
        var microseconds: UInt64 = 0
        guard unsafe sd_watchdog_enabled(0, &microseconds) > 0, microseconds > 0 else { return nil }
        return .microseconds(Int64(clamping: microseconds))
    }

    private func tell(_ event: (inout NotifyMachine) -> String?) {
        // Sent under the lock, or two threads could swap their messages. sd_notify writes one datagram and does not wait.
        machine.withLock { machine in
            if let message = event(&machine) { send(message) }
        }
    }
}

private func microseconds(_ duration: Duration) -> Int64 {
    duration.components.seconds * 1_000_000 + duration.components.attoseconds / 1_000_000_000_000
}

/// Which message follows which.
struct NotifyMachine {
    enum Phase { case starting, running, reloading, stopping }

    private(set) var phase = Phase.starting
    private var lastStatus: String?

    mutating func ready(status: String?) -> String? {
        guard phase == .starting || phase == .reloading else { return nil }
        phase = .running
        return message("READY=1", status)
    }

    mutating func status(_ text: String) -> String? {
        let line = Self.line(text)
        guard line != lastStatus else { return nil }
        lastStatus = line
        return "STATUS=" + line
    }

    mutating func reloading(at monotonic: Duration) -> String? {
        guard phase == .running else { return nil }
        phase = .reloading
        return "RELOADING=1\nMONOTONIC_USEC=\(microseconds(monotonic))"
    }

    mutating func stopping(status: String?) -> String? {
        guard phase != .stopping else { return nil }
        phase = .stopping
        return message("STOPPING=1", status)
    }

    mutating func extendTimeout(by duration: Duration) -> String? {
        guard phase != .running, duration > .zero else { return nil }
        return "EXTEND_TIMEOUT_USEC=\(microseconds(duration))"
    }

    private mutating func message(_ first: String, _ status: String?) -> String {
        guard let status else { return first }
        let line = Self.line(status)
        lastStatus = line
        return first + "\nSTATUS=" + line
    }

    /// A newline in a file's name would be a message of its own.
    private static func line(_ text: String) -> String { SafeText.of(text, limit: 512) }
}
