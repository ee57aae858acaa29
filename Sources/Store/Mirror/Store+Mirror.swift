package import PhotoModel
import SQLite

/// Which originals the mirror holds, and what it still owes.
extension Store {
    private static let mirrorKey = "mirror_id"
    /// Up to where the marks of the mirror before were taken away; there only until all are.
    private static let resetKey = "mirror_reset"

    /// The id of the mirror that the marks speak of; nil when the state has never known one.
    package var mirrorID: String? { get throws(Problem) { try setting(Self.mirrorKey) } }

    /// From now on the marks speak of this mirror. Those of another one are taken away by ``resetMirrored(limit:)``, and count
    /// for nothing until then.
    package func adoptMirror(_ id: String) throws(Problem) {
        try write { (connection) throws(Problem) in
            let known = try connection.one("SELECT value FROM setting WHERE key = ?", [.text(Self.mirrorKey)]) {
                row throws(SQLiteError) in try row.text(0)
            }
            guard known != id else { return }
            let put =
                "INSERT INTO setting (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value"
            try connection.change(put, [.text(Self.mirrorKey), .text(id)])
            guard known != nil else { return }
            try connection.change(put, [.text(Self.resetKey), .text("")])
        }
    }

    /// Takes away the marks of the mirror before, of so many assets at a time.
    /// - Returns: whether more are left.
    package func resetMirrored(limit: Int) throws(Problem) -> Bool {
        guard let start = try setting(Self.resetKey) else { return false }
        return try write { (connection) throws(Problem) in
            let end = try connection.one(
                "SELECT max(id) FROM (SELECT id FROM asset WHERE id > ? ORDER BY id LIMIT ?)",
                [.text(start), .integer(Int64(limit))]
            ) { row throws(SQLiteError) in try row.optionalText(0) }
            guard let end = end ?? nil else {
                try connection.change("DELETE FROM setting WHERE key = ?", [.text(Self.resetKey)])
                return false
            }
            try connection.change(
                "UPDATE resource SET mirrored = 0 WHERE asset_id > ? AND asset_id <= ? AND mirrored <> 0",
                [.text(start), .text(end)])
            try connection.change(
                "UPDATE setting SET value = ? WHERE key = ?", [.text(end), .text(Self.resetKey)])
            return true
        }
    }

    // MARK: Originals

    package typealias Placed = (place: ResourcePlace, resource: Resource)

    /// The next originals that the mirror is to get, in the order of their imports. One whose name still belongs to
    /// something that has to leave the mirror comes after that has left.
    package func toMirror(limit: Int) throws(Problem) -> [Placed] {
        try placed(
            """
            SELECT \(AssetRow.resourceColumns), position FROM resource INDEXED BY resource_to_mirror
            WHERE mirrored = 0 AND NOT EXISTS (SELECT 1 FROM mirror_removal WHERE path = resource.path)
            ORDER BY asset_id, position LIMIT ?
            """, [.integer(Int64(limit))])
    }

    /// Originals that the mirror could not get.
    /// - Parameter place: the last one of the portion before.
    package func refusedByMirror(after place: ResourcePlace?, limit: Int) throws(Problem) -> [Placed] {
        try placed(
            """
            SELECT \(AssetRow.resourceColumns), position FROM resource INDEXED BY resource_refused
            WHERE mirrored = 2 AND (asset_id, position) > (?, ?) ORDER BY asset_id, position LIMIT ?
            """, [.text(place?.asset ?? ""), .integer(place?.position ?? -1), .integer(Int64(limit))])
    }

    private func placed(_ sql: String, _ values: [Value]) throws(Problem) -> [Placed] {
        try read { (connection) throws(Problem) in
            try connection.all(sql, values) { row throws(SQLiteError) in
                (
                    place: ResourcePlace(asset: try row.text(7), position: try row.integer(8)),
                    resource: try AssetRow.resource(row)
                )
            }
        }
    }

    /// Records what a mirror holds now, and what it could not get. Whatever left the catalog meanwhile is passed over: it is
    /// noted as something to leave the mirror.
    /// - Returns: false when the marks speak of another mirror by now; nothing is recorded then.
    @discardableResult
    package func recordMirrored(_ there: [Placed], refused: [Placed], on mirror: String) throws(Problem) -> Bool {
        if there.isEmpty, refused.isEmpty { return true }
        return try write { (connection) throws(Problem) in
            guard try Self.isCurrent(mirror, on: connection) else { return false }
            for (mark, all) in [(Int64(1), there), (2, refused)] {
                for (place, resource) in all {
                    try connection.change(
                        "UPDATE resource SET mirrored = ? WHERE asset_id = ? AND position = ? AND path = ?",
                        [
                            .integer(mark), .text(place.asset), .integer(place.position),
                            .blob(resource.path.bytes),
                        ])
                }
            }
            return true
        }
    }

    /// An original that was found missing or damaged on the mirror, which is to get it again.
    package func unmirror(_ path: Path) throws(Problem) {
        try write { (connection) throws(Problem) in
            try connection.change(
                "UPDATE resource SET mirrored = 0 WHERE path = ? AND mirrored = 1", [.blob(path.bytes)])
        }
    }

    /// Whether every original of the asset is on the mirror.
    package func isMirrored(_ asset: Asset.ID) throws(Problem) -> Bool {
        try read { (connection) throws(Problem) in
            try connection.number("SELECT 1 WHERE " + Self.isMirrored, [.text(asset)]) != nil
        }
    }

    /// Of the asset id that is bound.
    static let isMirrored = """
        EXISTS (SELECT 1 FROM setting WHERE key = 'mirror_id')
            AND NOT EXISTS (SELECT 1 FROM setting WHERE key = 'mirror_reset')
            AND EXISTS (SELECT 1 FROM resource WHERE asset_id = ?1)
            AND NOT EXISTS (SELECT 1 FROM resource WHERE asset_id = ?1 AND mirrored <> 1)
        """

    private static func isCurrent(_ mirror: String, on connection: borrowing Connection) throws(Problem) -> Bool {
        try connection.number(
            """
            SELECT EXISTS (SELECT 1 FROM setting WHERE key = 'mirror_id' AND value = ?)
                AND NOT EXISTS (SELECT 1 FROM setting WHERE key = 'mirror_reset')
            """, [.text(mirror)]) == 1
    }

    // MARK: Debts

    /// What the mirror lacks or has too much.
    package struct MirrorDebts: Hashable, Sendable {
        /// Originals it is to get.
        package var owed: Int64 = 0
        /// Originals it cannot get until somebody sees to it.
        package var refused: Int64 = 0
        /// Files that are to leave it.
        package var removals: Int64 = 0

        package init() {}

        package var all: Int64 { owed + refused + removals }
    }

    /// Counts them by their indexes.
    package func mirrorDebts() throws(Problem) -> MirrorDebts {
        try read { (connection) throws(Problem) in
            var debts = MirrorDebts()
            let isResetting = try connection.number("SELECT 1 FROM setting WHERE key = 'mirror_reset'") != nil
            // Until the marks of another mirror are gone, none of them counts.
            debts.owed =
                try connection.number(
                    isResetting
                        ? "SELECT count(*) FROM resource"
                        : "SELECT count(*) FROM resource INDEXED BY resource_to_mirror WHERE mirrored = 0") ?? 0
            if !isResetting {
                debts.refused =
                    try connection.number(
                        "SELECT count(*) FROM resource INDEXED BY resource_refused WHERE mirrored = 2") ?? 0
            }
            debts.removals = try connection.number("SELECT count(*) FROM mirror_removal") ?? 0
            return debts
        }
    }

    /// Whether there is something that the mirror could be doing.
    /// - Parameter removal: up to this one, what is to leave the mirror could not.
    package func hasWorkForMirror(after removal: Int64 = 0) throws(Problem) -> Bool {
        try read { (connection) throws(Problem) in
            try connection.number(
                """
                SELECT EXISTS (
                        SELECT 1 FROM resource INDEXED BY resource_to_mirror
                        WHERE mirrored = 0 AND NOT EXISTS (SELECT 1 FROM mirror_removal WHERE path = resource.path))
                    OR EXISTS (SELECT 1 FROM mirror_removal WHERE id > ?)
                    OR EXISTS (SELECT 1 FROM setting WHERE key = 'mirror_reset')
                """, [.integer(removal)]) == 1
        }
    }

    /// A file that is to leave the mirror, for its asset has left the catalog.
    package struct MirrorRemoval: Hashable, Sendable {
        package let id: Int64
        package let asset: Asset.ID
        package let path: Path
        package let size: Int64
        package let sha256: SHA256Digest
    }

    /// Oldest first.
    /// - Parameter removal: the last one that could not be done.
    package func mirrorRemovals(after removal: Int64 = 0, limit: Int) throws(Problem) -> [MirrorRemoval] {
        try read { (connection) throws(Problem) in
            try connection.all(
                """
                SELECT id, asset_id, path, size, sha256 FROM mirror_removal
                WHERE id > ? ORDER BY id LIMIT ?
                """, [.integer(removal), .integer(Int64(limit))]
            ) { row throws(SQLiteError) in
                let digest = try row.blob(4)
                guard digest.count == 32 else { throw row.unexpected(4) }
                return MirrorRemoval(
                    id: try row.integer(0), asset: try row.text(1), path: Path(bytes: try row.blob(2)),
                    size: try row.integer(3), sha256: SHA256Digest(bytes: digest))
            }
        }
    }

    /// What has left a mirror.
    /// - Returns: false when others are to leave another mirror by now; nothing is forgotten then.
    @discardableResult
    package func forget(_ removals: [MirrorRemoval], on mirror: String) throws(Problem) -> Bool {
        try write { (connection) throws(Problem) in
            guard try Self.isCurrent(mirror, on: connection) else { return false }
            for removal in removals {
                try connection.change("DELETE FROM mirror_removal WHERE id = ?", [.integer(removal.id)])
            }
            return true
        }
    }
}
