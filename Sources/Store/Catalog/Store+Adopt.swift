package import PhotoModel
import SQLite

/// Files that lie in the library already.
extension Store {
    /// Writes the line for an asset that is about to be adopted, durable when this returns.
    /// - Returns: its id, which names the line in the library's journal too.
    package func announceAdoption(of asset: Asset, importID: String, at now: Timestamp) throws(Problem) -> Int64 {
        try write { (connection) throws(Problem) in
            try Journal.append(
                Journal.Line(
                    at: now, job: nil, importID: importID, what: "adopt", path: asset.resources.first?.path,
                    sha256: asset.resources.first?.sha256, detail: asset.id, outcome: nil), on: connection)
        }
    }

    /// Lists the asset, or its further resources, and closes the line.
    /// - Returns: false when the catalog lists one of the files meanwhile, or not the asset that is joined; nothing has
    ///   changed then but the line.
    package func adopt(_ intent: CommitIntent, journal: Int64) throws(Problem) -> Bool {
        try write { (connection) throws(Problem) in
            let outcome = try Self.rebuild(
                Rebuilt(
                    asset: intent.asset, joins: intent.joinsExisting, importID: intent.importID,
                    at: intent.asset.importedAt, source: nil), on: connection)
            try Journal.close(journal, outcome: outcome == .added ? "adopted" : "rolled_back", on: connection)
            return outcome == .added
        }
    }

    /// The assets that these files of the library belong to; of each path in its order, nil for one that is not listed.
    package func owners(of paths: [Path]) throws(Problem) -> [Asset.ID?] {
        try read { (connection) throws(Problem) in
            var owners: [Asset.ID?] = []
            for path in paths {
                owners.append(
                    try connection.one("SELECT asset_id FROM resource WHERE path = ?", [.blob(path.bytes)]) {
                        row throws(SQLiteError) in try row.text(0)
                    })
            }
            return owners
        }
    }
}
