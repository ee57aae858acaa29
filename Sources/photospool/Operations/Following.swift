internal import ControlAPI
internal import Glibc
internal import HTTPClient
internal import PhotoModel

/// Orders an operation and stays with it to its end: a line of progress in a terminal, then what it found.
struct Following {
    let invocation: Invocation
    /// What is counted: `originals`.
    let unit: String

    static let noWait = Option(
        "no-wait", "order it and return at once; `photospool operations` shows how it goes")

    /// - Returns: the operation as it ended; nil when nobody waited for it.
    func run(
        _ kind: Operation.Kind, _ arguments: [String: String] = [:]
    ) throws(Failure) -> OperationBody? {
        var daemon = try invocation.daemon()
        let console = invocation.console
        let bytes = try daemon.post(
            "/v1/operations", OperationRequest(kind: kind.rawValue, arguments: arguments))
        var body = try Daemon.decode(OperationBody.self, bytes)
        if invocation.has("no-wait") {
            if invocation.wantsJSON {
                console.print(json: bytes)
            } else {
                console.say("Operation \(body.id) is queued.")
            }
            return nil
        }
        let signals = Signals([SIGINT, SIGTERM])
        let area = console.showsProgress && !invocation.wantsJSON ? LiveArea(console) : nil
        defer {
            area?.erase()
            area?.leave()
        }
        while !body.isOver {
            area?.show([line(for: body)])
            usleep(200_000)
            if signals.next() != nil {
                throw Failure(
                    .interrupted, title: "Not waited for", "Operation \(body.id) goes on in the service.",
                    todo: "Stop it with: photospool operations --cancel=\(body.id)")
            }
            body = try daemon.get(OperationBody.self, "/v1/operations/\(body.id)")
        }
        return body
    }

    private func line(for body: OperationBody) -> String {
        let of = body.total.map { " of \(Amounts.grouped(Int($0)))" } ?? ""
        let found = body.findingsCount > 0 ? ", \(Amounts.count(Int(body.findingsCount), "finding"))" : ""
        return "\(body.kind): \(Amounts.grouped(Int(body.done)))\(of) \(unit)\(found)"
    }

    /// Prints what it found, all of it, and how it ended.
    /// - Parameters:
    ///   - sentence: for one that found nothing.
    ///   - addition: said after the number of findings.
    /// - Returns: `failed` when it failed or found something.
    func report(
        _ ended: OperationBody, nothingFound sentence: String, found addition: String = "Nothing was changed."
    ) throws(Failure) -> ExitStatus {
        let console = invocation.console
        var daemon = try invocation.daemon()
        var body = ended
        var page = body
        while let next = page.next {
            page = try daemon.get(
                OperationBody.self,
                HTTPRequest.target("/v1/operations/\(body.id)", query: [("limit", "200"), ("after", next)]))
            body.findings = (body.findings ?? []) + (page.findings ?? [])
        }
        body.next = nil
        if invocation.wantsJSON {
            console.print(json: try Daemon.encode(body))
        } else {
            for finding in body.findings ?? [] {
                let place = finding.path.map { SafeText.of($0) } ?? ""
                console.print("\(SafeText.of(finding.kind))\t\(place)\t\(SafeText.of(finding.detail))")
            }
            if let error = body.error {
                throw Failure(
                    .failed, code: error.code, title: error.title, SafeText.of(error.detail),
                    todo: SafeText.of(error.recovery))
            }
            if body.state == "cancelled" {
                console.say("It was cancelled.")
            } else if body.findingsCount == 0 {
                console.say(sentence)
            } else {
                console.say("\(Amounts.count(Int(body.findingsCount), "finding")). \(addition)")
            }
        }
        return body.state == "done" && body.findingsCount == 0 ? .ok : .failed
    }
}
