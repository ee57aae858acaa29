import Dispatch
import Files
import Glibc
import PhotoModel
import Synchronization
import Testing

@testable import HTTP

@Suite("The server", .timeLimit(.minutes(1))) struct ServingTests {
    @Test func `answers requests one after the other on one connection`() async throws {
        try await withServer(respond: answering { text($0.method + " " + $0.target) }) { path, _ in
            let client = try RawClient(path)
            #expect(try client.get("/a").text == "GET /a")
            #expect(try client.get("/b%2F/c").text == "GET /b%2F/c")
            let head = try client.get("/a", method: "HEAD")
            #expect(head.status == 200)
            #expect(head.headers["content-length"] == "7")
            #expect(try client.get("/d").text == "GET /d")
        }
    }

    @Test func `decodes a path segment by segment, and a query pair by pair`() async throws {
        try await withServer(
            respond: answering { request in
                let segments = request.segments.map { $0.joined(separator: "|") } ?? "none"
                let query = request.query.map { $0.map { $0.key + "=" + $0.value }.joined(separator: "|") } ?? "none"
                return text(segments + " " + query)
            }
        ) { path, _ in
            let client = try RawClient(path)
            #expect(try client.get("/v1/a%2Fb/%C3%A9?x=1%262&y=a+b&z").text == "v1|a/b|é x=1&2|y=a b|z=")
            #expect(try client.get("/a%00b").text == "none ")
            #expect(try client.get("/a%zz").text == "none ")
            #expect(try client.get("/a%FF?q=%FF").text == "none none")
        }
    }

    @Test func `hands over a body byte for byte, and the peer as the kernel knows it`() async throws {
        let body = pattern(700_000)
        let seen = Mutex<[Request]>([])
        try await withServer(
            respond: answering { request in
                seen.withLock { $0.append(request) }
                return text("ok")
            }
        ) { path, _ in
            let client = try RawClient(path)
            client.send("POST /x HTTP/1.1\r\nHost: x\r\nX-One: a\r\nX-one: b\r\nContent-Length: \(body.count)\r\n\r\n")
            client.send(body)
            #expect(try client.answer().text == "ok")
        }
        let request = try #require(seen.withLock { $0.first })
        #expect(request.body == body)
        #expect(request.header("x-one") == "a, b")
        #expect(request.peer?.uid == getuid())
        #expect(request.peer?.gid == getgid())
        #expect(request.peer?.pid == getpid())
    }

    @Test func `is understood by curl`() async throws {
        let curl = "/usr/bin/curl"
        guard unsafe access(curl, X_OK) == 0 else { return print("skipped: curl (not installed)") }
        try await withServer(respond: answering { text($0.method + String(decoding: $0.body, as: UTF8.self)) }) {
            path, _ in
            let output = try run([
                curl, "-sS", "--unix-socket", path.shown, "-d", "hello", "http://photospool/x",
            ])
            #expect(output == "POSThello")
        }
    }

    @Test func `refuses a reply whose header would break out of its line`() async throws {
        try await withServer(
            respond: answering { _ in
                Reply(status: 200, headers: [("X-Name", "a\r\nX-Evil: 1")], body: .bytes(Array("x".utf8)))
            }
        ) { path, _ in
            let client = try RawClient(path)
            client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            #expect(client.receiveAll().isEmpty)
        }
    }
}

@Suite("What a client may take", .timeLimit(.minutes(1))) struct LimitTests {
    @Test(arguments: ["known", "chunked"])
    func `a body of 2 MB is refused with an answer`(form: String) async throws {
        try await withServer(respond: answering { _ in text("taken") }) { path, _ in
            let client = try RawClient(path)
            let body = pattern(2_000_000)
            if form == "known" {
                client.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: \(body.count)\r\n\r\n")
                client.send(body)
            } else {
                client.send("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
                client.send(String(body.count, radix: 16) + "\r\n")
                client.send(body)
                client.send("\r\n0\r\n\r\n")
            }
            #expect(try client.answer().status == 413)
            #expect(try RawClient(path).get("/").text == "taken")
        }
    }

    @Test func `a body of 1 GB is refused before it is sent`() async throws {
        try await withServer(respond: answering { _ in text("taken") }) { path, _ in
            let client = try RawClient(path)
            client.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000000\r\n\r\n")
            #expect(try client.answer().status == 413)
        }
    }

    @Test func `a body without end is cut off`() async throws {
        try await withServer(respond: answering { _ in text("taken") }) { path, _ in
            let client = try RawClient(path)
            client.send("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
            let chunk = Array("10000\r\n".utf8) + pattern(65_536) + Array("\r\n".utf8)
            var chunks = 0
            while chunks < 1000, client.send(chunk) { chunks += 1 }
            #expect(chunks < 100)  // 4 MiB and what the socket holds
        }
    }

    @Test func `headers over the limit are refused`() async throws {
        try await withServer(respond: answering { _ in text("taken") }) { path, _ in
            let client = try RawClient(path)
            let answer = try client.get("/", ["X-Long: " + String(repeating: "a", count: 60_000)])
            #expect([413, 414, 431].contains(answer.status))
        }
    }

    @Test func `half requests hold up nobody and end at the deadline`() async throws {
        var limits = HTTPServer.Limits()
        limits.arrival = .milliseconds(300)
        limits.tick = .milliseconds(50)
        try await withServer(limits: limits, respond: answering { _ in text("taken") }) { path, server in
            let halves = try (0..<50).map { _ in try RawClient(path) }
            for half in halves { half.send("GET / HTTP/1.1\r\nHost: x\r\nX-Slow: ") }
            #expect(try RawClient(path).get("/").text == "taken")
            for half in halves { #expect(half.receiveAll().isEmpty) }
        }
    }

    @Test func `connections over the limit wait their turn`() async throws {
        var limits = HTTPServer.Limits()
        limits.connections = 4
        try await withServer(limits: limits, respond: answering { _ in text("taken") }) { path, server in
            var clients = try (0..<6).map { _ in try RawClient(path) }
            for client in clients { client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n") }
            for client in clients.prefix(4) { #expect(try client.answer().text == "taken") }
            #expect(server.connectionCount <= 4)
            clients.removeFirst(2)
            for client in clients.suffix(2) { #expect(try client.answer().text == "taken") }
        }
    }

    @Test func `users who fill the house together do not keep others out`() async throws {
        var limits = HTTPServer.Limits()
        limits.connections = 32
        limits.connectionsPerUser = 16
        limits.patience = .milliseconds(20)
        limits.tick = .milliseconds(50)
        // In the order in which they are accepted, sixteen connections of each user.
        let accepted = Mutex<UInt32>(0)
        let next: @Sendable () -> Peer = {
            let number = accepted.withLock { count in
                defer { count += 1 }
                return count
            }
            return Peer(pid: 1, uid: 1001 + number / 16, gid: 100, groups: [])
        }
        try await withServer(
            limits: limits, peer: everybody(next), respond: answering { _ in text("taken") }
        ) { path, server in
            let held = try (0..<48).map { _ in try RawClient(path) }
            for client in held { client.send("GET / HTTP/1.1\r\nHost: x\r\nX-Slow: ") }
            #expect(try RawClient(path).get("/").text == "taken")
            _ = held
        }
    }

    @Test func `one user's 200 connections leave room for others`() async throws {
        let uid = Mutex<UInt32>(1001)
        try await withServer(
            peer: everybody { Peer(pid: 1, uid: uid.withLock { $0 }, gid: 100, groups: []) },
            respond: answering { _ in text("taken") }
        ) { path, server in
            let many = try (0..<200).map { _ in try RawClient(path) }
            // The surplus is closed: their reading ends although nothing was sent.
            for surplus in many[64...] { #expect(surplus.receive().isEmpty) }
            uid.withLock { $0 = 1002 }
            #expect(try RawClient(path).get("/").text == "taken")
            #expect(try many[0].get("/").text == "taken")
        }
    }
}

/// Runs a program and gives back what it printed.
func run(_ arguments: [String]) throws -> String {
    var pipes: [Int32] = [0, 0]
    try #require(unsafe pipe(&pipes) == 0)
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    unsafe posix_spawn_file_actions_adddup2(&actions, pipes[1], 1)
    unsafe posix_spawn_file_actions_addclose(&actions, pipes[0])
    var words: [UnsafeMutablePointer<CChar>?] = unsafe arguments.map { unsafe strdup($0) } + [nil]
    defer { for index in unsafe words.indices { unsafe free(words[index]) } }
    var child: pid_t = 0
    let failure = unsafe posix_spawn(&child, arguments[0], &actions, nil, &words, environ)
    close(pipes[1])
    defer { close(pipes[0]) }
    try #require(failure == 0)
    var output: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4096)
    while true {
        let count = unsafe read(pipes[0], &buffer, buffer.count)
        if count <= 0 { break }
        output += buffer.prefix(count)
    }
    var status: Int32 = 0
    unsafe waitpid(child, &status, 0)
    try #require(status == 0)
    return String(decoding: output, as: UTF8.self)
}
