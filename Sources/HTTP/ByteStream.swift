import CMicrohttpd
import Glibc
import Synchronization

/// A reply without a known end: bytes sent from any thread go to one client, in order.
///
/// The buffer is bounded. A client that reads slower than bytes are sent loses its connection, so that it costs neither
/// memory nor anybody else's time; it comes back with where it left off.
package final class ByteStream: Sendable {
    private struct State {
        var pending: [UInt8] = []
        /// How much of `pending` libmicrohttpd has taken.
        var taken = 0
        var hasEnded = false
        var wasCut = false
        /// While libmicrohttpd serves the stream: from attach to detach, both on its thread.
        var connection: Connection?
        /// Only while ``connection`` is suspended by the reader, waiting for bytes.
        var isSuspended = false
        var lastSent = ContinuousClock.now
    }

    private let state = Mutex(State())
    private let limit: Int
    private let heartbeat: [UInt8]
    private let onClose: @Sendable () -> Void

    /// - Parameters:
    ///   - limit: bytes that may wait for the client.
    ///   - heartbeat: sent when nothing else was for a while: the only way to learn that a silent client is gone, for
    ///     libmicrohttpd does not look at a suspended connection.
    ///   - onClose: called once the client is gone or the stream has been served to its end; must not wait.
    package init(
        limit: Int = 256 << 10, heartbeat: [UInt8] = [], onClose: @escaping @Sendable () -> Void = {}
    ) {
        self.limit = limit
        self.heartbeat = heartbeat
        self.onClose = onClose
    }

    /// - Returns: false once the stream is over; then the bytes went nowhere.
    @discardableResult
    package func send(_ bytes: [UInt8]) -> Bool {
        state.withLock { state in
            guard !state.hasEnded else { return false }
            if state.pending.count - state.taken + bytes.count > limit {
                Self.cut(&state)
                return false
            }
            state.pending += bytes
            state.lastSent = .now
            Self.wake(&state)
            return true
        }
    }

    /// The client gets what was sent until now, then the end.
    package func end() {
        state.withLock { state in
            state.hasEnded = true
            Self.wake(&state)
        }
    }

    package var isOpen: Bool { state.withLock { !$0.hasEnded } }

    /// What was sent and not yet taken.
    var waiting: [UInt8] { state.withLock { Array($0.pending[$0.taken...]) } }

    /// Sends the heartbeat if nothing was sent for `interval`.
    func beat(after interval: Duration) {
        let isDue = state.withLock { !$0.hasEnded && $0.lastSent.duration(to: .now) >= interval }
        if isDue { send(heartbeat) }
    }

    // Resuming and shutting down happen under the lock although both are system calls: only so is it certain that the
    // connection is still suspended, or its socket still open. Neither waits.

    private static func wake(_ state: inout State) {
        guard state.isSuspended, let connection = state.connection else { return }
        state.isSuspended = false
        unsafe MHD_resume_connection(connection.handle)
    }

    private static func cut(_ state: inout State) {
        state.hasEnded = true
        state.wasCut = true
        state.pending = []
        state.taken = 0
        if let connection = state.connection { _ = shutdown(connection.socket, Int32(SHUT_RDWR)) }
        wake(&state)
    }
}

/// What libmicrohttpd's thread calls.
extension ByteStream {
    func attach(_ connection: Connection) { state.withLock { $0.connection = connection } }

    /// The connection is over; it must not be touched after this returns.
    func detach() {
        state.withLock { state in
            state.connection = nil
            state.isSuspended = false
            state.hasEnded = true
            state.pending = []
            state.taken = 0
        }
        onClose()
    }

    /// Copies what waits, or suspends the connection and returns 0; MHD_ContentReaderCallback.
    @unsafe func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        state.withLock { state in
            let waiting = state.pending.count - state.taken
            if waiting > 0 {
                let count = min(waiting, buffer.count)
                let part = state.pending[state.taken..<state.taken + count]
                unsafe buffer.copyBytes(from: part)
                state.taken += count
                if state.taken == state.pending.count {
                    state.pending.removeAll(keepingCapacity: state.pending.capacity <= 16 << 10)
                    state.taken = 0
                }
                return count
            }
            if state.hasEnded { return state.wasCut ? shim_end_with_error : shim_end_of_stream }
            guard let connection = state.connection else { return shim_end_with_error }
            state.isSuspended = true
            unsafe MHD_suspend_connection(connection.handle)
            return 0
        }
    }
}
