internal import ControlAPI
internal import PhotoModel

extension Command {
    static let manifest = Command(
        name: "manifest",
        summary: "write a list of checksums of the library, or of what one batch brought",
        options: [
            Option("batch", value: "N", "only what this batch brought"),
            Option(
                "format", value: "FORMAT", "sha256, for sha256sum -c (as usual), or mhl, an ASC MHL",
                completion: .words(["sha256", "mhl"])),
            Following.noWait,
        ],
        details: [
            "The list lies in .photospool/manifests of the library; its names are relative to the library. A list for"
                + " sha256sum is written from the catalog. For an ASC MHL every file is read again, and one that changed is"
                + " named and left out.",
            "Exits with 1 when something was found.",
        ],
        examples: [
            .init("photospool manifest", "everything, to be checked with: cd LIBRARY && sha256sum -c FILE"),
            .init("photospool manifest --batch=7 --format=mhl", "what a card brought, for the archive"),
        ]
    ) { invocation throws(Failure) in
        var arguments: [String: String] = [:]
        for name in ["batch", "format"] {
            if let value = invocation.options[name]?.last { arguments[name] = value.shown }
        }
        let following = Following(invocation: invocation, unit: "originals")
        guard let ended = try following.run(.manifest, arguments) else { return .ok }
        let place = ended.results["path"].map { SafeText.of($0) } ?? ""
        return try following.report(
            ended, nothingFound: "\(Amounts.count(Int(ended.done), "original")) listed in \(place).")
    }
}
