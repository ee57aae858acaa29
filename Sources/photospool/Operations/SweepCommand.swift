internal import ControlAPI
internal import PhotoModel

extension Command {
    static let sweep = Command(
        name: "sweep",
        summary: "remove what dead imports left in staging, and previews of photos that are gone",
        options: [
            Option("dry-run", letter: "n", "say what would be removed, and remove nothing"),
            Following.noWait,
        ],
        details: [
            "The service clears its staging by itself at its start, but for what is unknown to it and younger than"
                + " import.sweep_after; this does so at once, and never touches what an import is at work on. Sources that"
                + " lie in .photospool/claim of a drop folder and that nobody is at work on are told, and stay. Nothing of"
                + " yours is removed, and the trash is not emptied.",
            "Exits with 1 when something was found: with --dry-run what would be removed, else what should be looked at.",
        ],
        examples: [.init("photospool sweep --dry-run", "what there is")]
    ) { invocation throws(Failure) in
        let isDryRun = invocation.has("dry-run")
        let following = Following(invocation: invocation, unit: "files")
        guard let ended = try following.run(.sweep, isDryRun ? ["dry_run": "1"] : [:]) else { return .ok }
        func count(_ name: String) -> Int { ended.results[name].flatMap { Int($0) } ?? 0 }
        let removed =
            "\(Amounts.count(count("staging"), "staging folder")) and \(Amounts.count(count("previews"), "preview"))"
            + " removed, \(Amounts.bytes(Int64(count("bytes"))))."
        return try following.report(
            ended, nothingFound: isDryRun ? "There is nothing to be removed." : removed,
            found: isDryRun ? "Nothing was removed." : removed)
    }
}
