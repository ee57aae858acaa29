/// A request that has arrived whole.
package struct Request: Sendable {
    /// As sent: `GET`, `HEAD`, `POST`…
    package var method: String
    /// The path as sent, escapes and all: for the log, never for finding anything.
    package var target: String
    /// The parts of the path between slashes, percent-decoded each by itself, so that `%2F` never separates. Nil when an
    /// escape is broken, decodes to NUL, or is not UTF-8.
    package var segments: [String]?
    /// Decoded `?key=value` pairs in their order; nil when one cannot be decoded.
    package var query: [(key: String, value: String)]?
    /// Names in lower case.
    package var headers: [String: String]
    package var body: [UInt8]
    /// Nil on a connection whose other end has no credentials.
    package var peer: Peer?

    package init(
        method: String, target: String, query: [(key: String, value: String)]? = [], headers: [String: String] = [:],
        body: [UInt8] = [], peer: Peer? = nil
    ) {
        self.method = method
        self.target = target
        segments = Self.segments(of: target)
        self.query = query
        self.headers = headers
        self.body = body
        self.peer = peer
    }

    package func header(_ name: String) -> String? { headers[name] }

    private static func segments(of target: String) -> [String]? {
        guard target.utf8.first == UInt8(ascii: "/") else { return nil }
        var segments: [String] = []
        for part in target.utf8.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
            guard let segment = percentDecoded(part) else { return nil }
            segments.append(segment)
        }
        return segments
    }
}

/// Text with its `%XX` escapes taken back (RFC 3986, section 2.1); nil when that is not clean text.
func percentDecoded(_ text: some Sequence<UInt8>) -> String? {
    var bytes: [UInt8] = []
    var rest = text.makeIterator()
    while let byte = rest.next() {
        guard byte == UInt8(ascii: "%") else {
            bytes.append(byte)
            continue
        }
        guard let high = rest.next().flatMap(hexadecimal), let low = rest.next().flatMap(hexadecimal) else {
            return nil
        }
        bytes.append(high << 4 | low)
    }
    guard !bytes.contains(0) else { return nil }
    return String(validating: bytes, as: UTF8.self)
}

private func hexadecimal(_ digit: UInt8) -> UInt8? {
    switch digit {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
    default: nil
    }
}
