internal import ControlAPI
internal import PhotoModel

extension Command {
    static let rebuild = Command(
        name: "rebuild",
        summary: "bring the catalog up to what the library and its journal tell",
        options: [
            Option("verify", "read every original again, and count only those whose bytes are right"),
            Following.noWait,
        ],
        details: [
            "For a state that is new, was put back from a backup, or was damaged: while the status says E_STATE_STALE,"
                + " imports wait for this. Adds what the state does not have, takes out what was deleted or undone, and"
                + " overwrites nothing. Sources that were kept are known again, and are not imported twice. A run that is"
                + " interrupted goes on at the next start of the service.",
            "Exits with 1 when something was found: files that are gone or changed, lines that cannot be understood.",
        ],
        examples: [.init("photospool rebuild", "after a restored backup, or with a new state")]
    ) { invocation throws(Failure) in
        let arguments = invocation.has("verify") ? ["verify": "1"] : [:]
        let following = Following(invocation: invocation, unit: "imports")
        guard let ended = try following.run(.rebuild, arguments) else { return .ok }
        return try following.report(
            ended,
            nothingFound: "The catalog is up to the library's journal: \(Amounts.count(Int(ended.done), "import")).",
            found: "The rest is in the catalog.")
    }
}
