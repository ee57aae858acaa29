import FakeService
import HTTPClient
import PhotoModel
import Testing

@Suite("A stream of events") struct EventStreamTests {
    @Test(.timeLimit(.minutes(1))) func `gives events however the bytes are cut`() throws {
        let parts = ["id: 7\nev", "ent: job\ndata: {\"a\"", ":1}\n\n: beat\n", "\ndata: x\ndata: y\n\n"]
        let service = try FakeService { _ in .events(parts, thenClose: true) }
        defer { service.stop() }
        let (events, end) = try readAll(service.socket)
        #expect(
            events == [
                ServerEvent(id: "7", name: "job", data: "{\"a\":1}"),
                ServerEvent(id: "7", name: "message", data: "x\ny"),
            ])
        #expect(end == .closed)
        #expect(service.requests[0].headers["accept"] == "text/event-stream")
        #expect(service.requests[0].headers["last-event-id"] == nil)
    }

    @Test func `takes up after the last event`() throws {
        let service = try FakeService { _ in .events(["data: x\n\n"], thenClose: true) }
        defer { service.stop() }
        _ = try readAll(service.socket, after: "41")
        #expect(service.requests[0].headers["last-event-id"] == "41")
    }

    @Test func `never lets an id of the peer become a header of ours`() throws {
        let service = try FakeService { _ in .events(["data: x\n\n"], thenClose: true) }
        defer { service.stop() }
        _ = try readAll(service.socket, after: "1\r\nX-Evil: 1")
        #expect(service.requests[0].headers["x-evil"] == nil)
    }

    @Test(.timeLimit(.minutes(1))) func `is dead without a sign of life`() throws {
        let service = try FakeService { _ in .events([": beat\n\n"], thenClose: false) }
        defer { service.stop() }
        let (events, end) = try readAll(service.socket, patience: .milliseconds(200))
        #expect(events.isEmpty)
        #expect(end == .timeout)
    }

    @Test func `says what came instead of a stream`() throws {
        let service = try FakeService { _ in .problem(403, "E_FORBIDDEN", "No.", recovery: "Ask.") }
        defer { service.stop() }
        let (events, end) = try readAll(service.socket)
        #expect(events.isEmpty)
        guard case .rejected(let reply) = end else {
            Issue.record("\(end)")
            return
        }
        #expect(reply.status == 403)
        #expect(reply.mediaType == "application/problem+json")
        #expect(String(decoding: reply.body, as: UTF8.self).contains("E_FORBIDDEN"))
    }

    @Test func `returns in time when nothing comes`() throws {
        let service = try FakeService { _ in .events([], thenClose: false) }
        defer { service.stop() }
        var stream = try EventStream(socket: Path(service.socket), target: "/v1/events")
        let start = ContinuousClock.now
        #expect(try stream.next(within: .milliseconds(50)).isEmpty)
        #expect(ContinuousClock.now - start < .seconds(20))
    }

    private func readAll(
        _ socket: String, after id: String? = nil, patience: Duration = .seconds(20)
    ) throws -> ([ServerEvent], HTTPFailure) {
        var stream = try EventStream(socket: Path(socket), target: "/v1/events", after: id, patience: patience)
        var events: [ServerEvent] = []
        while true {
            do throws(HTTPFailure) { events += try stream.next(within: .seconds(1)) } catch { return (events, error) }
        }
    }
}

@Suite("The event parser") struct EventParserTests {
    /// Examples of <https://html.spec.whatwg.org/multipage/server-sent-events.html>, section 9.2.6.
    @Test(arguments: [
        ("data: YHOO\ndata: +2\ndata: 10\n\n", ["YHOO\n+2\n10"]),
        (
            ": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event\n\n",
            ["first event", "second event", " third event"]
        ),
        ("data\n\ndata\ndata\n\ndata:", ["", "\n"]),
        ("data:test\n\ndata: test\n\n", ["test", "test"]),
        ("\u{FEFF}data: a\r\rdata: b\r\n\r\ndata: c\n\n", ["a", "b", "c"]),
        ("event: only a name\n\ndata: x\n\n", ["x"]),
    ])
    func `follows the standard's examples`(stream: String, data: [String]) throws {
        var whole = EventParser()
        #expect(try whole.feed(Array(stream.utf8)).map(\.data) == data)
        var byBytes = EventParser()
        #expect(try stream.utf8.flatMap { try byBytes.feed([$0]) }.map(\.data) == data)
    }

    @Test func `keeps an id until another comes, and forgets a name`() throws {
        var parser = EventParser()
        let events = try parser.feed(
            Array("id: 1\nevent: job\ndata: a\n\ndata: b\n\nid\ndata: c\n\nid: 9\0\ndata: d\n\n".utf8))
        #expect(events.map(\.id) == ["1", "1", "", ""])
        #expect(events.map(\.name) == ["job", "message", "message", "message"])
    }

    @Test func `gives up on a line or an event without end`() throws {
        let chunk = [UInt8](repeating: UInt8(ascii: "x"), count: 1 << 16)
        #expect(throws: HTTPFailure.tooBig) {
            var parser = EventParser()
            for _ in 0...16 { _ = try parser.feed(chunk) }
        }
        #expect(throws: HTTPFailure.tooBig) {
            var parser = EventParser()
            for _ in 0...16 { _ = try parser.feed(Array("data: ".utf8) + chunk + [0x0A]) }
        }
    }
}
