import FakeService
import Glibc
import Synchronization
import Testing

@Suite("photospool watch") struct WatchTests {
    /// Busy until the events were sent, then idle.
    private static func service(_ events: [String]) throws -> FakeService {
        let sent = Mutex(false)
        return try FakeService { request in
            switch request.target {
            case "/v1/events":
                sent.withLock { $0 = true }
                return .events(events, thenClose: false)
            case "/v1/status":
                return .json(Canned.status(idle: sent.withLock { $0 }, importing: Canned.importing))
            default: return .json(Canned.job(102))
            }
        }
    }

    @Test(.timeLimit(.minutes(1))) func `tells how each job ended and fails when one failed`() throws {
        let service = try Self.service([
            Canned.jobEvent(1, 101, "imported") + Canned.jobEvent(2, 102, "failed") + Canned.jobEvent(3, 103, "copying")
        ])
        defer { service.stop() }
        let result = try Program.run(["watch", "--until-idle"], socket: service.socket)
        #expect(result.status == 1)
        let lines = result.output.split(separator: "\n").map(String.init)
        #expect(lines.count == 3)
        #expect(lines.contains("✗ IMG_0002.HEIC  failed  IMG_0002.HEIC ends too early. E_CORRUPT"))
        #expect(lines.last == "Done: 1 imported · 1 failed.")
        #expect(!result.output.contains("\u{1B}"))
    }

    @Test(.timeLimit(.minutes(1))) func `streams the status and then the events as lines of JSON`() throws {
        let service = try Self.service([Canned.jobEvent(1, 101, "imported"), "id: 2\nevent: later\ndata: {}\n\n"])
        defer { service.stop() }
        let result = try Program.run(["watch", "--until-idle", "--json"], socket: service.socket)
        #expect(result.status == 0)
        #expect(result.errors.isEmpty)
        let lines = result.output.split(separator: "\n").map(String.init)
        #expect(lines.contains { $0.hasPrefix("{\"event\":\"status\",\"data\":{\"version\":\"9.8.7\"") })
        #expect(
            lines.contains {
                $0
                    == "{\"event\":\"job\",\"data\":{\"id\":101,\"batch_id\":12,\"drop\":\"card\",\"state\":\"imported\","
                    + "\"error\":null,\"asset_id\":null}}"
            })
    }

    @Test(.timeLimit(.minutes(1))) func `draws bars on a terminal and gives the cursor back on Ctrl-C`() throws {
        let service = try FakeService { request in
            request.target == "/v1/events"
                ? .events([], thenClose: false) : .json(Canned.status(importing: Canned.importing))
        }
        defer { service.stop() }
        let terminal = try Terminal(columns: 100, lines: 30)
        var running = try Program.Running(
            ["watch"], socket: service.socket, environment: ["TERM": "xterm"], errorDevice: terminal.device)
        var drawn = try terminal.read(until: "Ctrl-C leaves")
        #expect(drawn.contains("23 of 80 · \u{1B}[31m2 failed\u{1B}[0m"))
        #expect(drawn.contains("IMG_0023.HEIC"))
        #expect(drawn.contains("1.2 of 3.4 MiB"))
        #expect(drawn.contains("\u{1B}[?25l"))
        running.signal(SIGINT)
        drawn += try terminal.read(until: "\u{1B}[?25h")
        #expect(try running.finish().status == 130)
        // No line is wider than the terminal, so none wraps.
        for line in drawn.split(separator: "\r\n") { #expect(visibleLength(line) < 100) }
    }

    @Test(.timeLimit(.minutes(1)), arguments: [SIGTERM, SIGHUP])
    func `gives the cursor back when it is ended by a signal`(number: Int32) throws {
        let service = try FakeService { request in
            request.target == "/v1/events" ? .events([], thenClose: false) : .json(Canned.status())
        }
        defer { service.stop() }
        let terminal = try Terminal(columns: 80, lines: 24)
        var running = try Program.Running(
            ["watch"], socket: service.socket, environment: ["TERM": "xterm"], errorDevice: terminal.device)
        _ = try terminal.read(until: "Ctrl-C leaves")
        running.signal(number)
        _ = try terminal.read(until: "\u{1B}[?25h")
        #expect(try running.finish().status == 128 + number)
    }

    @Test(.timeLimit(.minutes(1)), arguments: [["--no-progress"], ["-q"]])
    func `draws nothing when asked not to`(options: [String]) throws {
        let service = try Self.service([])
        defer { service.stop() }
        let terminal = try Terminal(columns: 80, lines: 24)
        // Without colours, for a line of text now and then is not drawing.
        var running = try Program.Running(
            ["watch", "--until-idle"] + options, socket: service.socket,
            environment: ["TERM": "xterm", "NO_COLOR": "1"], errorDevice: terminal.device)
        #expect(try running.finish().status == 0)
        #expect(terminal.readNow().contains("\u{1B}") == false)
    }

    @Test(.timeLimit(.minutes(1))) func `waits for a service that went away, and takes up where it was`() throws {
        let streams = Mutex(0)
        let service = try FakeService { request in
            guard request.target == "/v1/events" else {
                return .json(Canned.status(idle: streams.withLock { $0 } == 2))
            }
            let count = streams.withLock { count in
                count += 1
                return count
            }
            return .events(count == 1 ? [Canned.jobEvent(41, 101, "imported")] : [], thenClose: count == 1)
        }
        defer { service.stop() }
        let result = try Program.run(["watch", "--until-idle", "--json"], socket: service.socket)
        #expect(result.status == 0)
        let ids = service.requests.filter { $0.target == "/v1/events" }.map { $0.headers["last-event-id"] }
        #expect(ids == [nil, "41"])
    }

    private func visibleLength(_ line: Substring) -> Int {
        var count = 0
        var isEscape = false
        for scalar in line.unicodeScalars {
            if isEscape {
                isEscape = !scalar.properties.isAlphabetic
            } else if scalar == "\u{1B}" {
                isEscape = true
            } else if scalar != "\r" {
                count += 1
            }
        }
        return count
    }
}

/// A terminal of which we hold the other end; see pty(7).
struct Terminal: ~Copyable {
    private let end: Int32
    private let slave: Int32
    let device: String

    init(columns: UInt16, lines: UInt16) throws {
        let end = unsafe open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        guard end >= 0 else { throw FixtureFailure("open /dev/ptmx", errno) }
        var unlocked: Int32 = 0
        var number: UInt32 = 0
        // TIOCSPTLCK and TIOCGPTN of ioctl_tty(2), which are macros Swift does not see.
        guard unsafe ioctl(end, 0x4004_5431, &unlocked) == 0, unsafe ioctl(end, 0x8004_5430, &number) == 0 else {
            throw FixtureFailure("ioctl", errno)
        }
        let device = "/dev/pts/\(number)"
        // Held, so that reading goes on after the program.
        let slave = unsafe open(device, O_RDWR | O_NOCTTY | O_CLOEXEC)
        var size = winsize(ws_row: lines, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
        guard unsafe ioctl(slave, UInt(TIOCSWINSZ), &size) == 0 else { throw FixtureFailure("ioctl", errno) }
        self.end = end
        self.slave = slave
        self.device = device
    }

    deinit {
        close(slave)
        close(end)
    }

    func read(until text: String) throws -> String {
        var seen: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 4096)
        while !String(decoding: seen, as: UTF8.self).contains(text) {
            let count = unsafe Glibc.read(end, &chunk, chunk.count)
            guard count > 0 else { throw FixtureFailure("the terminal ended before '\(text)'") }
            seen += chunk.prefix(count)
        }
        return String(decoding: seen, as: UTF8.self)
    }

    /// What is there without waiting.
    func readNow() -> String {
        _ = fcntl(end, F_SETFL, O_NONBLOCK)
        var chunk = [UInt8](repeating: 0, count: 65_536)
        let count = unsafe Glibc.read(end, &chunk, chunk.count)
        return String(decoding: chunk.prefix(max(0, count)), as: UTF8.self)
    }
}
