internal import Glibc
internal import Workers

/// Signals as calls on one thread of their own, instead of something that cuts into any of them.
package enum SignalRoom {
    package enum Order: Sendable {
        /// SIGTERM or SIGINT: stop.
        case stop
        /// SIGHUP: read the configuration again.
        case reload
    }

    /// Blocks what is waited for, and SIGIO (leases tell by it) and SIGPIPE (write(2) says EPIPE instead), in this
    /// thread and all that it starts. The first thing a daemon does; children must unblock before exec.
    package static func blockAll() {
        var signals = set([SIGTERM, SIGINT, SIGHUP, SIGIO, SIGPIPE])
        // Fails only for an unknown `how`.
        unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
    }

    /// From now on `body` is called for each order, one after the other, until the process ends. Several signals of one
    /// kind that come while it runs are one order.
    package static func listen(_ body: @escaping @Sendable (Order) -> Void) {
        _ = DaemonThread(named: "signals") {
            var waited = set([SIGTERM, SIGINT, SIGHUP])
            while true {
                var signal: Int32 = 0
                guard unsafe sigwait(&waited, &signal) == 0 else { continue }
                body(signal == SIGHUP ? .reload : .stop)
            }
        }
    }

    private static func set(_ numbers: [Int32]) -> sigset_t {
        var signals = sigset_t()
        unsafe sigemptyset(&signals)
        for number in numbers { unsafe sigaddset(&signals, number) }
        return signals
    }
}
