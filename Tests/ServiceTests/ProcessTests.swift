import Files
import Glibc
import PhotoModel
import Testing

@testable import Service

@Suite("A process", .timeLimit(.minutes(1))) struct ProcessTests {
    @Test(arguments: [
        ("trap", [SIGILL, SIGTRAP]), ("abort", [SIGABRT]), ("null", [SIGSEGV]), ("overflow", [SIGSEGV]),
    ])
    func `that dies of its own fault leaves a mark and dies as it would have`(way: String, signals: [Int32]) throws {
        try withTemporaryFolder { folder in
            let probe = try Probe(["crash", (folder / "crashed").shown, way])
            let ending = probe.ending()
            #expect(signals.contains(-ending), "ended with \(ending)")
            let mark = try CrashMark(at: folder / "crashed")
            #expect(mark.lastSignal == -ending)
            try mark.clear()
            let cleared = try CrashMark(at: folder / "crashed")
            #expect(cleared.lastSignal == nil)
        }
    }

    @Test(arguments: [("kill", -SIGKILL), ("end", 0)])
    func `that is killed or ends leaves no mark`(way: String, expected: Int32) throws {
        try withTemporaryFolder { folder in
            let probe = try Probe(["crash", (folder / "crashed").shown, way])
            #expect(probe.ending() == expected)
            let mark = try CrashMark(at: folder / "crashed")
            #expect(mark.lastSignal == nil)
        }
    }

    @Test func `tells its manager through the socket, one state after the other`() throws {
        try withTemporaryFolder { folder in
            let socket = try NotifySocket(at: folder / "notify")
            var probe = try Probe(
                ["notify"], environment: ["NOTIFY_SOCKET": (folder / "notify").shown, "WATCHDOG_USEC": "2500000"])
            #expect(probe.line() == "watchdog 2.5 seconds")
            #expect(socket.message() == "READY=1\nSTATUS=Waiting.")
            #expect(socket.message() == "STATUS=Importing evil\u{FFFD}STOPPING=1")
            let reloading = socket.message().split(separator: "\n")
            #expect(reloading.first == "RELOADING=1")
            let stamp = try #require(reloading.last?.split(separator: "=").last.flatMap { Int64($0) })
            let now = SystemClock.monotonic().components.seconds
            #expect((now - 60...now).contains(stamp / 1_000_000))
            #expect(socket.message() == "READY=1")
            #expect(socket.message() == "STOPPING=1\nSTATUS=Done.")
            #expect(probe.ending() == 0)
        }
    }

    @Test func `without a manager tells nobody and is not watched`() throws {
        var probe = try Probe(["notify"])
        #expect(probe.lines() == ["watchdog off"])
        #expect(probe.ending() == 0)
    }

    @Test func `takes signals as orders`() throws {
        var probe = try Probe(["signals"])
        #expect(probe.line() == "listening")
        probe.send(SIGHUP)
        #expect(probe.line() == "reload")
        probe.send(SIGIO)
        probe.send(SIGPIPE)
        probe.send(SIGTERM)
        #expect(probe.line() == "stop")
        #expect(probe.ending() == 0)
    }

    @Test func `is not handed sockets that are for another one`() throws {
        var probe = try Probe(["sockets"], environment: ["LISTEN_FDS": "1", "LISTEN_PID": "1"])
        #expect(probe.lines() == ["control -1", "again -1", "announced no"])
        #expect(probe.ending() == 0)
    }

    @Test func `takes a socket it was handed once, by its name`() throws {
        let listening = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        defer { _ = close(listening) }
        var probe = try Probe(["sockets"], activatedBy: listening)
        #expect(probe.lines() == ["control 3", "again -1", "announced no"])
        #expect(probe.ending() == 0)
    }

    @Test(arguments: [
        ([:], "warning: A file\u{FFFD}was odd. CODE=E_CORRUPT PATH=\"/a b/\u{FFFD}c\""),
        (["INVOCATION_ID": "1"], "<4>A file\u{FFFD}was odd. CODE=E_CORRUPT PATH=\"/a b/\u{FFFD}c\""),
        // Standard error is a pipe here, and no journal.
        (
            ["INVOCATION_ID": "1", "JOURNAL_STREAM": "8:1"],
            "<4>A file\u{FFFD}was odd. CODE=E_CORRUPT PATH=\"/a b/\u{FFFD}c\""
        ),
    ])
    func `logs where it is read`(environment: [String: String], expected: String) throws {
        var probe = try Probe(["log"], environment: environment, errorToOutput: true)
        #expect(probe.lines() == [expected])
        #expect(probe.ending() == 0)
    }
}
