import CSQLite

extension Connection {
    /// Pages that are copied between two looks at whether to go on: 4 MiB.
    private static let pagesAtOnce: Int32 = 1024

    /// Copies the whole database, as it stands at this moment, into another one, whose content gives way. Others may write
    /// to this one meanwhile: all of it is read within one snapshot. <https://www.sqlite.org/backup.html>
    /// - Parameter isGoingOn: told how many pages are done and how many there are; false ends it.
    /// - Returns: false when it was ended, at its last page too; the target is then of no use.
    package func backUp(
        into target: borrowing Connection, isGoingOn: (_ done: Int64, _ total: Int64) -> Bool
    ) throws(SQLiteError) -> Bool {
        let asItIs: (SQLiteError) -> SQLiteError = { $0 }
        return try snapshot(translate: asItIs) { () throws(SQLiteError) in
            // A snapshot begins with the first read. Without one, every write of another connection would make the copy
            // begin again, and a busy day would never be copied to its end.
            _ = try first("SELECT count(*) FROM sqlite_schema") { _ in }
            return try copyPages(into: target, isGoingOn)
        }
    }

    private func copyPages(
        into target: borrowing Connection, _ isGoingOn: (_ done: Int64, _ total: Int64) -> Bool
    ) throws(SQLiteError) -> Bool {
        guard let copying = unsafe sqlite3_backup_init(target.handle, "main", handle, "main") else {
            throw target.failure(SQLITE_ERROR, in: "backup")
        }
        var code = SQLITE_OK
        var isWanted = true
        while code == SQLITE_OK, isWanted {
            code = unsafe sqlite3_backup_step(copying, Self.pagesAtOnce)
            let total = unsafe sqlite3_backup_pagecount(copying)
            let rest = unsafe sqlite3_backup_remaining(copying)
            isWanted = isGoingOn(Int64(total - rest), Int64(total))
        }
        let ended = unsafe sqlite3_backup_finish(copying)
        if code == SQLITE_DONE { return isWanted }
        if code == SQLITE_OK, ended == SQLITE_OK { return false }
        throw target.failure(code == SQLITE_OK ? ended : code, in: "backup")
    }
}
