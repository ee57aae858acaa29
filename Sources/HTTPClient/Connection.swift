package import PhotoModel

/// Calls over one Unix socket, one after the other; the connection is kept open between them.
package struct Connection: ~Copyable {
    package static let usualDeadline = Duration.seconds(20)

    private let socket: Path
    private var easy: EasyHandle

    /// Connects with the first call, not here.
    ///
    /// - Throws: ``HTTPFailure/other(_:)`` when `socket` is longer than unix(7) allows.
    package init(socket: Path) throws(HTTPFailure) {
        let socket = try checked(socket)
        let easy = try EasyHandle()
        self.socket = socket
        self.easy = easy
    }

    /// - Parameters:
    ///   - deadline: for the whole call, connecting included.
    ///   - limit: bytes of reply.
    ///   - isCancelled: asked at least once a second.
    package mutating func send(
        _ request: HTTPRequest, deadline: Duration = usualDeadline, limit: Int = 64 << 20,
        isCancelled: @escaping () -> Bool = { false }
    ) throws(HTTPFailure) -> HTTPReply {
        let receiver = Receiver(limit: limit, isCancelled: isCancelled)
        var headers = ["Accept: application/json"]
        if request.body != nil { headers.append("Content-Type: application/json") }
        try easy.prepare(request, socket: socket, headers: headers, deadline: deadline, receiver: receiver)
        if let failure = easy.perform() { throw failure }
        return HTTPReply(
            status: easy.status, mediaType: easy.mediaType, body: receiver.drain(), ownHeaders: easy.ownHeaders)
    }
}

/// sun_path of unix(7) holds 107 bytes and a NUL.
func checked(_ socket: Path) throws(HTTPFailure) -> Path {
    guard socket.bytes.count <= 107 else { throw .other("the socket's path is longer than 107 bytes") }
    guard !socket.isEmpty else { throw .other("the socket's path is empty") }
    return socket
}
