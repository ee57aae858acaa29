internal import ControlAPI
internal import HTTPClient
internal import PhotoModel

extension Command {
    static let show = Command(
        name: "show",
        summary: "show one asset: when, where and with what it was taken, and its files",
        operands: [Operand(name: "ID")],
        examples: [.init("photospool show 0197a3c2-5e1b-7c44-9d0a-3f2b8c6d1e90", "the ids are in 'photospool assets'")]
    ) { invocation throws(Failure) in
        var daemon = try invocation.daemon()
        let id = HTTPRequest.escaped(invocation.operands[0].shown)
        let bytes = try daemon.call(HTTPRequest(.get, "/v1/assets/\(id)"))
        let console = invocation.console
        if invocation.wantsJSON {
            console.print(json: bytes)
        } else {
            for line in sheet(of: try Daemon.decode(AssetBody.self, bytes), console.style).lines { console.print(line) }
        }
        return .ok
    }

    private static func sheet(of asset: AssetBody, _ style: Style) -> Sheet {
        let name = asset.resources.first.map { SafeText.of(Path($0.path).name) } ?? "asset"
        var sheet = Sheet("\(style(.strong, name)) - \(SafeText.of(asset.kind))")
        sheet.add("Taken", taken(asset))
        sheet.add("Camera", SafeText.of(camera(of: asset)))
        sheet.add("Lens", SafeText.of(asset.lens ?? ""))
        if let latitude = asset.latitude, let longitude = asset.longitude {
            sheet.add("Place", "\(degrees(latitude, "N", "S")) \(degrees(longitude, "E", "W"))")
        }
        sheet.add("Pixels", pixels(asset.width, asset.height))
        sheet.add("Collection", SafeText.of(asset.collection))
        sheet.add("Imported", Amounts.moment(asset.importedAt, now: .now))
        sheet.add("Preview", preview(asset.preview, style))
        sheet.add("Motion", motion(asset.motion))
        sheet.add("Live Photo", SafeText.of(asset.contentIdentifier ?? ""))
        sheet.add("Id", SafeText.of(asset.id))
        for resource in asset.resources {
            sheet.lines += [
                "", "  \(style(.active, SafeText.of(resource.role)))  \(SafeText.of(resource.path))",
                "    \(Amounts.bytes(resource.size))\(style.separator)\(SafeText.of(resource.mediaType))",
                "    sha256 \(SafeText.of(resource.sha256))", "    from   \(SafeText.of(resource.sourcePath))",
            ]
            if let owner = resource.belongsTo { sheet.lines.append("    of     \(SafeText.of(Path(owner).name))") }
        }
        return sheet
    }

    private static func motion(_ motion: String?) -> String {
        switch motion {
        case nil: ""
        case "paired": "a Live Photo, its video beside it"
        case "embedded": "a motion photo, its video inside the picture's file"
        case let other?: SafeText.of(other)
        }
    }

    private static func taken(_ asset: AssetBody) -> String {
        guard let time = asset.capturedAt else { return "unknown" }
        let source =
            switch asset.dateSource {
            case "exif_original", nil: ""
            case "mtime": " (only the file's own date is known)"
            case let other?: " (from \(other.replacing("_", with: " ")))"
            }
        let said =
            asset.implausibleAt.map { "; the camera says \($0.replacing("T", with: " ")), which cannot be" } ?? ""
        return SafeText.of(
            time.replacing("T", with: " ") + (asset.capturedOffset.map { " " + $0 } ?? "") + source + said)
    }

    private static func preview(_ preview: PreviewBody, _ style: Style) -> String {
        guard let path = preview.path else {
            return style(.warning, "none") + (preview.code.map { " (\(SafeText.of($0)))" } ?? "")
        }
        let state = preview.state == "ok" ? "" : style(.warning, " \(SafeText.of(preview.state))")
        return "\(SafeText.of(path)) \(pixels(preview.width, preview.height))\(state)"
    }

    /// `52.51630° N`, five digits: about a metre.
    private static func degrees(_ value: Double, _ positive: String, _ negative: String) -> String {
        guard value.isFinite, value.magnitude <= 180 else { return "?" }
        let scaled = Int((value.magnitude * 100_000).rounded())
        return "\(scaled / 100_000).\(PhotoModel.padded(scaled % 100_000, 5))° \(value < 0 ? negative : positive)"
    }
}
