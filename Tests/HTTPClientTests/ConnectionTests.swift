import FakeService
import Glibc
import HTTPClient
import PhotoModel
import Testing

@Suite("A connection to a Unix socket") struct ConnectionTests {
    @Test func `sends what was asked and gives back what was answered`() throws {
        let service = try FakeService { _ in .reply(201, type: "Application/JSON; charset=utf-8", body: "{\"a\":1}") }
        defer { service.stop() }
        var connection = try Connection(socket: Path(service.socket))
        let reply = try connection.send(HTTPRequest(.post, "/v1/import?x=%20", body: Array("{}".utf8)))
        #expect(reply == HTTPReply(status: 201, mediaType: "application/json", body: Array("{\"a\":1}".utf8)))
        let request = try #require(service.requests.first)
        #expect(request.method == "POST")
        #expect(request.target == "/v1/import?x=%20")
        #expect(request.headers["host"] == "localhost")
        #expect(request.headers["content-type"] == "application/json")
        #expect(request.headers["accept"] == "application/json")
        #expect(request.headers["expect"] == nil)
        #expect(request.body == Array("{}".utf8))
    }

    @Test func `sends a POST without a body as an empty one, and DELETE by its name`() throws {
        let service = try FakeService { _ in .json("{}") }
        defer { service.stop() }
        var connection = try Connection(socket: Path(service.socket))
        _ = try connection.send(HTTPRequest(.post, "/v1/pause"))
        _ = try connection.send(HTTPRequest(.delete, "/v1/assets/x"))
        _ = try connection.send(HTTPRequest(.get, "/v1/status"))
        #expect(service.requests.map(\.method) == ["POST", "DELETE", "GET"])
        #expect(service.requests[0].headers["content-length"] == "0")
        #expect(service.requests[2].headers["content-length"] == nil)
    }

    @Test func `uses one connection for several calls`() throws {
        let service = try FakeService { .json("\"\($0.target)\"") }
        defer { service.stop() }
        var connection = try Connection(socket: Path(service.socket))
        for target in ["/a", "/b", "/c"] {
            #expect(try connection.send(HTTPRequest(.get, target)).body == Array("\"\(target)\"".utf8))
        }
        #expect(service.connections == 1)
    }

    @Test func `gives every status back as a reply`() throws {
        let service = try FakeService { _ in .json("{}", status: 503) }
        defer { service.stop() }
        var connection = try Connection(socket: Path(service.socket))
        let reply = try connection.send(HTTPRequest(.get, "/"))
        #expect(reply.status == 503)
        #expect(!reply.isSuccess)
    }

    @Test func `tells a missing socket from one that nobody listens at`() throws {
        let folder = try makeTemporaryFolder()
        defer { unsafe rmdir(folder) }
        #expect(throws: HTTPFailure.noSocket) { try ask(folder + "/absent") }
        #expect(throws: HTTPFailure.noSocket) { try ask(folder + "/absent/below") }
        // A socket file that outlived its server is a name that leads to no listener.
        let descriptor = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { buffer in
            for (index, byte) in (folder + "/stale").utf8.enumerated() { unsafe buffer[index] = byte }
        }
        let bound = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        #expect(bound == 0)
        close(descriptor)
        defer { unsafe unlink(folder + "/stale") }
        #expect(throws: HTTPFailure.refused) { try ask(folder + "/stale") }
    }

    @Test func `says when the socket may not be opened`() throws {
        guard geteuid() != 0 else {
            print("skipped: a socket without permission (root may open any)")
            return
        }
        let service = try FakeService { _ in .json("{}") }
        defer { service.stop() }
        #expect(unsafe chmod(service.socket, 0) == 0)
        #expect(throws: HTTPFailure.notPermitted) { try ask(service.socket) }
    }

    @Test(.timeLimit(.minutes(1))) func `gives up at the deadline`() throws {
        let service = try FakeService { _ in .raw([], thenClose: false) }
        defer { service.stop() }
        #expect(throws: HTTPFailure.timeout) {
            var connection = try Connection(socket: Path(service.socket))
            _ = try connection.send(HTTPRequest(.get, "/"), deadline: .milliseconds(100))
        }
    }

    @Test(.timeLimit(.minutes(1))) func `stops when the caller wants no more`() throws {
        let service = try FakeService { _ in .raw([], thenClose: false) }
        defer { service.stop() }
        #expect(throws: HTTPFailure.cancelled) {
            var connection = try Connection(socket: Path(service.socket))
            _ = try connection.send(HTTPRequest(.get, "/"), isCancelled: { true })
        }
    }

    @Test(arguments: ["", "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"half\":"])
    func `reports a peer that goes away before the end`(beginning: String) throws {
        let service = try FakeService { _ in .raw([beginning], thenClose: true) }
        defer { service.stop() }
        #expect(throws: HTTPFailure.closed) { try ask(service.socket) }
    }

    @Test func `keeps no more than the limit`() throws {
        let service = try FakeService { _ in .json(String(repeating: " ", count: 1001)) }
        defer { service.stop() }
        var connection = try Connection(socket: Path(service.socket))
        #expect(throws: HTTPFailure.tooBig) { try connection.send(HTTPRequest(.get, "/"), limit: 1000) }
        #expect(try connection.send(HTTPRequest(.get, "/"), limit: 1001).body.count == 1001)
    }

    @Test func `refuses a path that no socket can have`() {
        for path in ["", "/" + String(repeating: "x", count: 107)] {
            #expect { try ask(path) } throws: { error in
                guard case .other? = error as? HTTPFailure else { return false }
                return true
            }
        }
    }

    private func ask(_ socket: String) throws {
        var connection = try Connection(socket: Path(socket))
        _ = try connection.send(HTTPRequest(.get, "/"))
    }
}

@Suite("A request's target") struct TargetTests {
    @Test func `escapes all but unreserved characters`() {
        // RFC 3986, section 2.3, and UTF-8 bytes as its section 2.5 has them.
        #expect(HTTPRequest.escaped("aZ09-._~") == "aZ09-._~")
        #expect(HTTPRequest.escaped("a b/c&d=é?#%+") == "a%20b%2Fc%26d%3D%C3%A9%3F%23%25%2B")
    }

    @Test func `leaves out what has no value`() {
        #expect(HTTPRequest.target("/v1/jobs", query: [("state", nil)]) == "/v1/jobs")
        #expect(
            HTTPRequest.target("/v1/jobs", query: [("drop", "a&b"), ("state", nil), ("limit", "5")])
                == "/v1/jobs?drop=a%26b&limit=5")
    }
}
