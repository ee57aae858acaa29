import CMicrohttpd
import Glibc
import PhotoModel
import Synchronization

/// What the callbacks, the answering threads and `stop()` share.
///
/// The one rule against races: whether a connection is suspended is decided, and it is resumed, under ``state``'s lock.
/// So an answer that comes after the abandonment finds nothing to resume, and after ``abandon()`` nothing is suspended
/// any more, which MHD_stop_daemon demands.
final class Core: Sendable {
    struct State {
        var connections: [ObjectIdentifier: Connection] = [:]
        var perUser: [UInt32: Int] = [:]
        var exchanges: [ObjectIdentifier: Exchange] = [:]
        var streams: [ObjectIdentifier: ByteStream] = [:]
        /// New streams end at once.
        var isEnding = false
        /// Nothing is suspended any more, or will be.
        var isAbandoned = false
    }

    let state = Mutex(State())
    let limits: HTTPServer.Limits
    let tooBig: Reply
    let peer: @Sendable (Int32) -> Peer?
    let dispatch: @Sendable (Request, @escaping @Sendable () -> Void) -> Void
    let log: Log
    let respond: @Sendable (Request) -> Reply

    init(
        limits: HTTPServer.Limits, tooBig: Reply, peer: @escaping @Sendable (Int32) -> Peer?,
        dispatch: @escaping @Sendable (Request, @escaping @Sendable () -> Void) -> Void, log: @escaping Log,
        respond: @escaping @Sendable (Request) -> Reply
    ) {
        self.limits = limits
        self.tooBig = tooBig
        self.peer = peer
        self.dispatch = dispatch
        self.log = log
        self.respond = respond
    }

    var connectionCount: Int { state.withLock { $0.connections.count } }

    // MARK: Connections

    func opened(_ connection: Connection) {
        state.withLock { state in
            state.connections[ObjectIdentifier(connection)] = connection
            guard let uid = connection.peer?.uid else { return }
            state.perUser[uid, default: 0] += 1
            if state.perUser[uid, default: 0] > limits.connectionsPerUser {
                _ = shutdown(connection.socket, Int32(SHUT_RDWR))  // reads as its end: libmicrohttpd then closes it
            }
            makeRoom(in: &state)
        }
    }

    /// Near the limit, the connections that have asked for nothing go: the longest waiting first, of whoever has most.
    /// So several users who hold connections open together cannot keep others out.
    private func makeRoom(in state: inout State) {
        let surplus = state.connections.count - (limits.connections - limits.connections / 16)
        guard surplus > 0 else { return }
        let now = ContinuousClock.now
        var waiting = state.connections.values.compactMap { connection in
            connection.awaiting.flatMap { since in
                // Whoever has just come gets the time to say something.
                since.duration(to: now) > limits.patience
                    ? (connection, since, uid: connection.peer?.uid ?? .max) : nil
            }
        }
        waiting.sort { $0.1 < $1.1 }
        var counts = state.perUser
        for _ in 0..<surplus {
            let most = waiting.map { counts[$0.uid] ?? 0 }.max()
            guard let next = waiting.firstIndex(where: { (counts[$0.uid] ?? 0) == most }) else { return }
            let (connection, _, uid) = waiting.remove(at: next)
            counts[uid]? -= 1
            connection.awaiting = nil  // not twice
            _ = shutdown(connection.socket, Int32(SHUT_RDWR))
        }
    }

    func closed(_ connection: Connection) {
        state.withLock { state in
            state.connections[ObjectIdentifier(connection)] = nil
            guard let uid = connection.peer?.uid, let count = state.perUser[uid] else { return }
            state.perUser[uid] = count > 1 ? count - 1 : nil
        }
    }

    // MARK: Exchanges

    func began(_ exchange: Exchange) {
        state.withLock { $0.exchanges[ObjectIdentifier(exchange)] = exchange }
    }

    func finished(_ exchange: Exchange) {
        exchange.stream?.detach()
        let unsent: Reply? = state.withLock { state in
            state.exchanges[ObjectIdentifier(exchange)] = nil
            if let stream = exchange.stream { state.streams[ObjectIdentifier(stream)] = nil }
            exchange.connection.awaiting = .now
            if case .answered(let reply) = exchange.phase { return reply }
            return nil
        }
        unsent?.discard()
    }

    enum Next {
        case wait, close
        case send(Reply)
    }

    /// The request is complete, or its connection was resumed. Suspends it when the answer has yet to be made.
    func proceed(_ exchange: Exchange) -> Next {
        let (next, request): (Next, Request?) = state.withLock { state in
            switch exchange.phase {
            case .arriving:
                if state.isAbandoned { return (.close, nil) }
                exchange.phase = .answering
                exchange.connection.awaiting = nil
                unsafe MHD_suspend_connection(exchange.connection.handle)
                return (.wait, exchange.request)
            case .answering: return (.wait, nil)
            case .answered(let reply):
                exchange.phase = .sending
                return (.send(reply), nil)
            case .abandoned, .sending: return (.close, nil)
            }
        }
        if let request {
            exchange.request.body = []
            dispatch(request) { self.answer(exchange, with: self.respond(request)) }
        }
        return next
    }

    private func answer(_ exchange: Exchange, with reply: Reply) {
        let isWanted = state.withLock { state in
            guard case .answering = exchange.phase else { return false }
            exchange.phase = .answered(reply)
            unsafe MHD_resume_connection(exchange.connection.handle)
            return true
        }
        if !isWanted { reply.discard() }
    }

    func serve(_ stream: ByteStream, in exchange: Exchange) {
        exchange.stream = stream
        stream.attach(exchange.connection)
        let isEnding = state.withLock { state in
            state.streams[ObjectIdentifier(stream)] = stream
            return state.isEnding
        }
        if isEnding { stream.end() }
    }

    // MARK: Time

    func tick() {
        let now = ContinuousClock.now
        let streams = state.withLock { state in
            for connection in state.connections.values {
                guard let since = connection.awaiting, since.duration(to: now) > limits.arrival else { continue }
                // Under the lock it is still open: closed() comes before close(2).
                _ = shutdown(connection.socket, Int32(SHUT_RDWR))
            }
            makeRoom(in: &state)
            return Array(state.streams.values)
        }
        for stream in streams { stream.beat(after: limits.heartbeat) }
    }

    // MARK: The end

    func endStreams() {
        let streams = state.withLock { state in
            state.isEnding = true
            return Array(state.streams.values)
        }
        for stream in streams { stream.end() }
    }

    func waitUntilQuiet(for grace: Duration) {
        let deadline = ContinuousClock.now + grace
        // Only at the very end of the process, and for a moment: a condition variable would be more to get wrong.
        while ContinuousClock.now < deadline, state.withLock({ !$0.exchanges.isEmpty }) { usleep(2_000) }
    }

    func abandon() {
        state.withLock { state in
            state.isAbandoned = true
            for exchange in state.exchanges.values {
                guard case .answering = exchange.phase else { continue }
                exchange.phase = .abandoned
                unsafe MHD_resume_connection(exchange.connection.handle)
            }
        }
    }
}
