package import PhotoModel
import SQLite

/// Previews that come after their import.
extension Store {
    /// Says which preview an asset has, with the journal line of it.
    /// - Returns: false when there is no such asset.
    package func set(_ preview: AssetPreview, of asset: Asset.ID, journal: Int64) throws(Problem) -> Bool {
        try write { (connection) throws(Problem) in
            let isThere = try AssetRow.set(preview, of: asset, on: connection)
            try Journal.close(journal, outcome: isThere ? preview.state.rawValue : "gone", on: connection)
            return isThere
        }
    }

    /// Closes lines of acts that a process before this one announced: whether they came about is seen by looking.
    package func closeInterrupted(_ what: String) throws(Problem) {
        try write { (connection) throws(Problem) in
            try connection.change(
                """
                UPDATE journal SET outcome = 'interrupted' WHERE outcome IS NULL AND job_id IS NULL AND what = ?
                """, [.text(what)])
        }
    }

    /// Assets in the order of their ids.
    /// - Parameters:
    ///   - id: the last one of the portion before; empty for a beginning.
    ///   - codes: only those whose preview failed so; nil for all.
    package func assets(
        after id: Asset.ID, withPreviewFailed codes: [Problem.Code]?, limit: Int
    ) throws(Problem) -> [Asset] {
        let (condition, values) = Self.failed(codes)
        return try read { (connection) throws(Problem) in
            let found = try connection.all(
                "SELECT \(AssetRow.columns) FROM asset WHERE id > ?\(condition) ORDER BY id LIMIT ?",
                [.text(id)] + values + [.integer(Int64(limit))], AssetRow.read)
            var assets: [Asset] = []
            for asset in found { assets.append(try AssetRow.withResources(asset, on: connection)) }
            return assets
        }
    }

    package func assetCount(withPreviewFailed codes: [Problem.Code]?) throws(Problem) -> Int64 {
        let (condition, values) = Self.failed(codes)
        return try read { (connection) throws(Problem) in
            try connection.number("SELECT count(*) FROM asset WHERE true\(condition)", values) ?? 0
        }
    }

    /// The states are named so that the partial index of those without a good preview serves.
    private static func failed(_ codes: [Problem.Code]?) -> (String, [Value]) {
        guard let codes else { return ("", []) }
        let places = codes.map { _ in "?" }.joined(separator: ", ")
        return (
            " AND preview_state = 'failed' AND preview_state <> 'ok' AND preview_code IN (\(places))",
            codes.map { .text($0.rawValue) }
        )
    }
}
