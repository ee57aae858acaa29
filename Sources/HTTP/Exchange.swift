import CMicrohttpd

/// One request and its answer, from the first header to the last byte.
///
/// `@unchecked Sendable`: what is above the line belongs to libmicrohttpd's thread, ``phase`` to `Core.state`.
final class Exchange: @unchecked Sendable {
    let connection: Connection
    var request: Request
    /// Bytes of the body that came, kept or not.
    var received = 0
    /// What is being served, to be told when the connection is over.
    var stream: ByteStream?

    // ----

    enum Phase {
        case arriving
        /// Suspended, and being answered on another thread: the one phase in which somebody resumes the connection.
        case answering
        case answered(Reply)
        case abandoned
        /// Handed to libmicrohttpd.
        case sending
    }
    var phase = Phase.arriving

    init(connection: Connection, request: Request) {
        self.connection = connection
        self.request = request
    }
}
