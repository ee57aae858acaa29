/// One accepted connection. Only numbers and a handle: who may use the handle, and when, is said where it is used.
///
/// `@unchecked Sendable`: nothing in it changes, and libmicrohttpd allows what other threads do with the handle, which is
/// to resume it while it is suspended.
@safe final class Connection: @unchecked Sendable {
    let handle: OpaquePointer
    let socket: Int32
    let peer: Peer?
    /// Since when a request has been awaited; nil while one is being answered. Guarded by `Core.state`.
    var awaiting: ContinuousClock.Instant?

    init(handle: OpaquePointer, socket: Int32, peer: Peer?) {
        unsafe self.handle = handle
        self.socket = socket
        self.peer = peer
        awaiting = .now
    }
}
