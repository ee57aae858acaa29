import PhotoModel
import Synchronization
import Testing

@testable import Service

/// What was sent or written, in order.
final class Recorder<Element: Sendable>: Sendable {
    private let elements = Mutex<[Element]>([])
    func add(_ element: Element) { elements.withLock { $0.append(element) } }
    var all: [Element] { elements.withLock { $0 } }
}

@Suite("What the manager is told") struct NotifyTests {
    private func sent(_ calls: (ServiceManager) -> Void) -> [String] {
        let messages = Recorder<String>()
        calls(ServiceManager(sending: { messages.add($0) }))
        return messages.all
    }

    @Test func `a late ready does not take back stopping`() {
        let messages = sent { manager in
            manager.stopping()
            manager.ready(status: "Running.")
            manager.reloading()
            manager.stopping()
        }
        #expect(messages == ["STOPPING=1"])
    }

    @Test func `a status that says nothing new is not sent`() {
        let messages = sent { manager in
            manager.ready(status: "Idle.")
            manager.status("Idle.")
            manager.status("Importing 1 of 2.")
            manager.status("Importing 1 of 2.")
        }
        #expect(messages == ["READY=1\nSTATUS=Idle.", "STATUS=Importing 1 of 2."])
    }

    @Test func `more time is asked for in microseconds, and only while something runs out`() {
        let messages = sent { manager in
            manager.extendTimeout(by: .seconds(20))
            manager.ready()
            manager.extendTimeout(by: .seconds(20))
            manager.stopping()
            manager.extendTimeout(by: .milliseconds(1500))
        }
        #expect(messages == ["EXTEND_TIMEOUT_USEC=20000000", "READY=1", "STOPPING=1", "EXTEND_TIMEOUT_USEC=1500000"])
    }
}

@Suite("The watchdog", .timeLimit(.minutes(1))) struct WatchdogTests {
    @Test func `pings while all is alive and stops when it is not`() async {
        // Each ping and each refused one is an event of the stream: nothing here depends on how fast the machine is.
        let (events, source) = AsyncStream.makeStream(of: String.self)
        let asked = Mutex(0)
        let manager = ServiceManager(sending: { source.yield($0) })
        let watchdog = Watchdog(interval: .milliseconds(20), manager: manager) {
            let count = asked.withLock { count in
                count += 1
                return count
            }
            if count > 3 { source.yield("asked \(count)") }
            return count <= 3
        }
        var seen: [String] = []
        for await event in events {
            seen.append(event)
            if event == "asked 6" { break }
        }
        watchdog.stop()
        #expect(seen == ["WATCHDOG=1", "WATCHDOG=1", "WATCHDOG=1", "asked 4", "asked 5", "asked 6"])
    }

    @Test func `is silent after a stop`() {
        let messages = Recorder<String>()
        let manager = ServiceManager(sending: { messages.add($0) })
        let watchdog = Watchdog(interval: .seconds(3600), manager: manager) { true }
        watchdog.stop()
        let before = messages.all
        watchdog.stop()
        #expect(before == messages.all && before.count <= 1)
    }
}

@Suite("Liveness") struct LivenessTests {
    @Test func `names the part that stands still although it has work`() {
        let time = Mutex(Duration.zero)
        let loop = Mutex<UInt64>(0)
        let importer = Mutex<UInt64?>(nil)
        let liveness = Liveness(
            [
                Liveness.Mark("loop") { loop.withLock { $0 } },
                Liveness.Mark("importer") { importer.withLock { $0 } },
            ], patience: .seconds(30), now: { time.withLock { $0 } })
        func look(after seconds: Int) -> [String] {
            time.withLock { $0 += .seconds(seconds) }
            return liveness.stuck()
        }
        #expect(look(after: 0) == [])
        #expect(look(after: 30) == [])
        #expect(look(after: 1) == ["loop"])
        loop.withLock { $0 += 1 }
        #expect(look(after: 1) == [])  // moved again; the importer has nothing to do however long that lasts
        importer.withLock { $0 = 7 }
        loop.withLock { $0 += 1 }
        #expect(look(after: 20) == [])
        loop.withLock { $0 += 1 }
        #expect(look(after: 31) == ["importer"])
        importer.withLock { $0 = nil }
        loop.withLock { $0 += 1 }
        #expect(look(after: 31) == [])
    }
}

@Suite("The log") struct JournalTests {
    private struct Bench {
        let lines = Recorder<LogLine>()
        let time = Box()
        let journal: Journal

        final class Box: Sendable {
            let value = Mutex(Duration.zero)
        }

        init(level: LogLevel = .info) {
            let (lines, time) = (lines, time)
            journal = Journal(level: level, write: { lines.add($0) }, now: { time.value.withLock { $0 } })
        }
        func wait(_ seconds: Int) { time.value.withLock { $0 += .seconds(seconds) } }
        var sentences: [String] { lines.all.map(\.sentence) }
    }

    @Test func `leaves out what is below its level, which can change`() {
        let bench = Bench(level: .warning)
        bench.journal.add(LogLine(.info, "a"))
        bench.journal.add(LogLine(.warning, "b"))
        bench.journal.setLevel(.debug)
        bench.journal.add(LogLine(.debug, "c"))
        #expect(bench.sentences == ["b", "c"])
    }

    @Test func `holds back a fault that repeats, and says how often`() {
        let bench = Bench()
        for number in 0..<500 {
            bench.journal.add(LogLine(.warning, "It failed.", [("CODE", "E_CORRUPT"), ("JOB_ID", "\(number)")]))
        }
        bench.journal.add(LogLine(.warning, "It failed.", [("CODE", "E_EMPTY")]))
        #expect(bench.sentences == Array(repeating: "It failed.", count: 21))
        bench.wait(60)
        bench.journal.add(LogLine(.info, "Later."))
        let summary = bench.lines.all[21]
        #expect(summary.level == .warning)
        #expect(summary.fields.map(\.0) == ["REPEATED", "COUNT", "CODE"])
        #expect(summary.fields.map(\.1) == ["It failed.", "480", "E_CORRUPT"])
        #expect(bench.sentences.count == 23)
    }

    @Test func `says what it held back when it ends`() {
        let bench = Bench()
        for _ in 0..<22 { bench.journal.add(LogLine(.error, "x")) }
        bench.journal.flush()
        bench.journal.flush()
        #expect(bench.sentences.count == 21)
        #expect(bench.lines.all.last?.fields.first { $0.0 == "COUNT" }?.1 == "2")
    }

    @Test func `does not take one line for each photo as a repetition`() {
        let bench = Bench()
        for number in 0..<200 { bench.journal.add(LogLine(.info, "Imported.", [("JOB_ID", "\(number)")])) }
        for _ in 0..<200 { bench.journal.add(LogLine(.info, "Rescanned.")) }
        #expect(bench.sentences.filter { $0 == "Imported." }.count == 200)
        #expect(bench.sentences.filter { $0 == "Rescanned." }.count == 20)
    }

    @Test func `goes to the journal only when standard error does`() {
        func form(_ stream: String?, terminal: Bool = false, service: Bool = true) -> LogSink.Form {
            LogSink.form(journalStream: stream, standardError: (9, 77), isTerminal: terminal, isService: service)
        }
        #expect(form("9:77") == .journal)
        #expect(form("9:78") == .prefixed)
        #expect(form("nonsense") == .prefixed)
        #expect(form(nil, terminal: true) == .plain)
        #expect(form(nil, service: false) == .plain)
    }

    @Test func `gives the journal fields it can take`() {
        let line = LogLine(
            .error, "It\nfailed.",
            [("JOB_ID", "7"), ("lower", "x"), ("_UID", "0"), ("MESSAGE", "forged"), ("PATH", "a\nB=1")])
        #expect(
            LogSink.entries(of: line, identifier: "photospoold") == [
                "MESSAGE=It\u{FFFD}failed.", "PRIORITY=3", "SYSLOG_IDENTIFIER=photospoold", "JOB_ID=7",
                "PATH=a\u{FFFD}B=1",
            ])
    }
}
