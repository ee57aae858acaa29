import ControlAPI
import Dispatch
import Files
import Glibc
import PhotoModel
import Store
import Synchronization
import Testing

@testable import Control
@testable import HTTP

/// What waits for a reader that has not come yet.
private func drained(_ stream: ByteStream) -> String { String(decoding: stream.waiting, as: UTF8.self) }

@Suite("The events", .timeLimit(.minutes(1))) struct EventTests {
    /// What a stream holds for its reader, taken apart as a client does.
    private struct Told: Equatable {
        var id: UInt64?
        var name: String
        var data: String
    }

    /// Follows over a real socket until `count` events have come.
    private func follow(
        _ desk: Desk, last: UInt64? = nil, count: Int, then publish: (EventHub) -> Void = { _ in }
    ) throws -> [Told] {
        let path = desk.folder / "control.sock"
        let queue = DispatchQueue(label: "test.control", attributes: .concurrent)
        let server = try ControlServer(
            at: .path(path, mode: 0o600, gid: nil), door: desk.door, dispatch: { _, work in queue.async(execute: work) }
        )
        defer { server.stop() }
        let client = try Client(path)
        client.send(
            "GET /v1/events HTTP/1.1\r\nHost: x\r\n" + (last.map { "Last-Event-ID: \($0)\r\n" } ?? "") + "\r\n")
        var text = client.receive(until: "retry: 2000\n\n", after: "")
        publish(desk.hub)
        var events: [Told] = []
        while true {
            events = Self.parse(text)
            if events.count >= count { return events }
            let longer = client.receive(until: "\n\n", after: text)
            try #require(longer.count > text.count, "the stream ended")
            text = longer
        }
    }

    private static func parse(_ text: String) -> [Told] {
        var events: [Told] = []
        // Chunk sizes stand on lines of their own and are no fields.
        for block in text.split(separator: "\n\n", omittingEmptySubsequences: true).map(String.init) {
            var told = Told(name: "", data: "")
            for line in block.split(whereSeparator: { $0 == "\n" || $0 == "\r\n" }) {
                if line.hasPrefix("id: ") { told.id = UInt64(line.dropFirst(4)) }
                if line.hasPrefix("event: ") { told.name = String(line.dropFirst(7)) }
                if line.hasPrefix("data: ") { told.data = String(line.dropFirst(6)) }
            }
            if !told.name.isEmpty, text.contains(told.data + "\n\n") { events.append(told) }
        }
        return events
    }

    private func job(_ id: Job.ID, _ state: JobState) -> SpoolEvent {
        .job(id: id, batch: 1, drop: "card", state: state, problem: nil, asset: nil)
    }

    @Test func `come in order with growing ids and JSON on one line`() throws {
        let desk = try Desk()
        desk.daemon.withLock { $0.reasons = [Problem(.libraryFull, "Full.", todo: "Free space.")] }
        let events = try follow(desk, count: 3) { hub in
            hub.publish(job(1, .copying))
            hub.publish(.state(.paused))
            hub.publish(job(1, .previewing))
        }
        #expect(events.map(\.name) == ["job", "state", "job"])
        #expect(
            events[0].data
                == #"{"asset_id":null,"batch_id":1,"drop":"card","error":null,"id":1,"state":"copying"}"#)
        #expect(
            events[1].data
                == #"{"reasons":[{"code":"E_LIBRARY_FULL","detail":"Full.","recovery":"Free space.","title":"Library is full","transient":true}],"state":"paused"}"#
        )
        let ids = events.compactMap(\.id)
        #expect(ids.count == 3 && ids == [ids[0], ids[0] + 1, ids[0] + 2])
    }

    @Test func `a job's end brings its batch`() throws {
        let desk = try Desk()
        let ids = try desk.enqueue("a.jpg", "b.jpg")
        let batch = try #require(try desk.store.job(ids[0])?.batch)
        let events = try follow(desk, count: 2) { hub in
            hub.publish(.job(id: ids[0], batch: batch, drop: "card", state: .failed, problem: nil, asset: nil))
        }
        #expect(events.map(\.name) == ["job", "batch"])
        #expect(try JSON.decode(BatchBody.self, from: Array(events[1].data.utf8)).total == 2)
    }

    @Test func `missed ones are made up for by their id, over the socket too`() throws {
        let desk = try Desk()
        for id in 1...3 { desk.hub.publish(job(Int64(id), .copying)) }
        let all = try #require(desk.hub.subscribe(after: 0, user: nil))
        let newest = try #require(
            drained(all).split(separator: "\n").last { $0.hasPrefix("id: ") }.flatMap { UInt64($0.dropFirst(4)) })
        let events = try follow(desk, last: newest - 2, count: 2)
        #expect(events.map(\.id) == [newest - 1, newest])
        #expect(events[1].data.contains(#""id":3"#))
    }

    @Test func `that nobody can make up for are said to be lost`() {
        let hub = EventHub(limits: .init(kept: 3, followersPerUser: 20, waiting: 4096), now: 1)
        for id in 1...5 { hub.publish(job(Int64(id), .copying)) }
        func told(after id: UInt64) -> String { hub.subscribe(after: id, user: nil).map(drained) ?? "none" }
        let start: UInt64 = 1 << 10
        #expect(told(after: start + 5).components(after: #""id":"#) == [])
        #expect(!told(after: start + 5).contains("reset"))
        #expect(told(after: start + 2).components(after: #""id":"#) == ["3", "4", "5"])
        #expect(told(after: start + 1).contains("id: \(start + 5)\nevent: reset\ndata: {}\n\n"))
        #expect(told(after: start + 6).contains("event: reset"))  // of a later run, with the clock set back
        #expect(told(after: 7).contains("event: reset"))  // of an earlier run
        #expect(told(after: .max).contains("event: reset"))
        // More than fits at once.
        let narrow = EventHub(limits: .init(kept: 100, followersPerUser: 2, waiting: 500), now: 1)
        for id in 1...5 { narrow.publish(job(Int64(id), .copying)) }
        #expect(narrow.subscribe(after: start + 1, user: nil).map(drained)?.contains("event: reset") == true)
    }

    @Test func `are followed only so many times by one user`() throws {
        let hub = EventHub(limits: .init(kept: 3, followersPerUser: 2, waiting: 4096), now: 1)
        let first = try #require(hub.subscribe(after: nil, user: 1))
        _ = try #require(hub.subscribe(after: nil, user: 1))
        #expect(hub.subscribe(after: nil, user: 1) == nil)
        #expect(hub.subscribe(after: nil, user: 2) != nil)
        first.end()
        #expect(hub.subscribe(after: nil, user: 1) != nil)
        #expect(hub.followerCount == 3)
    }

    @Test func `of progress are told at most five times a second, but never without the end`() throws {
        let hub = EventHub(limits: .init(kept: 5000, followersPerUser: 2, waiting: 4 << 20), now: 1)
        let stream = try #require(hub.subscribe(after: nil, user: 1))
        let start = ContinuousClock.now
        for done in 0...10_000 {
            hub.publish(
                .progress(
                    InFlightImport(
                        job: 1, batch: 1, phase: .copying, path: Path("/a"), bytesDone: Int64(done), bytesTotal: 10_000)
                ))
        }
        hub.publish(
            .progress(
                InFlightImport(
                    job: 1, batch: 1, phase: .previewing, path: Path("/a"), bytesDone: 0, bytesTotal: 10_000)))
        let seconds = Double((ContinuousClock.now - start).components.seconds) + 1
        let told = drained(stream)
        let count = told.components(after: "event: progress\ndata: {").count
        #expect(count >= 3 && Double(count) <= 3 + 5 * seconds)
        #expect(told.contains(#""bytes_done":10000"#))
        #expect(told.contains(#""phase":"previewing""#))
    }

    @Test func `end with the daemon, and a late follower gets none`() throws {
        let hub = EventHub()
        let stream = try #require(hub.subscribe(after: nil, user: 1))
        hub.end()
        #expect(!stream.isOpen)
        #expect(hub.subscribe(after: nil, user: 1)?.isOpen == false)
        hub.publish(.state(.stopping))
        #expect(hub.followerCount == 0)
    }
}

@Suite("The server on its socket", .timeLimit(.minutes(1))) struct ControlServerTests {
    @Test func `answers, refuses what is too big in JSON, and takes the socket away`() throws {
        let desk = try Desk()
        let path = desk.folder / "control.sock"
        let queue = DispatchQueue(label: "test.control", attributes: .concurrent)
        let server = try ControlServer(
            at: .path(path, mode: 0o660, gid: nil), door: desk.door, dispatch: { _, work in queue.async(execute: work) }
        )
        let client = try Client(path)
        client.send("GET /v1/status HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(client.receive(until: "}", after: "").hasPrefix("HTTP/1.1 200 "))
        let big = try Client(path)
        big.send("POST /v1/import HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000000\r\n\r\n")
        let refused = big.receive(until: "}", after: "")
        #expect(refused.hasPrefix("HTTP/1.1 413 "))
        #expect(refused.contains(#""code":"E_TOO_BIG""#))
        let problem = #expect(throws: Problem.self) {
            _ = try ControlServer(
                at: .path(path, mode: 0o660, gid: nil), door: desk.door,
                dispatch: { _, work in queue.async(execute: work) })
        }
        #expect(problem?.code == .locked)
        server.stop()
        #expect(throws: (any Error).self) { _ = try Client(path) }
        #expect(unsafe path.withCString { unsafe access($0, F_OK) } != 0)
    }
}
