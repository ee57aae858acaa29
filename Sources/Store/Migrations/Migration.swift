package import PhotoModel
package import SQLite

/// Brings a database to the schema of this program.
package enum Migration {
    /// - Throws: `E_STATE_STALE` for a database that a later program wrote, which is left as it is; `E_STATE_IO`.
    package static func bring(_ connection: borrowing Connection, to steps: [String]) throws(Problem) {
        let present = Int(try connection.number("PRAGMA user_version") ?? 0)
        guard present <= steps.count else {
            throw Problem(
                .stateStale,
                "The state database was written by a later version of photospool (schema \(present), this one knows "
                    + "\(steps.count)).",
                todo: "Install that version again, or point --state-dir at a backup made by this one. "
                    + "Nothing was changed.")
        }
        for version in present..<steps.count {
            // The version is part of the transaction: a step is done whole or not at all.
            try connection.transaction(translate: Problem.state) { () throws(Problem) in
                do throws(SQLiteError) {
                    try connection.execute(steps[version])
                    try connection.execute("PRAGMA user_version = \(version + 1)")
                } catch { throw .state(error) }
            }
        }
    }
}
