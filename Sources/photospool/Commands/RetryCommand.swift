internal import ControlAPI
internal import HTTPClient
internal import PhotoModel

extension Command {
    static let retry = Command(
        name: "retry",
        summary: "try failed jobs again",
        operands: [Operand(name: "ID", count: .any)],
        options: [
            Option("all", "every failed job"),
            Option("failed", "the same as --all"),
        ],
        details: ["Exits with 1 when one of several could not be queued again; the others are, all the same."],
        examples: [
            .init("photospool retry 118 119", "two jobs"),
            .init("photospool retry --all", "everything that failed, for example after a disk was mended"),
        ]
    ) { invocation throws(Failure) in
        let ids = try invocation.ids()
        let wantsAll = invocation.has("all") || invocation.has("failed")
        guard wantsAll != !ids.isEmpty else {
            throw .usage("Name the jobs to try again, or --all; not both.", see: invocation.names)
        }
        var daemon = try invocation.daemon()
        let console = invocation.console
        guard wantsAll else {
            return try eachOf(ids, invocation, &daemon) { id in
                "/v1/jobs/\(id)/retry"
            } said: { id, _ in
                "Job \(id) is queued again."
            }
        }
        let bytes = try daemon.post("/v1/retry")
        if invocation.wantsJSON {
            console.print(json: bytes)
        } else {
            let retried = try Daemon.decode(RetriedBody.self, bytes).retried
            console.say(retried == 0 ? "No job had failed." : "\(Amounts.count(retried, "job")) queued again.")
        }
        return .ok
    }

    /// One order per id, and for a person a line about each answer. With several, a failure is told and the rest goes on.
    static func eachOf(
        _ ids: [Int64], _ invocation: Invocation, _ daemon: inout Daemon, target: (Int64) -> String,
        said: (Int64, [UInt8]) throws(Failure) -> String
    ) throws(Failure) -> ExitStatus {
        var worst = ExitStatus.ok
        for id in ids {
            do throws(Failure) {
                let bytes = try daemon.post(target(id))
                if invocation.wantsJSON {
                    invocation.console.print(json: bytes)
                } else {
                    invocation.console.say(try said(id, bytes))
                }
            } catch {
                if ids.count == 1 || error.status == .unreachable { throw error }
                Shell.report(error, invocation.console, asJSON: invocation.wantsJSON)
                worst = error.status
            }
        }
        return worst
    }
}

extension Console {
    /// What was done, for a person who is not asked to be spared of it.
    func say(_ line: String) { if !isQuiet { print(line) } }
}
