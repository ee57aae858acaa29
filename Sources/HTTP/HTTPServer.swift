import CMicrohttpd
import Files
import Glibc
package import PhotoModel
import Synchronization

/// Serves requests from a listening socket until it is stopped.
///
/// libmicrohttpd has one thread, and it never waits: a request that has arrived whole is suspended, answered on a thread
/// of the caller's, and resumed. Everything a client can do is bounded in number, size and time (``Limits``).
package final class HTTPServer: Sendable {
    /// What one client, or all of them together, may take.
    package struct Limits: Sendable {
        /// At the same time; further ones wait in the socket's backlog. Near it, connections that have asked for nothing
        /// for ``patience`` are closed.
        package var connections = 256
        /// Of one user at the same time; further ones are closed at once, so that others find room.
        package var connectionsPerUser = 64
        /// How long a connection may neither send nor receive.
        package var idle = Duration.seconds(30)
        /// How long a request may take to arrive, however busily.
        package var arrival = Duration.seconds(60)
        /// How long a connection may be open without a request when others want in.
        package var patience = Duration.seconds(1)
        /// Bytes of a request's body.
        package var body = 1 << 20
        /// A body over ``body`` is read on up to this many bytes, so that its sender gets to hear why it is refused.
        package var refusedBody = 4 << 20
        /// Bytes of memory of a connection: more than this in a request's line and headers is refused.
        package var headers = 32 << 10
        /// A stream on which nothing was sent for this long gets a heartbeat.
        package var heartbeat = Duration.seconds(15)
        /// How often ``arrival`` and ``heartbeat`` are looked at.
        package var tick = Duration.seconds(5)
        /// How long ``HTTPServer/stop()`` waits for answers that are on their way.
        package var grace = Duration.seconds(1)
        package init() {}
    }

    private let core: Core
    private let running: Mutex<Running?>

    /// What ``stop()`` takes apart. `@unchecked Sendable`: handed from init to stop through a mutex, used by one of them.
    @safe private struct Running: ~Copyable, @unchecked Sendable {
        let daemon: OpaquePointer
        let settings: UnsafeMutablePointer<shim_server>
        let socket: ListeningSocket
        let timekeeper: Timekeeper
    }

    /// - Parameters:
    ///   - tooBig: the answer to a request whose body is over the limit.
    ///   - peer: asks who is at the other end of a socket.
    ///   - dispatch: runs a closure on a thread that may wait, for this request.
    ///   - respond: called there, once for each request.
    package init(
        listening socket: consuming ListeningSocket, limits: Limits = Limits(), tooBig: Reply,
        peer: @escaping @Sendable (Int32) -> Peer? = { try? Peer(of: $0) },  // no credentials: no rights
        dispatch: @escaping @Sendable (Request, @escaping @Sendable () -> Void) -> Void, log: @escaping Log,
        respond: @escaping @Sendable (Request) -> Reply
    ) throws(Problem) {
        core = Core(limits: limits, tooBig: tooBig, peer: peer, dispatch: dispatch, log: log, respond: respond)
        let settings = UnsafeMutablePointer<shim_server>.allocate(capacity: 1)
        unsafe settings.initialize(to: callbacks(for: core))
        guard let daemon = unsafe withSignalsBlocked({ unsafe shim_start(settings, socket.descriptor.rawValue) }) else {
            let failure = Errno.last
            unsafe settings.deallocate()
            throw Problem(.config, "Could not serve the control socket: \(failure).")
        }
        let timekeeper = Timekeeper(every: limits.tick) { [core] in core.tick() }
        running = unsafe Mutex(
            Running(daemon: daemon, settings: settings, socket: socket, timekeeper: timekeeper))
    }

    deinit { stop() }

    /// Takes no more connections, ends every stream, gives answers under way a moment, and closes what is left. Then the
    /// socket is gone. Waits; calling it again does nothing.
    package func stop() {
        guard let running = running.withLock({ $0.take() }) else { return }
        running.timekeeper.stop()
        unsafe MHD_quiesce_daemon(running.daemon)  // the socket is ours and outlives the daemon, as it must
        core.endStreams()
        core.waitUntilQuiet(for: core.limits.grace)
        core.abandon()
        unsafe MHD_stop_daemon(running.daemon)
        unsafe running.settings.deallocate()
    }

    /// How many connections there are now.
    package var connectionCount: Int { core.connectionCount }
}

/// Threads inherit the mask: libmicrohttpd's must not be the one a signal meant for the daemon arrives at.
private func withSignalsBlocked<Result>(_ body: () -> Result) -> Result {
    var all = sigset_t()
    var before = sigset_t()
    unsafe sigfillset(&all)
    unsafe pthread_sigmask(SIG_SETMASK, &all, &before)
    defer { unsafe pthread_sigmask(SIG_SETMASK, &before, nil) }
    return body()
}
