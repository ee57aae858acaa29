internal import ControlAPI
internal import Glibc
internal import HTTPClient
internal import PhotoModel

/// The loop of `photospool watch`: events as they come, a status now and then, and the screen kept in step. When the
/// service goes away it waits for it to come back.
final class Watching {
    private let invocation: Invocation
    private let console: Console
    private let socket: Path
    private let untilIdle: Bool
    private let asJSON: Bool
    private let area: LiveArea?
    private var model = WatchModel()
    private var lost: String?
    private var lastEventID: String?
    private var wasConnected = false
    private var lastStatus = ContinuousClock.now
    private var lastLine = ContinuousClock.now - .seconds(60)
    private var lastSummary = ""

    init(_ invocation: Invocation, untilIdle: Bool) {
        self.invocation = invocation
        self.untilIdle = untilIdle
        console = invocation.console
        asJSON = invocation.wantsJSON
        socket = Daemon.socket(option: invocation.options["socket"]?.last)
        area = console.showsProgress && !asJSON ? LiveArea(console) : nil
    }

    func run() throws(Failure) -> ExitStatus {
        let signals = Signals([SIGINT, SIGTERM, SIGHUP, SIGWINCH, SIGTSTP, SIGPIPE])
        defer { area?.leave() }
        while true {
            do throws(Failure) {
                return try follow(signals)
            } catch {
                guard wasConnected, error.status == .unreachable else { throw error }
                lost = "The service went away; waiting for it to come back."
            }
            let again = ContinuousClock.now + .seconds(1)
            while ContinuousClock.now < again {
                if let end = answer(signals) { return end }
                redraw()
                usleep(100_000)
            }
        }
    }

    /// Until the end, or until the service cannot be reached any more, which is thrown.
    private func follow(_ signals: borrowing Signals) throws(Failure) -> ExitStatus {
        var daemon = try Daemon(socket: socket)
        var stream: EventStream
        do throws(HTTPFailure) {
            stream = try EventStream(socket: socket, target: "/v1/events", after: lastEventID)
        } catch {
            throw Failure(error, socket: socket)
        }
        // The stream is opened first, so that nothing falls between it and the status.
        try handle(try next(&stream, within: .zero), &daemon)
        try refresh(&daemon)
        lost = nil
        wasConnected = true
        while true {
            if untilIdle, let status = model.status, status.idle, !model.isStale {
                // What led to it may still be on its way through the stream.
                let late = try next(&stream, within: .milliseconds(300))
                if late.isEmpty { return finish() }
                try handle(late, &daemon)
            }
            if let end = answer(signals) { return end }
            try handle(try next(&stream, within: .milliseconds(100)), &daemon)
            let age = ContinuousClock.now - lastStatus
            if age > .seconds(1) || (model.isStale && age > .milliseconds(200)) { try refresh(&daemon) }
            redraw()
        }
    }

    private func next(_ stream: inout EventStream, within time: Duration) throws(Failure) -> [ServerEvent] {
        do throws(HTTPFailure) {
            return try stream.next(within: time)
        } catch {
            throw Failure(error, socket: socket)
        }
    }

    private func refresh(_ daemon: inout Daemon) throws(Failure) {
        let bytes = try daemon.call(HTTPRequest(.get, "/v1/status"), deadline: .seconds(5))
        model.take(try Daemon.decode(StatusBody.self, bytes))
        lastStatus = .now
        if asJSON && !wasConnected { printJSON("status", bytes) }
    }

    private func handle(_ events: [ServerEvent], _ daemon: inout Daemon) throws(Failure) {
        for event in events {
            if !event.id.isEmpty { lastEventID = event.id }
            let data = Array(event.data.utf8)
            guard let body = try? EventBody(name: event.name, data: data) else { continue }  // of a later version
            if asJSON { printJSON(event.name, data) }
            guard let outcome = model.take(body), !asJSON else { continue }
            try tell(outcome, &daemon)
        }
    }

    /// One line of JSON: `{"event":"job","data":{…}}`.
    private func printJSON(_ name: String, _ data: [UInt8]) {
        console.print(bytes: Array("{\"event\":\"\(name)\",\"data\":".utf8))
        console.print(bytes: JSONText.safe(data).filter { $0 != 0x0A })
        console.print("}")
        console.flush()
    }

    /// One line on standard output for a job that ended. Where bars are drawn on the same terminal they show what was
    /// imported already, and only the rest is told.
    private func tell(_ outcome: WatchModel.Outcome, _ daemon: inout Daemon) throws(Failure) {
        if console.isQuiet { return }
        let known = model.takeName(of: outcome.job)
        if area != nil && console.output.isTerminal && outcome.state == JobState.imported.rawValue { return }
        let style = console.style
        let shown: String
        if let known { shown = known } else { shown = try name(of: outcome.job, &daemon) }
        let state = style(Style.meaning(of: outcome.state), SafeText.of(outcome.state))
        var line = "\(style.mark(for: outcome.state)) \(shown)  \(state)"
        if let error = outcome.error {
            line += "  \(SafeText.of(error.detail)) " + style(.faint, SafeText.of(error.code))
        }
        area?.erase()
        console.print(line)
        if let error = outcome.error, console.output.isTerminal, outcome.state == JobState.failed.rawValue {
            console.print("    \(style.arrow) \(SafeText.of(error.recovery))")
        }
        console.flush()
    }

    private func name(of job: Int64, _ daemon: inout Daemon) throws(Failure) -> String {
        do throws(Failure) {
            return Command.files(of: try daemon.get(JobBody.self, "/v1/jobs/\(job)", deadline: .seconds(5)))
        } catch {
            if error.status == .unreachable { throw error }
            return "job \(job)"
        }
    }

    private func redraw() {
        if let area {
            let width = terminalSize(console.errors.number).columns
            area.show(WatchView(model: model, style: console.errorStyle, width: width, lost: lost).lines)
        } else if !asJSON && !console.isQuiet && ContinuousClock.now - lastLine >= .seconds(10) {
            let summary = WatchView(model: model, style: console.errorStyle, width: 80, lost: lost).summary
            lastLine = .now
            if summary != lastSummary { console.note(summary) }
            lastSummary = summary
        }
    }

    private func answer(_ signals: borrowing Signals) -> ExitStatus? {
        while let number = signals.next() {
            switch number {
            case SIGWINCH: area?.redrawFromScratch()
            case SIGTSTP:
                area?.leave()
                raise(SIGSTOP)  // goes on here when it is continued
            case SIGINT: return .interrupted
            case SIGPIPE: continue  // whoever writes learns of it
            default:
                area?.leave()
                exit(128 + number)
            }
        }
        return nil
    }

    private func finish() -> ExitStatus {
        if !asJSON && !console.isQuiet {
            area?.erase()
            let style = console.style
            let order = ["imported", "duplicate", "failed", "vanished", "skipped", "cancelled"]
            let parts = order.compactMap { state in
                model.tally[state].map { style(Style.meaning(of: state), "\(Amounts.grouped($0)) \(state)") }
            }
            console.print(
                parts.isEmpty ? "Nothing is left to do." : "Done: " + parts.joined(separator: style.separator) + ".")
        }
        return model.failed > 0 ? .failed : .ok
    }
}
