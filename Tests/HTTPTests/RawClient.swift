import CMicrohttpd
import Files
import Glibc
import PhotoModel
import Testing

/// A client that sends exactly the bytes it is told to: half a request, too many of them, or none.
final class RawClient: Sendable {
    let socket: Int32

    init(_ path: Path) throws {
        let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        socket = Glibc.socket(AF_UNIX, type, 0)
        var address = sockaddr_un()
        let length = unsafe shim_unix_address(path.bytes, path.bytes.count, &address)
        try #require(length > 0)
        // A server that never answers fails the test instead of hanging it.
        var patience = timeval(tv_sec: 20, tv_usec: 0)
        let size = socklen_t(MemoryLayout<timeval>.size)
        unsafe setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &patience, size)
        unsafe setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &patience, size)
        guard unsafe shim_connect(socket, &address, length) == 0 else {
            let failure = Errno.last
            close(socket)
            throw failure
        }
    }

    deinit { close(socket) }

    /// - Returns: false when the server no longer takes bytes.
    @discardableResult
    func send(_ bytes: [UInt8]) -> Bool {
        var sent = 0
        while sent < bytes.count {
            let count = unsafe bytes[sent...].withUnsafeBytes { part in
                unsafe Glibc.send(socket, part.baseAddress, part.count, Int32(MSG_NOSIGNAL))
            }
            if count <= 0 { return false }
            sent += count
        }
        return true
    }

    @discardableResult
    func send(_ text: String) -> Bool { send(Array(text.utf8)) }

    /// Some bytes; empty at the end of the connection, however it came.
    func receive(_ limit: Int = 65_536) -> [UInt8] {
        var buffer = [UInt8](repeating: 0, count: limit)
        let count = unsafe buffer.withUnsafeMutableBytes { unsafe recv(socket, $0.baseAddress, $0.count, 0) }
        return count > 0 ? Array(buffer.prefix(count)) : []
    }

    /// Reads until the text so far contains `text`, or the end.
    func receive(until text: String) -> String {
        var bytes: [UInt8] = []
        while true {
            let part = receive()
            bytes += part
            let soFar = String(decoding: bytes, as: UTF8.self)
            if part.isEmpty || soFar.contains(text) { return soFar }
        }
    }

    func receiveAll() -> [UInt8] {
        var bytes: [UInt8] = []
        while true {
            let part = receive()
            if part.isEmpty { return bytes }
            bytes += part
        }
    }

    /// One answer with a length, read exactly to its end.
    func answer(isHead: Bool = false) throws -> Answer {
        var bytes: [UInt8] = []
        let end = Array("\r\n\r\n".utf8)
        var headEnd: Int?
        while headEnd == nil {
            let part = receive()
            try #require(!part.isEmpty, "the connection ended before the answer did")
            bytes += part
            headEnd = bytes.indices.prefix(16_384).first { bytes[$0...].starts(with: end) }
        }
        let lines = String(decoding: bytes[..<(headEnd ?? 0)], as: UTF8.self).split(separator: "\r\n")
        var headers: [String: String] = [:]
        for line in lines.dropFirst() {
            let parts = line.split(separator: ":", maxSplits: 1)
            headers[parts[0].lowercased()] = parts.count > 1 ? String(parts[1].drop { $0 == " " }) : ""
        }
        var body = Array(bytes[((headEnd ?? 0) + 4)...])
        let length = isHead ? 0 : Int(headers["content-length"] ?? "0") ?? 0
        while body.count < length {
            let part = receive()
            try #require(!part.isEmpty, "the body ended early")
            body += part
        }
        let words = lines.first?.split(separator: " ") ?? []
        let status = words.count > 1 ? Int(words[1]) : nil
        return Answer(
            status: try #require(
                status, "no answer: \(String(decoding: bytes.prefix(200), as: UTF8.self).debugDescription)"),
            headers: headers, body: body)
    }

    func get(_ target: String, _ headers: [String] = [], method: String = "GET") throws -> Answer {
        send(
            ([method + " " + target + " HTTP/1.1", "Host: photospool"] + headers).joined(separator: "\r\n") + "\r\n\r\n"
        )
        return try answer(isHead: method == "HEAD")
    }
}

struct Answer {
    var status: Int
    var headers: [String: String]
    var body: [UInt8]
    var text: String { String(decoding: body, as: UTF8.self) }
}
