import Dispatch
import Glibc
import Synchronization

/// A service of canned answers at a Unix socket of its own, so that the client can be tested against any behaviour,
/// also such as the real service never shows. One thread per connection; ended by ``stop()``.
package final class FakeService: Sendable {
    package struct Request: Sendable {
        package var method: String
        package var target: String
        /// Names in lower case.
        package var headers: [String: String]
        package var body: [UInt8]
    }

    package enum Answer: Sendable {
        case reply(Int, type: String, body: String)
        /// Sent as it is; then the connection is closed, or held open without another byte.
        case raw([String], thenClose: Bool)

        package static func json(_ body: String, status: Int = 200) -> Answer {
            .reply(status, type: "application/json; charset=utf-8", body: body)
        }

        package static func problem(_ status: Int, _ code: String, _ detail: String, recovery: String) -> Answer {
            .reply(
                status, type: "application/problem+json",
                body: """
                    {"status":\(status),"code":"\(code)","title":"t","detail":"\(detail)","recovery":"\(recovery)"}
                    """)
        }

        /// A stream of server-sent events, each part sent by itself.
        package static func events(_ parts: [String], thenClose: Bool) -> Answer {
            let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
            return .raw([head] + parts, thenClose: thenClose)
        }
    }

    private struct State {
        var requests: [Request] = []
        var open: Set<Int32> = []
        var connections = 0
        var isStopped = false
    }

    package let socket: String
    private let folder: String
    private let listener: Int32
    private let state = Mutex(State())
    private let answer: @Sendable (Request) -> Answer

    /// - Parameter answer: called on the connection's thread.
    package init(_ answer: @escaping @Sendable (Request) -> Answer) throws {
        self.answer = answer
        folder = try makeTemporaryFolder()
        socket = folder + "/s"
        listener = try Self.listen(at: socket)
        DispatchQueue(label: "fake service").async { self.accept() }
    }

    package var requests: [Request] { state.withLock { $0.requests } }
    package var connections: Int { state.withLock { $0.connections } }

    /// Closes every connection and takes the socket away.
    package func stop() {
        state.withLock { state in
            guard !state.isStopped else { return }
            state.isStopped = true
            // Shut down, not closed: the threads that read from them close them.
            shutdown(listener, Int32(SHUT_RDWR))
            for descriptor in state.open { shutdown(descriptor, Int32(SHUT_RDWR)) }
        }
        unsafe unlink(socket)
        unsafe rmdir(folder)
    }

    private static func listen(at path: String) throws -> Int32 {
        let descriptor = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { buffer in
            for (index, byte) in path.utf8.enumerated() where index < buffer.count - 1 { unsafe buffer[index] = byte }
        }
        let bound = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard descriptor >= 0, bound == 0, Glibc.listen(descriptor, 16) == 0 else {
            throw FixtureFailure("bind", errno)
        }
        return descriptor
    }

    private func accept() {
        while true {
            let descriptor = Glibc.accept(listener, nil, nil)
            if descriptor < 0 { break }
            let isWanted = state.withLock { state in
                guard !state.isStopped else { return false }
                state.open.insert(descriptor)
                state.connections += 1
                return true
            }
            guard isWanted else {
                close(descriptor)
                break
            }
            DispatchQueue(label: "fake connection").async { self.serve(descriptor) }
        }
        close(listener)
    }

    private func serve(_ descriptor: Int32) {
        var buffer: [UInt8] = []
        loop: while let request = Self.read(descriptor, &buffer) {
            state.withLock { $0.requests.append(request) }
            switch answer(request) {
            case .reply(let status, let type, let body):
                let bytes = Array(body.utf8)
                let head = "HTTP/1.1 \(status) Fake\r\nContent-Type: \(type)\r\nContent-Length: \(bytes.count)\r\n\r\n"
                guard Self.send(Array(head.utf8) + bytes, descriptor) else { break loop }
            case .raw(let parts, let thenClose):
                for part in parts { guard Self.send(Array(part.utf8), descriptor) else { break loop } }
                if thenClose { break loop }
                var byte: UInt8 = 0
                while unsafe Glibc.read(descriptor, &byte, 1) > 0 {}  // held until the other side goes, or stop()
                break loop
            }
        }
        state.withLock { _ = $0.open.remove(descriptor) }
        close(descriptor)
    }

    private static func send(_ bytes: [UInt8], _ descriptor: Int32) -> Bool {
        var sent = 0
        while sent < bytes.count {
            let count = unsafe bytes.withUnsafeBytes {
                unsafe Glibc.send(
                    descriptor, $0.baseAddress.map { unsafe $0 + sent }, bytes.count - sent,
                    Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return false }
            sent += count
        }
        return true
    }

    private static func read(_ descriptor: Int32, _ buffer: inout [UInt8]) -> Request? {
        let end = Array("\r\n\r\n".utf8)
        func fill() -> Bool {
            var chunk = [UInt8](repeating: 0, count: 4096)
            let count = unsafe Glibc.read(descriptor, &chunk, chunk.count)
            guard count > 0 else { return false }
            buffer += chunk.prefix(count)
            return true
        }
        var headEnd: Int?
        while headEnd == nil {
            headEnd = buffer.indices.first { buffer[$0...].starts(with: end) }
            if headEnd == nil, !fill() { return nil }
        }
        guard let headEnd else { return nil }
        let lines = String(decoding: buffer[..<headEnd], as: UTF8.self).split(separator: "\r\n")
        buffer.removeFirst(headEnd + end.count)
        let words = lines.first?.split(separator: " ") ?? []
        guard words.count == 3 else { return nil }
        var headers: [String: String] = [:]
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: ":") else { continue }
            let value = line[line.index(after: colon)...].drop { $0 == " " }
            headers[line[..<colon].lowercased()] = String(value)
        }
        let length = headers["content-length"].flatMap { Int($0) } ?? 0
        while buffer.count < length { guard fill() else { return nil } }
        let body = Array(buffer.prefix(length))
        buffer.removeFirst(length)
        return Request(method: String(words[0]), target: String(words[1]), headers: headers, body: body)
    }
}
