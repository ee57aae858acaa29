internal import ControlAPI
internal import PhotoModel

extension Command {
    static let previews = Command(
        name: "previews",
        summary: "make previews that failed, or are not there any more",
        options: [
            Option("missing", "of every photo that has none though it could"),
            Following.noWait,
        ],
        details: [
            "Each original is read and compared with the catalog first: one that is damaged is told, and gives no"
                + " preview. The service does so by itself when it has another decoder, for those that failed on the one"
                + " before, and when there is room again, for those that could not be written. A run that is interrupted"
                + " goes on at the next start of the service.",
            "Exits with 1 when something was found: a photo of which none can be made, or an original that is missing or"
                + " changed.",
        ],
        examples: [.init("photospool previews --missing", "after a disk of previews was lost, say")]
    ) { invocation throws(Failure) in
        guard invocation.has("missing") else {
            throw .usage("previews needs --missing: it makes those that are not there.", see: invocation.names)
        }
        let following = Following(invocation: invocation, unit: "photos")
        guard let ended = try following.run(.previews, ["missing": "1"]) else { return .ok }
        let made = ended.results["made"].flatMap { Int($0) } ?? 0
        let sentence = made == 0 ? "No preview was missing." : "\(Amounts.count(made, "preview")) made."
        return try following.report(ended, nothingFound: sentence, found: sentence)
    }
}
