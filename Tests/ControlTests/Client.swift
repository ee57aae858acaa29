import CMicrohttpd
import Files
import Glibc
import HTTP
import PhotoModel

@testable import Control

/// Sends exactly what it is told to and reads text.
final class Client: Sendable {
    private let socket: Int32

    init(_ path: Path) throws {
        socket = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        let length = unsafe shim_unix_address(path.bytes, path.bytes.count, &address)
        // A server that never answers fails the test instead of hanging it.
        var patience = timeval(tv_sec: 20, tv_usec: 0)
        unsafe setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        guard unsafe shim_connect(socket, &address, length) == 0 else {
            let failure = Errno.last
            close(socket)
            throw failure
        }
    }

    deinit { close(socket) }

    func send(_ text: String) {
        let bytes = Array(text.utf8)
        _ = unsafe Glibc.send(socket, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    }

    /// Reads on until what is new contains `text`, or the end; gives back everything since `before`.
    func receive(until text: String, after before: String) -> String {
        var all = before
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = unsafe recv(socket, &buffer, buffer.count, 0)
            if count <= 0 { return all }
            let part = String(decoding: buffer.prefix(count), as: UTF8.self)
            all += part
            if all.contains(text), part.contains(text) || before.isEmpty { return all }
        }
    }
}

extension String {
    /// For each occurrence of `mark`, the word that follows it.
    func components(after mark: String) -> [String] {
        var words: [String] = []
        var rest = self[...]
        while let found = rest.firstRange(of: mark) {
            rest = rest[found.upperBound...]
            words.append(String(rest.prefix { $0 != "," && $0 != "}" }))
        }
        return words
    }
}
