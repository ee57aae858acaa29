internal import ControlAPI
internal import HTTPClient
internal import PhotoModel

extension Command {
    static let status = Command(
        name: "status",
        summary: "show how the service is doing",
        details: [
            "The first line says the state: running, starting, paused, degraded or stopping; what stands in the way"
                + " comes last, each with what to do about it.",
            "Exits with 0 when the service runs, 3 when it does not, and 4 when that cannot be found out.",
        ],
        examples: [
            .init("photospool status", "everything at a glance"),
            .init("photospool status --json | jq .queue.failed", "one number, for a script"),
        ]
    ) { invocation throws(Failure) in
        let console = invocation.console
        let bytes: [UInt8]
        do throws(Failure) {
            var daemon = try invocation.daemon()
            bytes = try daemon.call(HTTPRequest(.get, "/v1/status"))
        } catch {
            guard error.status == .unreachable else { throw error }
            return try stopped(error, invocation)
        }
        if invocation.wantsJSON {
            console.print(json: bytes)
        } else {
            let status = try Daemon.decode(StatusBody.self, bytes)
            for line in StatusView(status, style: console.style, width: console.width).lines { console.print(line) }
        }
        return .ok
    }

    /// The same words as any other command would say, but on standard output: that it is stopped is the answer.
    private static func stopped(_ failure: Failure, _ invocation: Invocation) throws(Failure) -> ExitStatus {
        let console = invocation.console
        let isStopped = failure.detail.contains("not running")
        let state = isStopped ? "stopped" : "unknown"
        if invocation.wantsJSON {
            console.print(
                json: try Daemon.encode(["state": state, "detail": failure.detail, "recovery": failure.recovery]))
        } else {
            let style = console.style
            console.print("\(style(isStopped ? .faint : .warning, style.ring)) photospool - \(state)")
            console.print("  \(failure.detail)")
            console.print("  \(failure.recovery)")
        }
        return isStopped ? .stopped : .unknown
    }
}

extension Invocation {
    func daemon() throws(Failure) -> Daemon { try Daemon(socket: Daemon.socket(option: options["socket"]?.last)) }
}
