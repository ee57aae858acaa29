import Files
import Glibc
import PhotoModel
import SQLite
import Store
import Testing

@Suite("Opening the state database") struct OpeningTests {
    @Test func `sets it up so that what was answered is durable`() throws {
        let scene = try Scene()
        #expect(try scene.number("PRAGMA user_version") == 7)
        #expect(try scene.number("SELECT count(*) FROM pragma_journal_mode WHERE journal_mode = 'wal'") == 1)
        #expect(
            try scene.number(
                "SELECT count(*) FROM pragma_table_list WHERE type = 'table' AND schema = 'main' AND strict = 0 "
                    + "AND name NOT LIKE 'sqlite_%'") == 0)
        // A foreign key that leads nowhere is refused: the pragma is on.
        let ids = try scene.enqueue("/card/1")
        let claim = try #require(try scene.claim())
        #expect(
            code {
                try scene.store.finish(
                    claim, as: .duplicate, problem: nil, asset: "nowhere", disposition: .keep, at: Scene.start)
            } == .conflict)
        #expect(try scene.store.job(ids[0])?.state == .copying)
    }

    @Test func `refuses one that a later program wrote and leaves it alone`() throws {
        let scene = try Scene()
        try change(scene) { connection throws(SQLiteError) in try connection.execute("PRAGMA user_version = 77") }
        let problem = try refusal(at: scene.directory)
        #expect(problem.code == .stateStale)
        #expect(problem.whatHappened.contains("schema 77"))
        #expect(try scene.number("PRAGMA user_version") == 77)
    }

    @Test func `refuses what is no database, says what to do, and does not touch it`() throws {
        let directory = try Scene.makeDirectory()
        let bytes = Array(repeating: UInt8(ascii: "x"), count: 8192)
        try Bytes.write(bytes, to: directory / "spool.db")
        defer { Bytes.remove(directory) }
        let problem = try refusal(at: directory)
        #expect(problem.code == .stateIO)
        #expect(problem.whatHappened.contains("SQLITE_NOTADB"))
        #expect(problem.whatToDo.contains("photospool rebuild"))
        #expect(try Bytes.read(directory / "spool.db") == bytes)
    }

    @Test func `refuses one with a block of zeros in the middle`() throws {
        let directory = try Scene.makeDirectory()
        defer { Bytes.remove(directory) }
        do {
            let store = try Store(directory: directory, log: { _ in }, now: Scene.start)
            let groups = (0..<200).map { Scene.group(Scene.file("/card/\($0)")) }
            _ = try store.enqueue(groups, isManual: false, batch: nil, at: Scene.start)
        }
        var bytes = try Bytes.read(directory / "spool.db")
        let root = try rootPage(of: "job_file", in: directory)
        bytes.replaceSubrange((root - 1) * 4096..<root * 4096, with: Array(repeating: 0, count: 4096))
        try Bytes.write(bytes, to: directory / "spool.db")
        let problem = try refusal(at: directory)
        #expect(problem.code == .stateIO)
        #expect(problem.whatHappened.contains("damaged"))
        #expect(try Bytes.read(directory / "spool.db") == bytes)
    }

    @Test func `says so when the directory is missing`() throws {
        #expect(try refusal(at: Path("/nonexistent/photospool")).code == .stateIO)
    }

    @Test func `does a migration step whole or not at all`() throws {
        let scene = try Scene()
        try scene.enqueue("/card/1")
        let writer = try Connection(opening: (scene.directory / "spool.db").bytes, for: .readWrite)
        // The second statement fails; the first must not stay.
        let done = [String](repeating: "", count: 7)
        let steps = done + ["CREATE TABLE half (v INTEGER) STRICT; INSERT INTO missing VALUES (1)"]
        #expect(code { try Migration.bring(writer, to: steps) } == .stateIO)
        #expect(try scene.number("PRAGMA user_version") == 7)
        #expect(try scene.number("SELECT count(*) FROM sqlite_schema WHERE name = 'half'") == 0)
        try Migration.bring(writer, to: done + ["CREATE TABLE whole (v INTEGER) STRICT"])
        #expect(try scene.number("PRAGMA user_version") == 8)
        #expect(try scene.store.job(1) != nil)
    }

    private func change(_ scene: Scene, _ body: (borrowing Connection) throws(SQLiteError) -> Void) throws {
        try body(try Connection(opening: (scene.directory / "spool.db").bytes, for: .readWrite))
    }

    private func refusal(at directory: Path) throws -> Problem {
        try #require(
            #expect(throws: Problem.self) {
                _ = try Store(directory: directory, log: { _ in }, now: Scene.start)
            })
    }

    private func rootPage(of table: String, in directory: Path) throws -> Int {
        let connection = try Connection(opening: (directory / "spool.db").bytes, for: .readOnly)
        let page = try connection.first("SELECT rootpage FROM sqlite_schema WHERE name = ?", [.text(table)]) {
            row throws(SQLiteError) in try row.integer(0)
        }
        return Int(try #require(page))
    }
}

@Suite("A power cut") struct PowerCutTests {
    /// The write-ahead log ends at every possible place: between two writes, within one, within a frame's header. The
    /// store that opens on it holds each enqueue whole or not at all, its counts are true, and it goes on.
    @Test func `at any byte of the log leaves each call whole or undone`() throws {
        let scene = try Scene()
        // From here the log grows from the beginning, and nothing is moved into the database.
        let whole = try Connection(opening: (scene.directory / "spool.db").bytes, for: .readWrite)
        try whole.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        for call in 0..<3 {
            try scene.enqueue((0..<5).map { Scene.group(Scene.file("/card/\(call)-\($0)")) })
        }
        let claim = try #require(try scene.claim())
        _ = try scene.store.recordIntent(Scene.intent(for: claim), for: claim, at: Scene.start)
        let database = try Bytes.read(scene.directory / "spool.db")
        let log = try Bytes.read(scene.directory / "spool.db-wal")
        try #require(log.count > 32 + 4120)

        var seen: Set<Int64> = []
        // Frames are 24 + 4096 bytes after a header of 32: each end, one byte to either side, and the middle.
        let ends = stride(from: 32, through: log.count, by: 4120).flatMap { [$0 - 1, $0, $0 + 1, $0 + 2000] }
        for end in ends where end <= log.count {
            let directory = try Scene.makeDirectory()
            defer { Bytes.remove(directory) }
            try Bytes.write(database, to: directory / "spool.db")
            try Bytes.write(Array(log[..<end]), to: directory / "spool.db-wal")
            let store = try Store(directory: directory, log: { _ in }, now: Scene.start)
            try store.checkIntegrity()
            let counts = try store.counts(at: Scene.start)
            let jobs = try store.jobs(JobFilter(), limit: 200).items
            #expect(counts.queued + counts.importing == jobs.count)
            #expect(jobs.count.isMultiple(of: 5))
            #expect(jobs.allSatisfy { $0.files.count == 1 })
            seen.insert(Int64(jobs.count))
            let interrupted = try store.interrupted()
            #expect(interrupted.count == counts.importing)
            for job in interrupted {
                #expect((job.intent == nil) == (job.journal == nil))
                #expect(try store.giveBack(interrupted: job.job.id, crashed: false, at: Scene.start) == .queued)
            }
            // What was lost is found again by the rescan, what was kept is known.
            let all = (0..<3).flatMap { call in (0..<5).map { Scene.group(Scene.file("/card/\(call)-\($0)")) } }
            let again = try store.enqueue(all, isManual: false, batch: nil, at: Scene.start)
            #expect(again.count + jobs.count == 15)
        }
        #expect(seen == [0, 5, 10, 15])
    }

    @Test func `that garbles the end of the log loses that end only`() throws {
        let scene = try Scene()
        let ids = try scene.enqueue("/card/1")
        let claim = try #require(try scene.claim())
        var log = try Bytes.read(scene.directory / "spool.db-wal")
        let database = try Bytes.read(scene.directory / "spool.db")
        log.replaceSubrange(log.count - 3000..<log.count - 2900, with: Array(repeating: 0xA5, count: 100))
        let directory = try Scene.makeDirectory()
        defer { Bytes.remove(directory) }
        try Bytes.write(database, to: directory / "spool.db")
        try Bytes.write(log, to: directory / "spool.db-wal")
        let store = try Store(directory: directory, log: { _ in }, now: Scene.start)
        #expect(try store.job(ids[0])?.state == .queued)  // the claim is gone, the job is not
        #expect(claim.job.id == ids[0])
    }
}

@Suite("Many threads") struct ThreadsTests {
    @Test(.timeLimit(.minutes(2))) func `share the store without losing or doubling a job`() async throws {
        let scene = try Scene()
        let store = scene.store
        let perDrop = 60
        await withThrowingTaskGroup(of: Void.self) { group in
            for drop in ["a", "b"] {
                group.addTask {
                    for number in 0..<perDrop {
                        let file = Scene.file("/\(drop)/\(number)")
                        let groups = [Scene.group(file, drop: drop)]
                        let made = try store.enqueue(groups, isManual: false, batch: nil, at: Scene.start)
                        #expect(made.count == 1)
                        #expect(
                            try store.isKnown(
                                drop: drop, filesystem: file.filesystem, path: file.path, size: file.stamp.size,
                                mtime: file.stamp.mtime))
                        #expect(try store.enqueue(groups, isManual: false, batch: nil, at: Scene.start) == [])
                    }
                }
            }
            for worker in 0..<2 {
                group.addTask {
                    var done = 0
                    while try store.counts(at: Scene.start).imported < 2 * perDrop {
                        let importID = "import-\(worker)-\(done)"
                        guard let claim = try store.claim(importID: importID, blockedDrops: [], at: Scene.start)
                        else {
                            await Task.yield()
                            continue
                        }
                        done += 1
                        let path = Path("\(claim.job.drop)/\(claim.job.files[0].path.name.shown)")
                        let intent = Scene.intent(for: claim, asset: "asset-\(claim.job.id)", hash: 1, path: path)
                        let journal = try store.recordIntent(intent, for: claim, at: Scene.start)
                        try store.commit(
                            intent, job: claim.job.id, importID: importID, journal: journal, disposition: .keep,
                            at: Scene.start)
                    }
                }
            }
        }
        #expect(try store.counts(at: Scene.start).imported == 2 * perDrop)
        #expect(try scene.number("SELECT count(*) FROM asset") == Int64(2 * perDrop))
        #expect(try scene.number("SELECT max(attempts) FROM job") == 1)
        try scene.expectTrueCounts()
    }
}

/// Whole files, for playing the disk.
enum Bytes {
    static func read(_ path: Path) throws -> [UInt8] {
        let file = unsafe open(path.shown, O_RDONLY)
        try #require(file >= 0)
        defer { close(file) }
        var status = stat()
        unsafe fstat(file, &status)
        var bytes = [UInt8](repeating: 0, count: Int(status.st_size))
        let count = unsafe pread(file, &bytes, bytes.count, 0)
        try #require(count == bytes.count)
        return bytes
    }

    static func write(_ bytes: [UInt8], to path: Path) throws {
        let file = unsafe open(path.shown, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        try #require(file >= 0)
        defer { close(file) }
        let count = unsafe pwrite(file, bytes, bytes.count, 0)
        try #require(count == bytes.count)
    }

    static func remove(_ directory: Path) {
        for suffix in ["", "-wal", "-shm"] { unsafe unlink(directory.shown + "/spool.db" + suffix) }
        unsafe rmdir(directory.shown)
    }
}
