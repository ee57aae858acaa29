internal import ControlAPI
internal import PhotoModel

extension Command {
    static let verify = Command(
        name: "verify",
        summary: "read every original again from the medium and compare it with the catalog",
        options: [
            Option("sample", value: "N/T", "only the Nth of T parts, so that T runs read everything once"),
            Option("mirror", "read the mirror instead of the library"),
            Following.noWait,
        ],
        details: [
            "Finds files that changed, were cut short, are gone or cannot be read, and, without --sample, files that the"
                + " catalog does not know. Nothing is repaired. A run that is interrupted by a stop of the service goes on"
                + " at its next start.",
            "With --mirror what the mirror should hold is read there. What it lacks it gets again from the library, by itself;"
                + " a damaged file has to be moved away first, and status names it until then.",
            "Exits with 1 when something was found.",
        ],
        examples: [
            .init("photospool verify", "everything"),
            .init("photospool verify --sample=$(date +%u)/7", "a seventh every day of the week"),
            .init("photospool verify --mirror", "the mirror"),
        ]
    ) { invocation throws(Failure) in
        var arguments: [String: String] = [:]
        if let sample = invocation.options["sample"]?.last { arguments["sample"] = sample.shown }
        if invocation.has("mirror") { arguments["mirror"] = "1" }
        let following = Following(invocation: invocation, unit: "originals")
        guard let ended = try following.run(.verify, arguments) else { return .ok }
        return try following.report(
            ended, nothingFound: "\(Amounts.count(Int(ended.done), "original")), all as they were imported.")
    }
}
