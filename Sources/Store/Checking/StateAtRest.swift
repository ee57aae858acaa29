import Files
package import PhotoModel
import SQLite

/// A state directory that no daemon is using, looked at without any change to it.
package struct StateAtRest: Sendable {
    private let database: Path

    /// - Parameter directory: its lock must be free before and after; a daemon that starts meanwhile spoils the answer.
    package init(directory: Path) { database = directory / "spool.db" }

    /// What is found wrong, and the library that the state belongs to; nil when it knows none yet.
    ///
    /// - Parameter isCancelled: asked now and then; the call then ends with an error.
    /// - Throws: `E_STATE_IO` when it cannot be read or is damaged beyond asking.
    package func look(
        isCancelled: @escaping () -> Bool
    ) throws(Problem) -> (faults: [StateFault], libraryID: String?) {
        let connection = try Opening.connect(database, for: .untouched(hasLog: hasLog))
        return try connection.interruptible(isCancelled: isCancelled) { () throws(Problem) in
            let faults = try StateQuestions.structure(connection, isQuick: true)
            guard faults.isEmpty else { return (faults, nil) }
            let id = try connection.one("SELECT value FROM setting WHERE key = 'library_id'") {
                row throws(SQLiteError) in try row.text(0)
            }
            return (faults, id)
        }
    }

    /// What a daemon that was killed left; one that stops brings it home.
    private var hasLog: Bool {
        do throws(Errno) {
            let log = Path(bytes: database.name.bytes + Array("-wal".utf8))
            return try Folder(opening: database.parent).status(of: log).stamp.size > 0
        } catch {
            return false  // there is none
        }
    }
}
