internal import ControlAPI
internal import PhotoModel

/// The orders that take nothing, or one name.
extension Command {
    static let pause = Command(
        name: "pause",
        summary: "stop importing until 'resume'",
        details: ["Imports under way are finished; arriving photos are still noticed and queued."]
    ) { invocation throws(Failure) in try changeState("/v1/pause", invocation) }

    static let resume = Command(
        name: "resume",
        summary: "go on importing after 'pause'"
    ) { invocation throws(Failure) in try changeState("/v1/resume", invocation) }

    static let rescan = Command(
        name: "rescan",
        summary: "look through the drop folders again, now",
        operands: [Operand(name: "DROP", count: .optional)],
        details: ["Without a name, through all of them. Files that are known already are not imported twice."],
        examples: [.init("photospool rescan card", "one drop folder")]
    ) { invocation throws(Failure) in
        var daemon = try invocation.daemon()
        let bytes = try daemon.post("/v1/rescan", RescanRequest(drop: invocation.operands.first?.shown))
        if invocation.wantsJSON {
            invocation.console.print(json: bytes)
        } else {
            let drops = try Daemon.decode(RescanBody.self, bytes).drops.map { SafeText.of($0) }
            invocation.console.say(
                drops.isEmpty
                    ? "There is no drop folder to look through." : "Looking through \(drops.joined(separator: ", ")).")
        }
        return .ok
    }

    static let reload = Command(
        name: "reload",
        summary: "read the configuration again",
        details: ["A configuration with faults is refused, with all of them, and the old one stays in force."]
    ) { invocation throws(Failure) in
        var daemon = try invocation.daemon()
        let bytes = try daemon.post("/v1/reload")
        let console = invocation.console
        if invocation.wantsJSON {
            console.print(json: bytes)
            return .ok
        }
        let reload = try Daemon.decode(ReloadBody.self, bytes)
        if reload.applied.isEmpty && reload.needsRestart.isEmpty { console.say("Nothing changed.") }
        for key in reload.applied { console.say("In force:         \(SafeText.of(key))") }
        for key in reload.needsRestart { console.say("After a restart:  \(SafeText.of(key))") }
        if !reload.needsRestart.isEmpty { console.explain("Restart with: systemctl restart photospool") }
        return .ok
    }

    private static func changeState(_ target: String, _ invocation: Invocation) throws(Failure) -> ExitStatus {
        var daemon = try invocation.daemon()
        let bytes = try daemon.post(target)
        let console = invocation.console
        if invocation.wantsJSON {
            console.print(json: bytes)
            return .ok
        }
        let body = try Daemon.decode(StateBody.self, bytes)
        console.say("The service is \(console.style(Style.meaning(of: body.state), SafeText.of(body.state))).")
        for reason in body.reasons where body.state != "paused" || target == "/v1/resume" {
            for line in StatusView.reason(reason, "", console.style, width: console.width) { console.say(line) }
        }
        return .ok
    }
}
