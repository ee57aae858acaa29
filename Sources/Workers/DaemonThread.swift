import CLinux
import Glibc

/// A thread of our own with a name, for work that blocks: the cooperative threads are as few as the cores.
///
/// Every signal is blocked in it but those that a thread's own fault raises, so that SIGTERM, SIGHUP and the SIGIO of
/// leases reach only the thread that waits for them (signalfd, sigwait), and no call here is cut short by them.
package struct DaemonThread: ~Copyable, Sendable {
    private let thread: pthread_t

    /// Starts `body` at once.
    /// - Parameter name: what `ps -L` and a debugger show; 15 bytes are kept.
    package init(named name: String, _ body: @escaping @Sendable () -> Void) {
        guard let thread = Self.start(name, body) else {
            // Threads are made when the daemon starts; without them it is none.
            preconditionFailure("the system gives no more threads")
        }
        self.thread = thread
    }

    /// For one that is made later: nil when there is no memory for it, or TasksMax is reached.
    package init?(trying name: String, _ body: @escaping @Sendable () -> Void) {
        guard let thread = Self.start(name, body) else { return nil }
        self.thread = thread
    }

    private static func start(_ name: String, _ body: @escaping @Sendable () -> Void) -> pthread_t? {
        let start = unsafe Unmanaged.passRetained(Start(name: name, body: body))
        var thread = pthread_t()
        var before = sigset_t()
        var blocked = asynchronousSignals
        unsafe pthread_sigmask(SIG_SETMASK, &blocked, &before)  // inherited by the new thread from its first moment
        let code = unsafe pthread_create(
            &thread, nil,
            { argument in
                guard let argument = unsafe argument else { return nil }
                let start = unsafe Unmanaged<Start>.fromOpaque(argument).takeRetainedValue()
                unsafe threads_name_self(start.name)
                start.body()
                return nil
            }, start.toOpaque())
        unsafe pthread_sigmask(SIG_SETMASK, &before, nil)
        guard code != 0 else { return thread }
        unsafe start.release()
        return nil
    }

    deinit { pthread_detach(thread) }

    /// Returns once `body` has returned.
    package consuming func join() {
        let thread = self.thread
        discard self
        let code = pthread_join(thread, nil)
        precondition(code == 0, "a thread cannot wait for itself")
    }

    private final class Start: Sendable {
        let name: String
        let body: @Sendable () -> Void
        init(name: String, body: @escaping @Sendable () -> Void) {
            self.name = name
            self.body = body
        }
    }

    private static var asynchronousSignals: sigset_t {
        var signals = sigset_t()
        unsafe sigfillset(&signals)
        for own in [SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP, SIGSYS] { unsafe sigdelset(&signals, own) }
        return signals
    }
}
