import Dispatch
import Glibc
import PhotoModel
import Synchronization
import Testing

@testable import HTTP

@Suite("A stream", .timeLimit(.minutes(1))) struct StreamTests {
    private static let request = "GET /events HTTP/1.1\r\nHost: x\r\n\r\n"

    private func reply(_ stream: ByteStream) -> Reply {
        Reply(status: 200, headers: [("Content-Type", "text/event-stream")], body: .stream(stream))
    }

    @Test func `reaches the client as it is sent, and its end ends the answer`() async throws {
        let stream = ByteStream()
        stream.send(Array("data: first\n\n".utf8))
        try await withServer(respond: answering { [reply] _ in reply(stream) }) { path, _ in
            let client = try RawClient(path)
            client.send(Self.request)
            #expect(client.receive(until: "first\n\n").contains("Transfer-Encoding: chunked"))
            for number in 0..<1000 { #expect(stream.send(Array("data: \(number)\n\n".utf8))) }
            #expect(client.receive(until: "data: 999\n\n").contains("data: 998\n\n"))
            stream.end()
            #expect(client.receive(until: "0\r\n\r\n").hasSuffix("0\r\n\r\n"))
            #expect(!stream.send([1]))
        }
    }

    @Test func `cuts a client that does not read, and keeps no one else waiting`() async throws {
        let closed = DispatchSemaphore(value: 0)
        let stream = ByteStream(limit: 64 << 10, onClose: { closed.signal() })
        try await withServer(respond: answering { [reply] in $0.target == "/events" ? reply(stream) : text("taken") }) {
            path, _ in
            let client = try RawClient(path)
            client.send(Self.request)
            _ = client.receive(1)
            let bytes = pattern(4096)
            var sent = 0
            while stream.send(bytes), sent < 10_000 { sent += 1 }
            #expect(sent < 10_000)  // 40 MB would not fit into any socket
            #expect(closed.wait(timeout: .now() + 10) == .success)
            #expect(try RawClient(path).get("/").text == "taken")
        }
    }

    @Test func `learns by its heartbeat that a silent client is gone`() async throws {
        var limits = HTTPServer.Limits()
        limits.heartbeat = .milliseconds(50)
        limits.tick = .milliseconds(20)
        let closed = DispatchSemaphore(value: 0)
        let stream = ByteStream(heartbeat: Array(":\n\n".utf8), onClose: { closed.signal() })
        try await withServer(limits: limits, respond: answering { [reply] _ in reply(stream) }) { path, _ in
            do {
                let client = try RawClient(path)
                client.send(Self.request)
                #expect(client.receive(until: ":\n\n").contains(":\n\n"))
            }
            #expect(closed.wait(timeout: .now() + 10) == .success)
            #expect(!stream.isOpen)
        }
    }

    @Test func `of a HEAD request has no body and leaves the connection usable`() async throws {
        try await withServer(
            respond: answering { [reply] in $0.target == "/events" ? reply(ByteStream()) : text("taken") }
        ) {
            path, _ in
            let client = try RawClient(path)
            #expect(try client.get("/events", method: "HEAD").status == 200)
            #expect(try client.get("/").text == "taken")
        }
    }
}

@Suite("Stopping", .timeLimit(.minutes(1))) struct StopTests {
    @Test func `ends open streams and takes the socket away`() async throws {
        let stream = ByteStream()
        try await withServer(respond: answering { _ in Reply(status: 200, body: .stream(stream)) }) { path, server in
            let client = try RawClient(path)
            client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            stream.send([UInt8(ascii: "x")])
            _ = client.receive(until: "x\r\n")
            server.stop()
            #expect(client.receive(until: "0\r\n\r\n").hasSuffix("0\r\n\r\n"))
            #expect(client.receive().isEmpty)
            #expect(!stream.isOpen)
            #expect(unsafe path.withCString { unsafe access($0, F_OK) } != 0)
            server.stop()
        }
    }

    @Test func `does not wait for an answer that never comes, and survives it when it does`() async throws {
        let arrived = DispatchSemaphore(value: 0)
        let letGo = DispatchSemaphore(value: 0)
        let answered = DispatchSemaphore(value: 0)
        var limits = HTTPServer.Limits()
        limits.grace = .milliseconds(50)
        try await withServer(
            limits: limits,
            respond: answering { _ in
                arrived.signal()
                letGo.wait()
                defer { answered.signal() }
                return text("late")
            }
        ) { path, server in
            let client = try RawClient(path)
            client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            #expect(arrived.wait(timeout: .now() + 10) == .success)
            server.stop()
            #expect(client.receiveAll().isEmpty)
            letGo.signal()
            #expect(answered.wait(timeout: .now() + 10) == .success)
        }
    }

    @Test(arguments: 0..<20) func `at any moment of many requests and streams is clean`(round: Int) async throws {
        var limits = HTTPServer.Limits()
        limits.grace = .milliseconds(round % 2 == 0 ? 0 : 20)
        let streams = Mutex<[ByteStream]>([])
        try await withServer(
            limits: limits,
            respond: answering { request in
                guard request.target == "/events" else { return text("taken") }
                let stream = ByteStream(limit: 1 << 20)
                streams.withLock { $0.append(stream) }
                return Reply(status: 200, body: .stream(stream))
            }
        ) { path, server in
            let clients = try (0..<20).map { _ in try RawClient(path) }
            let isOver = Mutex(false)
            let work = DispatchGroup()
            let queue = DispatchQueue(label: "test.clients", attributes: .concurrent)
            for (number, client) in clients.enumerated() {
                queue.async(group: work) {
                    let target = number % 2 == 0 ? "/events" : "/"
                    client.send("GET \(target) HTTP/1.1\r\nHost: x\r\n\r\n")
                    while !client.receive().isEmpty {
                        if target == "/" { client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n") }
                    }
                }
            }
            queue.async(group: work) {
                while !isOver.withLock({ $0 }) {
                    for stream in streams.withLock({ $0 }) { stream.send(Array("data: x\n\n".utf8)) }
                    usleep(100)
                }
            }
            usleep(UInt32(round * 1000))  // the moment is what varies; nothing is waited for
            server.stop()
            isOver.withLock { $0 = true }
            work.wait()
        }
    }
}
