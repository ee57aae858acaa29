internal import ControlAPI
internal import PhotoModel

extension Command {
    static let assets = Command(
        name: "assets",
        summary: "list photos and videos in the catalog",
        options: [
            Option("from", value: "DATE", "taken on this day or later: 2026-05-17, or with a time 2026-05-17T09:00"),
            Option("to", value: "DATE", "taken on this day or earlier; with a time, before it"),
            Option("camera", value: "TEXT", "taken with this make or model"),
            .limit,
        ],
        details: ["Dates are those of the place where the photo was taken."],
        examples: [.init("photospool assets --from 2026-05-16 --to 2026-05-18 --camera iPhone", "one weekend")]
    ) { invocation throws(Failure) in
        for name in ["from", "to"] {
            guard let text = invocation.text(name), !isDate(text) else { continue }
            throw .usage(
                "--\(name) takes a date such as 2026-05-17 or 2026-05-17T09:00, not '\(SafeText.of(text))'.",
                see: invocation.names)
        }
        let limit = try invocation.limit()
        var daemon = try invocation.daemon()
        let list = try daemon.list(
            AssetBody.self, "/v1/assets",
            query: [
                ("from", moment(invocation.text("from"))), ("to", moment(invocation.text("to"))),
                ("camera", invocation.text("camera")),
            ], limit: limit)
        let console = invocation.console
        if invocation.wantsJSON {
            console.print(json: try Daemon.encode(list))
        } else if list.items.isEmpty {
            console.explain("There are no such photos.")
        } else {
            console.print(table(list.items))
            console.tellMore(list.next != nil, shown: list.items.count, of: "assets")
        }
        return .ok
    }

    /// As the service takes it: a time has seconds.
    private static func moment(_ text: String?) -> String? { text.map { $0.utf8.count == 16 ? $0 + ":00" : $0 } }

    private static func isDate(_ text: String) -> Bool {
        let shape = String(text.map { $0.isASCII && $0.isNumber ? "0" : $0 })
        return ["0000-00-00", "0000-00-00T00:00", "0000-00-00T00:00:00"].contains(shape)
    }

    private static func table(_ assets: [AssetBody]) -> Table {
        var table = Table([
            .init(title: "TAKEN"), .init(title: "KIND"), .init(title: "PIXELS", isRight: true), .init(title: "CAMERA"),
            .init(title: "FILE", isFlexible: true), .init(title: "ID"),
        ])
        for asset in assets {
            let taken = asset.capturedAt.map { String($0.prefix(16)).replacing("T", with: " ") } ?? "unknown"
            let files = asset.resources.first.map { SafeText.of($0.path) } ?? ""
            table.rows.append([
                .init(SafeText.of(taken)), .init(SafeText.of(asset.kind)), .init(pixels(asset.width, asset.height)),
                .init(SafeText.of(camera(of: asset))),
                .init(asset.resources.count > 1 ? "\(files) +\(asset.resources.count - 1)" : files),
                .init(SafeText.of(asset.id), .faint),
            ])
        }
        return table
    }

    static func pixels(_ width: Int?, _ height: Int?) -> String {
        guard let width, let height else { return "" }
        return "\(width)x\(height)"
    }

    /// Make and model, without the make when the model begins with it, as with `Canon Canon EOS R5`.
    static func camera(of asset: AssetBody) -> String {
        guard let model = asset.model else { return asset.make ?? "" }
        guard let make = asset.make, !model.lowercased().hasPrefix(make.lowercased()) else { return model }
        return "\(make) \(model)"
    }
}
