import Files
import PhotoModel
import SQLite

/// How the database file is opened and checked.
enum Opening {
    struct Connections {
        let writer: GuardedConnection
        let reader: GuardedConnection
        let door: GuardedConnection
    }

    /// Up to this many bytes the whole structure is checked at every start. `PRAGMA quick_check` reads every page
    /// (measured 4.6 s per GB from the page cache), so it would hold up each start of a catalog of a million photos. A larger file is checked by
    /// ``Store/checkIntegrity()`` on request; damage in it is met and reported when its page is read, and
    /// `cell_size_check` keeps a bad page from being believed.
    static let checkedAtStart: Int64 = 64 << 20

    /// What each connection may keep of the file, in KiB. The kernel keeps it too, so a page that was dropped costs a read
    /// from memory; but what is kept here grows with the queue until it is full, and stays.
    private static let writerCache = 4096
    private static let readerCache = 2048

    static func open(directory: Path, log: Log) throws(Problem) -> Connections {
        let path = directory / "spool.db"
        do throws(Problem) {
            let writer = try connect(path, for: .readWrite)
            try configure(writer)
            try check(writer, log: log)
            try Migration.bring(writer, to: Schema.steps)
            try makeNamesDurable(in: directory)
            return Connections(
                writer: GuardedConnection(writer), reader: GuardedConnection(try openReader(path)),
                door: GuardedConnection(try openReader(path)))
        } catch {
            throw Problem(
                error.code, "Could not open \(SafeText.of(path)): \(error.whatHappened)", todo: error.whatToDo)
        }
    }

    static func connect(_ path: Path, for access: Connection.Access) throws(Problem) -> Connection {
        do throws(SQLiteError) { return try Connection(opening: path.bytes, for: access) } catch { throw .state(error) }
    }

    private static func configure(_ writer: borrowing Connection) throws(Problem) {
        try writer.change("PRAGMA busy_timeout = 5000")
        let mode = try writer.one("PRAGMA journal_mode = WAL") { row throws(SQLiteError) in try row.text(0) }
        guard mode == "wal" else {
            throw Problem(
                .stateIO, "The filesystem of the state directory cannot hold a write-ahead log.",
                todo: "Put the state directory on a local disk; `--state-dir` names another one.")
        }
        // FULL: a commit is fsynced before it is answered. With NORMAL a power cut takes back what was said.
        try writer.change("PRAGMA synchronous = FULL")
        try writer.change("PRAGMA foreign_keys = ON")
        try writer.change("PRAGMA cell_size_check = ON")
        try writer.change("PRAGMA temp_store = MEMORY")
        try writer.change("PRAGMA cache_size = -\(writerCache)")
        try writer.change("PRAGMA journal_size_limit = 67108864")  // gives back what a large batch made of the WAL
    }

    static func openReader(_ path: Path) throws(Problem) -> Connection {
        let reader = try connect(path, for: .readOnly)
        try reader.change("PRAGMA busy_timeout = 5000")
        try reader.change("PRAGMA cell_size_check = ON")
        try reader.change("PRAGMA temp_store = MEMORY")
        try reader.change("PRAGMA cache_size = -\(readerCache)")
        return reader
    }

    private static func check(_ writer: borrowing Connection, log: Log) throws(Problem) {
        let pages = try writer.number("PRAGMA page_count") ?? 0
        let pageSize = try writer.number("PRAGMA page_size") ?? 0
        guard pages * pageSize <= checkedAtStart else {
            log(
                LogLine(
                    .debug, "The state database is large; its whole structure is checked on request only.",
                    [("BYTES", String(pages * pageSize))]))
            return
        }
        try quickCheck(writer)
    }

    /// - Throws: `E_STATE_IO` naming the first fault.
    static func quickCheck(_ connection: borrowing Connection) throws(Problem) {
        let finding = try connection.one("PRAGMA quick_check(1)") { row throws(SQLiteError) in try row.text(0) }
        guard finding == "ok" else {
            throw .state(.unexpected(SafeText.of(finding ?? "silence", limit: 200), in: "PRAGMA quick_check"))
        }
    }

    /// SQLite ignores it when the directory of a new WAL cannot be synced; a commit would be durable in a file whose
    /// name is not. The names stay for the life of the connections, so once is enough.
    private static func makeNamesDurable(in directory: Path) throws(Problem) {
        do throws(Errno) {
            try Folder(opening: directory).sync()
        } catch {
            throw Problem(.stateIO, "Could not make the state directory's names durable: \(error.description).")
        }
    }
}
