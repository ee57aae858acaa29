import Files
package import PhotoModel
import SQLite

/// Copies of the whole state.
extension Store {
    /// Where a copy is made before it is moved to where it is to be kept: SQLite writes on the disk it is used to, whatever
    /// the other one is.
    private var unfinishedBackup: Path { directory / "backup.new" }

    /// Makes a copy of the state as it is at this moment, looks it through, and lends it; afterwards it is gone. Imports go
    /// on meanwhile.
    ///
    /// Operations that wait or run are cancelled in the copy: a state that is put back in a year does not begin with what
    /// somebody wanted today.
    /// - Parameters:
    ///   - isGoingOn: told how many pages are done and how many there are; false ends it.
    ///   - body: gets the copy's path. It is whole, one file, and not open.
    /// - Returns: nil when it was ended.
    /// - Throws: `E_STATE_IO` when it cannot be made, or is found to be damaged, as the state itself then is.
    package func withBackup<Result>(
        isGoingOn: (_ done: Int64, _ total: Int64) -> Bool, _ body: (Path) throws(Problem) -> Result
    ) throws(Problem) -> Result? {
        let copy = unfinishedBackup
        try removeUnfinishedBackup()
        do throws(Problem) {
            guard try fill(copy, isGoingOn) else {
                try removeUnfinishedBackup()
                return nil
            }
            let result = try body(copy)
            try removeUnfinishedBackup()
            return result
        } catch {
            do throws(Problem) { try removeUnfinishedBackup() } catch {}  // the first failure is the one to tell
            throw error
        }
    }

    private func fill(_ copy: Path, _ isGoingOn: (Int64, Int64) -> Bool) throws(Problem) -> Bool {
        // A connection of its own: neither a page of a person's nor a commit waits for this.
        let source = try Opening.openReader(directory / "spool.db")
        let target = try Opening.connect(copy, for: .readWrite)
        // Nobody relies on it before its bytes were copied on and made durable there.
        try target.change("PRAGMA synchronous = OFF")
        do throws(SQLiteError) {
            guard try source.backUp(into: target, isGoingOn: isGoingOn) else { return false }
        } catch { throw .state(error) }
        // One file, without a log beside it that somebody could forget to copy.
        let mode = try target.one("PRAGMA journal_mode = DELETE") { row throws(SQLiteError) in try row.text(0) }
        guard mode == "delete" else {
            throw Problem(
                .stateIO, "A copy of the state could not be made one file: its journal is \(mode ?? "unknown").")
        }
        try target.change("UPDATE operation SET state = 'cancelled' WHERE state IN ('queued', 'running')")
        let finding = try target.one("PRAGMA integrity_check(1)") { row throws(SQLiteError) in try row.text(0) }
        guard finding == "ok" else {
            throw .state(.unexpected(SafeText.of(finding ?? "silence", limit: 200), in: "PRAGMA integrity_check"))
        }
        return true
    }

    private func removeUnfinishedBackup() throws(Problem) {
        do throws(Errno) {
            let folder = try Folder(opening: directory)
            for suffix in ["", "-journal", "-wal", "-shm"] {
                do throws(Errno) { try folder.unlink(Path(unfinishedBackup.name.shown + suffix)) } catch .noEntry {}
            }
        } catch {
            throw Problem(
                .stateIO,
                "Could not remove the unfinished backup \(SafeText.of(unfinishedBackup)): \(error.description).")
        }
    }
}
