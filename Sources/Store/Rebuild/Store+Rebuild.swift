package import PhotoModel
import SQLite

/// Putting back what the library's journal tells and this state does not know. Nothing is ever taken away, and doing the
/// same once more changes nothing.
extension Store {
    /// One commit of the library's journal whose files are there.
    package struct Rebuilt: Sendable {
        /// When it joins an asset, with the new resources only.
        package var asset: Asset
        package var joins: Bool
        package var importID: String
        /// When it was announced.
        package var at: Timestamp
        /// What the queue is to know of its sources; nil when nobody can say what became of them.
        package var source: RebuiltSource?

        package init(asset: Asset, joins: Bool, importID: String, at: Timestamp, source: RebuiltSource?) {
            self.asset = asset
            self.joins = joins
            self.importID = importID
            self.at = at
            self.source = source
        }
    }

    package enum Rebuilding: Sendable, Hashable {
        case added
        /// It was there.
        case known
        /// It was not added, for the catalog says something else. With a sentence.
        case contradicted(Path, String)
        /// The asset that it joins is not in the catalog.
        case joinsNothing
    }

    /// A portion, in one transaction.
    /// - Parameters:
    ///   - first: ``firstUnsettledAct()`` before the journal was read: an asset that was taken out since stays out.
    ///   - batchTime: of the batches that the jobs are put in, one for each drop: it finds them again.
    /// - Returns: what became of each, in their order.
    package func rebuild(
        _ portion: [Rebuilt], since first: Int64, batchTime: Timestamp
    ) throws(Problem) -> [Rebuilding] {
        try write { (connection) throws(Problem) in
            var desk = RebuiltJobs(batchTime: batchTime)
            var outcomes: [Rebuilding] = []
            for rebuilt in portion {
                try Self.giveBack(import: rebuilt.importID, on: connection)
                if try Self.hasTakenOut(rebuilt.asset.id, since: first, on: connection) {
                    outcomes.append(.known)
                    continue
                }
                let outcome = try Self.rebuild(rebuilt, on: connection)
                if outcome == .added || outcome == .known, let source = rebuilt.source {
                    try desk.know(source, of: rebuilt, on: connection)
                }
                outcomes.append(outcome)
            }
            return outcomes
        }
    }

    /// An import that this state believes to be under way, while the library shows that it ended: its job begins anew, and
    /// finds that its photo is known. Recovery must not meet its intent, which speaks of files that are the catalog's now.
    private static func giveBack(import id: String, on connection: borrowing Connection) throws(Problem) {
        let job = try connection.number(
            """
            SELECT id FROM job INDEXED BY job_in_flight
            WHERE state IN ('copying', 'previewing', 'committing') AND import_id = ?
            """, [.text(id)])
        guard let job else { return }
        try connection.change(
            """
            UPDATE job SET state = 'queued', import_id = NULL, intent = NULL, journal_id = NULL,
                attempts = max(attempts - 1, 0) WHERE id = ?
            """, [.integer(job)])
        try Journal.closeOpen(job: job, outcome: "rebuilt", on: connection)
    }

    static func rebuild(_ rebuilt: Rebuilt, on connection: borrowing Connection) throws(Problem) -> Rebuilding {
        let asset = rebuilt.asset
        let isThere = try connection.number("SELECT 1 FROM asset WHERE id = ?", [.text(asset.id)]) != nil
        if rebuilt.joins, !isThere { return .joinsNothing }
        var new: [Resource] = []
        for resource in asset.resources {
            let holder = try connection.one(
                "SELECT asset_id, sha256 FROM resource WHERE path = ?", [.blob(resource.path.bytes)]
            ) { row throws(SQLiteError) in (asset: try row.text(0), sha256: try row.blob(1)) }
            guard let holder else {
                new.append(resource)
                continue
            }
            guard holder.asset == asset.id else {
                return .contradicted(
                    resource.path,
                    "\(SafeText.of(resource.path)) belongs to asset \(holder.asset) in the catalog, and to \(asset.id) "
                        + "in the library's journal.")
            }
            guard holder.sha256 == resource.sha256.bytes else {
                return .contradicted(
                    resource.path,
                    "\(SafeText.of(resource.path)) has another SHA-256 in the catalog than in the library's journal.")
            }
        }
        if rebuilt.joins {
            if new.isEmpty { return .known }
            try AssetRow.join(new, to: asset, on: connection)
            return .added
        }
        if isThere { return .known }
        try AssetRow.insert(asset, on: connection)
        try AssetRow.add(asset.resources, to: asset.id, on: connection)
        return .added
    }

    /// Ends a rebuild: from now on the state knows of everything that the library's journal holds, and reserves only higher
    /// ids.
    package func raiseJournal(to id: Int64) throws(Problem) {
        try write { (connection) throws(Problem) in
            let changed = try connection.change(
                "UPDATE sqlite_sequence SET seq = max(seq, ?) WHERE name = 'journal'", [.integer(id)])
            if changed == 0 {
                try connection.change("INSERT INTO sqlite_sequence (name, seq) VALUES ('journal', ?)", [.integer(id)])
            }
        }
    }
}
