package import PhotoModel
import SQLite

/// What became of assets after their import, as the library's journal tells it.
extension Store {
    package struct RebuiltAct: Sendable {
        package enum Deed: Sendable {
            /// - Parameters:
            ///   - tombstones: those of its files whose bytes are to stay out.
            ///   - sources: where its files came from.
            case removal(tombstones: [Resource], sources: [RebuiltSource], at: Timestamp)
            case forgotten
            case preview(AssetPreview)
        }

        package var line: Int64
        package var asset: Asset.ID
        package var deed: Deed

        package init(line: Int64, asset: Asset.ID, deed: Deed) {
            self.line = line
            self.asset = asset
            self.deed = deed
        }
    }

    /// The lowest id of an act on an asset whose line the library's journal may not hold yet: it is under way, or to come.
    package func firstUnsettledAct() throws(Problem) -> Int64 {
        try read { (connection) throws(Problem) in
            let highest = try connection.number("SELECT seq FROM sqlite_sequence WHERE name = 'journal'") ?? 0
            let open = try connection.number(
                """
                SELECT min(id) FROM journal INDEXED BY journal_open
                WHERE outcome IS NULL AND what IN ('trash', 'undo', 'forget', 'preview')
                """)
            return open ?? highest + 1
        }
    }

    /// A portion, in one transaction. What this state itself has done to an asset since `first` counts for more.
    /// - Parameters:
    ///   - first: ``firstUnsettledAct()`` before the journal was read.
    ///   - isStale: whether nothing is under way, whatever the state believes.
    package func rebuild(
        _ acts: [RebuiltAct], since first: Int64, isStale: Bool, batchTime: Timestamp
    ) throws(Problem) {
        try write { (connection) throws(Problem) in
            var jobs = RebuiltJobs(batchTime: batchTime)
            for act in acts {
                let since = max(first, act.line + 1)
                if try Self.hasActed(on: act.asset, since: since, on: connection) { continue }
                switch act.deed {
                case .removal(let tombstones, let sources, let time):
                    try Self.takeOut(act.asset, tombstones: tombstones, at: time, on: connection)
                    try jobs.cancel(sources, at: time, isStale: isStale, on: connection)
                case .forgotten:
                    try connection.change("DELETE FROM tombstone WHERE asset_id = ?", [.text(act.asset)])
                case .preview(let preview):
                    // One that failed says nothing of a preview that came after it, with a file that joined.
                    let present = try AssetRow.find(act.asset, on: connection)?.preview.path
                    if preview.path == nil, present != nil { continue }
                    try AssetRow.set(preview, of: act.asset, on: connection)
                }
            }
        }
    }

    private static func hasActed(
        on asset: Asset.ID, since first: Int64, on connection: borrowing Connection
    ) throws(Problem) -> Bool {
        try connection.number(
            "SELECT 1 FROM journal WHERE id >= ? AND what IN ('trash', 'undo', 'forget', 'preview') AND detail = ? LIMIT 1",
            [.integer(first), .text(asset)]) != nil
    }

    static func hasTakenOut(
        _ asset: Asset.ID, since first: Int64, on connection: borrowing Connection
    ) throws(Problem) -> Bool {
        try connection.number(
            "SELECT 1 FROM journal WHERE id >= ? AND what IN ('trash', 'undo') AND detail = ? LIMIT 1",
            [.integer(first), .text(asset)]) != nil
    }
}
