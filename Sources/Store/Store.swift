package import PhotoModel
import SQLite
import Synchronization

/// Queue and catalog: what is to be imported, what was, and what was done to files meanwhile.
///
/// Every call is synchronous and safe from any thread; it may wait for the disk, so callers are blocking threads. When
/// a call that changes something returns, the change is on the medium. When it throws, or the process dies in it, there
/// was none.
package final class Store: Sendable {
    /// A job in the hands of one import. Only as long as the job's row carries this import id can anything be changed
    /// through it; a stale one gets `E_CONFLICT`.
    package struct Claim: Sendable {
        package let job: Job
        package let importID: String

        package init(job: Job, importID: String) {
            self.job = job
            self.importID = importID
        }
    }

    /// `spool.db`, for who needs a connection of his own.
    let database: Path
    /// Where `spool.db` lies.
    let directory: Path
    private let writer: GuardedConnection
    /// For pages and reports, apart from ``door`` so that a long list never holds up the watcher's rescan.
    private let reader: GuardedConnection
    /// For the single look-ups of watcher and imports, a million in a row for a rescan: no page of a person's holds
    /// them up.
    private let door: GuardedConnection
    /// The drop served last. In memory only: after a restart the round begins anew.
    let lastServed = Mutex("")

    /// Opens or makes `spool.db` in `directory`, which exists and is locked by this process.
    /// - Throws: `E_STATE_IO` when it cannot be used or is damaged, which never deletes or changes it; `E_STATE_STALE`
    ///   when a later program wrote it.
    package init(directory: Path, log: Log, now: Timestamp) throws(Problem) {
        let opened = try Opening.open(directory: directory, log: log)
        database = directory / "spool.db"
        self.directory = directory
        writer = opened.writer
        reader = opened.reader
        door = opened.door
        try closeQuietBatches(at: now)
    }

    /// Runs `body` as one transaction, durable when this returns.
    @discardableResult
    func write<Result>(
        _ body: (borrowing Connection) throws(Problem) -> Result
    ) throws(Problem) -> Result {
        try writer.with { connection throws(Problem) in
            try connection.transaction(translate: Problem.state) { () throws(Problem) in try body(connection) }
        }
    }

    /// Runs `body` on what is committed. A body of several statements sees one state of the database throughout.
    func read<Result>(_ body: (borrowing Connection) throws(Problem) -> Result) throws(Problem) -> Result {
        try reader.with { connection throws(Problem) in
            try connection.snapshot(translate: Problem.state) { () throws(Problem) in try body(connection) }
        }
    }

    func atTheDoor<Result>(_ body: (borrowing Connection) throws(Problem) -> Result) throws(Problem) -> Result {
        try door.with(body)
    }
}
