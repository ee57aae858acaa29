internal import ControlAPI
internal import Files
internal import HTTPClient
internal import PhotoModel

extension Command {
    static let export = Command(
        name: "export",
        summary: "write a photo as JPEG, PNG or HEIC",
        operands: [Operand(name: "ID")],
        options: [
            Option(
                "format", value: "FORMAT", "jpeg, png or heic; jpeg without it",
                completion: .words(ExportSpec.Format.allCases.map(\.rawValue))),
            Option("max-size", value: "PIXELS", "make its longer side no longer"),
            Option("max-bytes", value: "BYTES", "make the file no larger: by quality, then by size"),
            Option("strip-location", "leave out where it was taken"),
            Option(
                "output", letter: "o", value: "FILE", "write FILE, not the photo's name in this folder",
                completion: .files),
            Option("force", letter: "f", "write over FILE where it is there"),
        ],
        details: [
            "Converts the best original of an asset, upright, with its EXIF, XMP, IPTC and colour profile. With --max-bytes the"
                + " highest quality from 90 down to 50 that fits is taken; then the picture gets smaller. With"
                + " --strip-location only camera, lens, exposure, times, artist and copyright go along. Nothing is written"
                + " over without --force, and FILE is whole or not there.",
            "Where a part of the picture is missing or damaged in the original, what there is is exported, a warning on"
                + " standard error says so, and the exit status is 0.",
        ],
        examples: [
            .init(
                "photospool export 0197a3c2-5e1b-7c44-9d0a-3f2b8c6d1e90 --max-size 2000 --strip-location -o web.jpg",
                "for the web")
        ]
    ) { invocation throws(Failure) in
        let choices = ExportSpec.Format.allCases.map(\.rawValue)
        let word = try invocation.choice("format", of: choices) ?? ExportSpec.Format.jpeg.rawValue
        guard let format = ExportSpec.Format(rawValue: word) else {
            throw .usage("No such format.", see: invocation.names)
        }
        let id = HTTPRequest.escaped(invocation.operands[0].shown)
        var daemon = try invocation.daemon()
        let name: Path
        if let named = invocation.options["output"]?.last {
            name = named
        } else {
            let asset = try daemon.get(AssetBody.self, "/v1/assets/\(id)")
            let stem = asset.resources.first.map { Path($0.path).name.stem.shown } ?? asset.id
            name = Path(SafeText.of(stem) + "." + format.fileExtension)
        }
        let target = try ExportTarget(name, replaces: invocation.has("force"))
        let query: [(name: String, value: String?)] = [
            ("format", format.rawValue),
            ("max_size", try invocation.number("max-size", least: 16).map(String.init)),
            ("max_bytes", try invocation.number("max-bytes", least: 1).map(String.init)),
            ("strip_location", invocation.has("strip-location") ? "1" : nil),
        ]
        let reply = try daemon.reply(
            to: HTTPRequest(.get, HTTPRequest.target("/v1/assets/\(id)/export", query: query)), deadline: .seconds(600))
        try target.write(reply.body)
        if reply.ownHeaders[PictureHeader.name.lowercased()] == PictureHeader.partial {
            invocation.console.note(
                "photospool: Warning: the original is damaged; \(SafeText.of(target.path)) shows only a part of the picture."
            )
        }
        if !invocation.has("quiet") {
            invocation.console.print("\(SafeText.of(target.path)) was written: \(reply.body.count) bytes.")
        }
        return .ok
    }
}
