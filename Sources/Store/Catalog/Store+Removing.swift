package import PhotoModel
import SQLite

/// Assets that are taken out of the catalog, and what stays known of them.
extension Store {
    /// Takes an asset out, with its journal line, in one transaction. Its jobs are `cancelled` from then on: their sources
    /// stay known, so that no rescan brings them back, and a retry does. What was still to be moved or deleted is kept:
    /// only a listed original stands for a source.
    /// - Parameter isForGood: leaves tombstones: the same bytes are passed over when they come again.
    /// - Returns: false when it has other files by now than `asset` says, for something joined it: it stays then, and its
    ///   line is closed.
    @discardableResult package func remove(
        _ asset: Asset, journal: Int64, isForGood: Bool, at now: Timestamp
    ) throws(Problem) -> Bool {
        try write { (connection) throws(Problem) in
            let paths = try connection.all("SELECT path FROM resource WHERE asset_id = ?", [.text(asset.id)]) {
                row throws(SQLiteError) in Path(bytes: try row.blob(0))
            }
            let isSame = Set(paths) == Set(asset.resources.map(\.path))
            if isSame {
                try Self.takeOut(asset.id, tombstones: isForGood ? asset.resources : [], at: now, on: connection)
            }
            try Journal.close(journal, outcome: isSame ? "trashed" : "overtaken", on: connection)
            return isSame
        }
    }

    static func takeOut(
        _ asset: Asset.ID, tombstones: [Resource], at now: Timestamp, on connection: borrowing Connection
    ) throws(Problem) {
        for resource in tombstones {
            try connection.change(
                "INSERT OR IGNORE INTO tombstone (sha256, asset_id, path, at) VALUES (?, ?, ?, ?)",
                [
                    .blob(resource.sha256.bytes), .text(asset), .blob(resource.path.bytes), .integer(now.nanoseconds),
                ])
        }
        // The journal's words about these jobs stay; the rows lose their asset with it.
        try connection.change(
            """
            UPDATE job SET state = 'cancelled',
                disposition = CASE disposition WHEN 'pending' THEN 'kept' ELSE disposition END
            WHERE asset_id = ? AND state IN ('imported', 'duplicate')
            """, [.text(asset)])
        try connection.change("DELETE FROM asset WHERE id = ?", [.text(asset)])
    }

    /// Removals that a process before this one announced and did not finish, oldest first.
    /// - Parameter what: the words of their journal lines.
    package func openRemovals(_ what: [String]) throws(Problem) -> [(journal: Int64, what: String, asset: Asset.ID)] {
        try read { (connection) throws(Problem) in
            try connection.all(
                """
                SELECT id, what, detail FROM journal INDEXED BY journal_open
                WHERE outcome IS NULL AND job_id IS NULL AND detail IS NOT NULL ORDER BY id
                """
            ) { row throws(SQLiteError) in
                (journal: try row.integer(0), what: try row.text(1), asset: try row.text(2))
            }
        }.filter { what.contains($0.what) }
    }

    /// How many assets were taken back, and sources put back, by the journal's lines behind this one.
    package func undone(since line: Int64) throws(Problem) -> (trashed: Int64, returned: Int64) {
        try read { (connection) throws(Problem) in
            let trashed = try connection.number(
                "SELECT count(*) FROM journal WHERE id > ? AND what = 'undo' AND outcome = 'trashed'", [.integer(line)])
            let returned = try connection.number(
                """
                SELECT count(DISTINCT path) FROM journal
                WHERE id > ? AND what = 'return' AND outcome = 'kept' AND path NOT NULL
                """, [.integer(line)])
            return (trashed ?? 0, returned ?? 0)
        }
    }

    /// Closes a journal line without a job.
    package func closeJournal(_ id: Int64, outcome: String) throws(Problem) {
        try write { (connection) throws(Problem) in try Journal.close(id, outcome: outcome, on: connection) }
    }

    /// The jobs that brought files of this asset.
    package func jobs(of asset: Asset.ID) throws(Problem) -> [Job] {
        try read { (connection) throws(Problem) in
            let found = try connection.all(
                "SELECT \(JobRow.columns) FROM job WHERE asset_id = ? ORDER BY id", [.text(asset)], JobRow.read)
            var jobs: [Job] = []
            for job in found { jobs.append(try JobRow.withFiles(job, on: connection)) }
            return jobs
        }
    }

    /// How many files of an asset that is gone are kept out.
    package func tombstones(of asset: Asset.ID) throws(Problem) -> Int64 {
        try read { (connection) throws(Problem) in
            try connection.number("SELECT count(*) FROM tombstone WHERE asset_id = ?", [.text(asset)]) ?? 0
        }
    }

    /// Lets bytes that were deleted for good in again, with the journal line of it.
    /// - Returns: how many there were.
    package func forgetTombstones(of asset: Asset.ID, journal: Int64) throws(Problem) -> Int {
        try write { (connection) throws(Problem) in
            try Journal.close(journal, outcome: "forgotten", on: connection)
            return try connection.change("DELETE FROM tombstone WHERE asset_id = ?", [.text(asset)])
        }
    }
}
