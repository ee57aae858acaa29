import FoundationEssentials
import PhotoModel
import SQLite

/// How an asset and its resources stand in their tables.
enum AssetRow {
    static let columns = """
        id, kind, collection, captured_at, captured_offset, date_source, make, model, lens, latitude, longitude, width, \
        height, orientation, content_identifier, is_screenshot, preview_state, preview_code, preview_title, \
        preview_recovery, preview_path, preview_width, preview_height, renditions, imported_at, \
        implausible_at, implausible_source
        """

    /// The asset without its resources.
    static func read(_ row: borrowing Row) throws(SQLiteError) -> Asset {
        var facts = Facts()
        let captured = try row.text(3)
        if !captured.isEmpty {
            guard let time = WallTime(stored: captured) else { throw row.unexpected(3) }
            facts.capturedAt = time
        }
        facts.capturedOffset = try row.optionalText(4)
        facts.dateSource = try row.optionalWord(5)
        facts.implausibleAt = try row.optionalText(25).flatMap { WallTime(stored: $0) }
        facts.implausibleSource = try row.optionalWord(26)
        facts.make = try row.optionalText(6)
        facts.model = try row.optionalText(7)
        facts.lens = try row.optionalText(8)
        facts.latitude = try row.optionalReal(9)
        facts.longitude = try row.optionalReal(10)
        facts.size = try size(row, 11)
        facts.orientation = Int(try row.integer(13))
        facts.contentIdentifier = try row.optionalText(14)
        facts.isScreenshot = try row.integer(15) == 1
        return Asset(
            id: try row.text(0), kind: try row.word(1), collection: try row.text(2), facts: facts, resources: [],
            preview: AssetPreview(
                state: try row.word(16), problem: try JobRow.problem(row, 17),
                path: try row.optionalBlob(20).map { Path(bytes: $0) }, size: try size(row, 21),
                renditions: try renditions(row, 23)),
            importedAt: Timestamp(nanoseconds: try row.integer(24)))
    }

    private static func size(_ row: borrowing Row, _ first: Int32) throws(SQLiteError) -> PixelSize? {
        guard let width = try row.optionalInteger(first), let height = try row.optionalInteger(first + 1)
        else { return nil }
        return PixelSize(width: Int(width), height: Int(height))
    }

    private static func renditions(_ row: borrowing Row, _ column: Int32) throws(SQLiteError) -> [Rendition] {
        guard let text = try row.optionalText(column) else { return [] }
        do { return try JSONDecoder().decode([Rendition].self, from: Data(text.utf8)) } catch {
            throw row.unexpected(column)
        }
    }

    /// nil, and so no JSON at all, where there are none.
    private static func text(of renditions: [Rendition]) -> String? {
        guard !renditions.isEmpty else { return nil }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Names, numbers and paths: there is nothing in them that JSON cannot say.
        return (try? encoder.encode(renditions)).map { String(decoding: $0, as: UTF8.self) }
    }

    static func withResources(_ asset: Asset, on connection: borrowing Connection) throws(Problem) -> Asset {
        var asset = asset
        asset.resources = try resources(of: asset.id, on: connection)
        return asset
    }

    static let resourceColumns = "role, path, source_path, size, sha256, mtime_ns, media_type, asset_id"

    static func resource(_ row: borrowing Row) throws(SQLiteError) -> Resource {
        let digest = try row.blob(4)
        guard digest.count == 32 else { throw row.unexpected(4) }
        return Resource(
            role: try row.word(0), path: Path(bytes: try row.blob(1)), sourcePath: Path(bytes: try row.blob(2)),
            size: try row.integer(3), sha256: SHA256Digest(bytes: digest), mtime: try row.integer(5),
            mediaType: try row.word(6))
    }

    /// - Throws: `E_CONFLICT` when the catalog contradicts the intent.
    static func check(_ intent: CommitIntent, on connection: borrowing Connection) throws(Problem) {
        let exists = try connection.number("SELECT 1 FROM asset WHERE id = ?", [.text(intent.asset.id)]) != nil
        guard exists == intent.joinsExisting else {
            throw Problem(
                .conflict, "Asset \(intent.asset.id) is \(exists ? "already" : "no longer") in the catalog.",
                todo: "Nothing; the import is tried again.")
        }
        for resource in intent.newResources where try isTaken(resource.path, on: connection) {
            throw Problem(
                .conflict, "The catalog already lists \(SafeText.of(resource.path)) for another asset.",
                todo: "Nothing; the import is tried again under another name.")
        }
    }

    static func isTaken(_ path: Path, on connection: borrowing Connection) throws(Problem) -> Bool {
        try connection.number("SELECT 1 FROM resource WHERE path = ?", [.blob(path.bytes)]) != nil
    }

    static func insert(_ asset: Asset, on connection: borrowing Connection) throws(Problem) {
        try connection.change(
            """
            INSERT INTO asset (\(columns))
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """, values(asset))
    }

    /// In the order of ``columns``.
    static func values(_ asset: Asset) -> [Value] {
        let facts = asset.facts
        return [
            .text(asset.id), .text(asset.kind.rawValue), .text(asset.collection),
            .text(facts.capturedAt?.text ?? ""), .text(facts.capturedOffset), .text(facts.dateSource?.rawValue),
            .text(facts.make), .text(facts.model), .text(facts.lens), .real(facts.latitude),
            .real(facts.longitude), .integer(facts.size.map { Int64($0.width) }),
            .integer(facts.size.map { Int64($0.height) }), .integer(Int64(facts.orientation)),
            .text(facts.contentIdentifier), .integer(facts.isScreenshot ? 1 : 0),
        ] + previewValues(asset.preview) + [
            .integer(asset.importedAt.nanoseconds), .text(facts.implausibleAt?.text),
            .text(facts.implausibleSource?.rawValue),
        ]
    }

    static func previewValues(_ preview: AssetPreview) -> [Value] {
        [.text(preview.state.rawValue)] + JobRow.values(preview.problem) + [
            .blob(preview.path?.bytes), .integer(preview.size.map { Int64($0.width) }),
            .integer(preview.size.map { Int64($0.height) }), .text(text(of: preview.renditions)),
        ]
    }

    /// - Returns: whether the asset is there.
    @discardableResult static func set(
        _ preview: AssetPreview, of asset: Asset.ID, on connection: borrowing Connection
    ) throws(Problem) -> Bool {
        try connection.change(
            """
            UPDATE asset SET preview_state = ?, preview_code = ?, preview_title = ?, preview_recovery = ?,
                preview_path = ?, preview_width = ?, preview_height = ?, renditions = ? WHERE id = ?
            """, previewValues(preview) + [.text(asset)]) == 1
    }

    static func add(
        _ resources: [Resource], to asset: Asset.ID, on connection: borrowing Connection
    ) throws(Problem) {
        let first = try connection.number(
            "SELECT coalesce(max(position) + 1, 0) FROM resource WHERE asset_id = ?", [.text(asset)])
        for (offset, resource) in resources.enumerated() {
            try connection.change(
                """
                INSERT INTO resource (asset_id, position, role, path, source_path, size, sha256, mtime_ns, media_type)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
                """,
                [
                    .text(asset), .integer((first ?? 0) + Int64(offset)), .text(resource.role.rawValue),
                    .blob(resource.path.bytes), .blob(resource.sourcePath.bytes), .integer(resource.size),
                    .blob(resource.sha256.bytes), .integer(resource.mtime), .text(resource.mediaType.rawValue),
                ])
        }
    }
}

extension WallTime {
    /// What ``WallTime/text`` wrote.
    init?(stored text: String) {
        let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        let numbers = parts[0].split { $0 == "-" || $0 == "T" || $0 == ":" }.compactMap { Int($0) }
        guard numbers.count == 6 else { return nil }
        self.init(
            year: numbers[0], month: numbers[1], day: numbers[2], hour: numbers[3], minute: numbers[4],
            second: numbers[5], subseconds: parts.count == 2 ? String(parts[1]) : "")
    }
}
