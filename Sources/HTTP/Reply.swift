package import Files

/// What goes back.
package struct Reply: Sendable {
    package enum Body: Sendable {
        case bytes([UInt8])
        /// `length` bytes of a file from `offset`, by sendfile(2).
        case file(OpenFile, offset: Int64, length: Int64)
        /// Whatever is sent into the stream, until it ends.
        case stream(ByteStream)
    }

    package var status: Int
    package var headers: [(name: String, value: String)]
    package var body: Body

    package init(status: Int, headers: [(name: String, value: String)] = [], body: Body = .bytes([])) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    package init(status: Int, mediaType: String, _ bytes: [UInt8]) {
        self.init(status: status, headers: [("Content-Type", mediaType)], body: .bytes(bytes))
    }
}

extension Reply {
    /// It will never be sent: whoever fills its stream is to know.
    func discard() {
        if case .stream(let stream) = body { stream.detach() }
    }
}
