import PhotoModel
import SQLite

/// An asset that gains resources.
extension AssetRow {
    /// Adds the resources that `intent` brings to the asset that is there, and what follows from that for the asset.
    static func join(_ intent: CommitIntent, on connection: borrowing Connection) throws(Problem) {
        try join(intent.newResources, to: intent.asset, on: connection)
    }

    /// - Parameter announced: the asset as whoever brings them says it will be: its facts and preview count.
    static func join(
        _ new: [Resource], to announced: Asset, on connection: borrowing Connection
    ) throws(Problem) {
        let id = announced.id
        guard let before = try find(id, on: connection) else { return }  // never: it was checked in this transaction
        let asset = before.joined(
            by: new, facts: announced.facts, holdsVideo: announced.motion == .embedded, preview: announced.preview)
        try add(Array(asset.resources.suffix(new.count)), to: id, on: connection)
        for (old, resource) in zip(before.resources, asset.resources) where old.role != resource.role {
            try connection.change(
                "UPDATE resource SET role = ? WHERE path = ?",
                [.text(resource.role.rawValue), .blob(resource.path.bytes)])
        }
        try connection.change(
            """
            UPDATE asset SET (\(columns))
                = (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) WHERE id = ?
            """, values(asset) + [.text(id)])
    }

    static func find(_ id: Asset.ID, on connection: borrowing Connection) throws(Problem) -> Asset? {
        let found = try connection.one("SELECT \(columns) FROM asset WHERE id = ?", [.text(id)], read)
        guard let found else { return nil }
        return try withResources(found, on: connection)
    }

    static func resources(
        of asset: Asset.ID, on connection: borrowing Connection
    ) throws(Problem) -> [Resource] {
        try connection.all(
            "SELECT \(resourceColumns) FROM resource WHERE asset_id = ? ORDER BY position", [.text(asset)], resource)
    }
}
