package import PhotoModel
import SQLite

/// Going through the whole catalog in portions: what a check of everything costs in memory stays the same at any size.
extension Store {
    /// Where a resource stands in the catalog.
    package struct ResourcePlace: Hashable, Sendable {
        package let asset: Asset.ID
        package let position: Int64

        package init(asset: Asset.ID, position: Int64) {
            self.asset = asset
            self.position = position
        }
    }

    /// Originals in the order of their assets' ids, which is that of their imports.
    /// - Parameters:
    ///   - place: the last one of the portion before.
    ///   - onMirror: only those that the mirror is known to hold.
    package func resources(
        after place: ResourcePlace?, limit: Int, onMirror: Bool = false
    ) throws(Problem) -> [(place: ResourcePlace, resource: Resource)] {
        try read { (connection) throws(Problem) in
            try connection.all(
                """
                SELECT \(AssetRow.resourceColumns), position FROM resource
                WHERE (asset_id, position) > (?, ?)\(onMirror ? " AND mirrored = 1" : "") ORDER BY asset_id, position LIMIT ?
                """,
                [.text(place?.asset ?? ""), .integer(place?.position ?? -1), .integer(Int64(limit))]
            ) { row throws(SQLiteError) in
                (
                    place: ResourcePlace(asset: try row.text(7), position: try row.integer(8)),
                    resource: try AssetRow.resource(row)
                )
            }
        }
    }

    /// How many originals the catalog has, and how many bytes they hold. Reads all of them once.
    package func resourceTotals(onMirror: Bool = false) throws(Problem) -> (files: Int64, bytes: Int64) {
        try read { (connection) throws(Problem) in
            try connection.one(
                "SELECT count(*), coalesce(sum(size), 0) FROM resource" + (onMirror ? " WHERE mirrored = 1" : "")
            ) { row throws(SQLiteError) in
                (files: try row.integer(0), bytes: try row.integer(1))
            } ?? (0, 0)
        }
    }

    /// Whether a commit that is under way is about to put a file there, or has done so and not said it yet.
    package func isBeingCommitted(_ path: Path) throws(Problem) -> Bool {
        try interrupted().contains { job in job.intent?.moves.contains { $0.final == path } ?? false }
    }
}
