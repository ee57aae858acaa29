package import PhotoModel
import SQLite

/// Looking into the catalog.
extension Store {
    /// What the catalog has with these bytes. Whether the library still has them is for the caller to read.
    package func resources(
        withHash digest: SHA256Digest
    ) throws(Problem) -> [(asset: Asset.ID, resource: Resource)] {
        try atTheDoor { (connection) throws(Problem) in
            try connection.all(
                "SELECT \(AssetRow.resourceColumns) FROM resource WHERE sha256 = ? ORDER BY asset_id, position",
                [.blob(digest.bytes)]
            ) { row throws(SQLiteError) in (asset: try row.text(7), resource: try AssetRow.resource(row)) }
        }
    }

    /// Whether these bytes were deleted on purpose.
    package func isTombstoned(_ digest: SHA256Digest) throws(Problem) -> Bool {
        try atTheDoor { (connection) throws(Problem) in
            try connection.number("SELECT 1 FROM tombstone WHERE sha256 = ?", [.blob(digest.bytes)]) != nil
        }
    }

    /// Remembers that these bytes were deleted on purpose.
    package func addTombstone(
        _ digest: SHA256Digest, asset: Asset.ID?, path: Path?, at now: Timestamp
    ) throws(Problem) {
        try write { (connection) throws(Problem) in
            try connection.change(
                "INSERT OR IGNORE INTO tombstone (sha256, asset_id, path, at) VALUES (?, ?, ?, ?)",
                [.blob(digest.bytes), .text(asset), .blob(path?.bytes), .integer(now.nanoseconds)])
        }
    }

    /// Whether the catalog lists a resource at this path of the library, on disk or not: no new file should take it.
    package func isListed(_ path: Path) throws(Problem) -> Bool {
        try atTheDoor { (connection) throws(Problem) in try AssetRow.isTaken(path, on: connection) }
    }

    /// The assets that have originals of this stem in this folder: for `2026/IMG_1.CR2` also that of `2026/IMG_1.JPG`.
    package func assets(ofStemOf path: Path) throws(Problem) -> [Asset] {
        let start = (path.parent / path.name.stem).bytes
        return try atTheDoor { (connection) throws(Problem) in
            let found = try connection.all(
                Self.originalsOfStem,
                [
                    .blob(start + [UInt8(ascii: ".")]), .blob(start + [UInt8(ascii: "/")]),
                    .integer(Int64(start.count + 1)),
                ]
            ) { row throws(SQLiteError) in (path: Path(bytes: try row.blob(0)), asset: try row.text(1)) }
            // `IMG_1.edit.JPG` lies in the stretch of `IMG_1`, and is another shot.
            let ids = Set(found.filter { ShotName($0.path.name).stem == path.name.stem }.map(\.asset))
            var assets: [Asset] = []
            for id in ids.sorted() {
                if let asset = try AssetRow.find(id, on: connection) { assets.append(asset) }
            }
            return assets
        }
    }

    /// One stretch of the index that keeps paths apart; no slash may follow.
    package static let originalsOfStem = """
        SELECT path, asset_id FROM resource WHERE path > ? AND path < ? AND instr(substr(path, ?), X'2F') = 0
        """

    /// Whether the catalog lists an original with these bytes at this path.
    package func lists(_ digest: SHA256Digest, at path: Path) throws(Problem) -> Bool {
        try atTheDoor { (connection) throws(Problem) in
            try connection.number(
                "SELECT 1 FROM resource WHERE path = ? AND sha256 = ?", [.blob(path.bytes), .blob(digest.bytes)]) != nil
        }
    }

    package func asset(_ id: Asset.ID) throws(Problem) -> Asset? {
        try read { (connection) throws(Problem) in
            try AssetRow.find(id, on: connection)
        }
    }

    /// Assets, captured last first.
    /// - Throws: `E_BAD_REQUEST` for a limit outside 1...200 or a foreign cursor.
    package func assets(
        _ filter: AssetFilter, limit: Int, after cursor: String? = nil
    ) throws(Problem) -> Page<Asset> {
        let limit = try Cursor.checkedLimit(limit)
        var conditions: [String] = []
        var values: [Value] = []
        if let cursor {
            let parts = try Cursor.parts(cursor, count: 2)
            conditions.append("(captured_at, id) < (?, ?)")
            values += [.text(parts[0]), .text(parts[1])]
        }
        if let from = filter.from {
            conditions.append("captured_at >= ?")
            values.append(.text(from.text))
        }
        if let to = filter.to {
            conditions.append("captured_at < ? AND captured_at <> ''")
            values.append(.text(to.text))
        }
        if let camera = filter.camera {
            conditions.append("instr(lower(coalesce(make, '') || ' ' || coalesce(model, '')), lower(?)) > 0")
            values.append(.text(camera))
        }
        let condition = conditions.isEmpty ? "" : "WHERE " + conditions.joined(separator: " AND ")
        return try read { (connection) throws(Problem) in
            let found = try connection.all(
                "SELECT \(AssetRow.columns) FROM asset \(condition) ORDER BY captured_at DESC, id DESC LIMIT ?",
                values + [.integer(Int64(limit + 1))], AssetRow.read)
            var page = Page(found, limit: limit) { Cursor.make([$0.facts.capturedAt?.text ?? "", $0.id]) }
            for position in page.items.indices {
                page.items[position] = try AssetRow.withResources(page.items[position], on: connection)
            }
            return page
        }
    }

    /// The assets with this content identifier: the halves of a Live Photo have the same.
    package func assets(withContentIdentifier identifier: String) throws(Problem) -> [Asset] {
        try read { (connection) throws(Problem) in
            let found = try connection.all(
                "SELECT \(AssetRow.columns) FROM asset WHERE content_identifier = ? ORDER BY id LIMIT 16",
                [.text(identifier)], AssetRow.read)
            var assets: [Asset] = []
            for asset in found { assets.append(try AssetRow.withResources(asset, on: connection)) }
            return assets
        }
    }
}
