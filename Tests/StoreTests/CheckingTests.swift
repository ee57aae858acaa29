import Files
import Glibc
import PhotoModel
import SQLite
import Store
import Testing

@Suite("A state that is asked about itself") struct CheckingTests {
    private func change(_ scene: Scene, _ sql: String) throws {
        let connection = try Connection(opening: (scene.directory / "spool.db").bytes, for: .readWrite)
        try connection.execute(sql)
    }

    @Test func `has nothing to say when all is well`() throws {
        let scene = try Scene()
        try scene.enqueue((0..<20).map { Scene.group(Scene.file("/card/\($0)")) })
        _ = try scene.claim()
        #expect(try scene.store.stateFaults(isCancelled: { false }) == [])
    }

    @Test func `names counts that are not those of the rows`() throws {
        let scene = try Scene()
        try scene.enqueue((0..<3).map { Scene.group(Scene.file("/card/\($0)")) })
        try change(scene, "UPDATE tally SET jobs = 7 WHERE name = 'queued'; UPDATE batch SET failed = 2;")
        let faults = try scene.store.stateFaults(isCancelled: { false })
        #expect(faults.map(\.kind) == [.count, .count])
        #expect(faults.first?.detail == "The status counts 7 jobs as queued; there are 3.")
        #expect(faults.last?.detail == "Batch 1 counts 3 jobs, 0 done, 2 failed; there are 3, 0, 0.")
    }

    @Test func `names rows that lead nowhere`() throws {
        let scene = try Scene()
        try scene.enqueue("/card/1")
        try change(scene, "PRAGMA foreign_keys = OFF; DELETE FROM batch;")
        let faults = try scene.store.stateFaults(isCancelled: { false })
        #expect(faults.map(\.kind) == [.reference])
        #expect(faults.first?.detail == "The table job names rows of batch that are not there: 1.")
    }

    @Test func `ends soon when told to`() throws {
        let scene = try Scene()
        try scene.enqueue((0..<2000).map { Scene.group(Scene.file("/card/\($0)")) })
        #expect(throws: Problem.self) { _ = try scene.store.stateFaults(isCancelled: { true }) }
    }

    /// The bytes of everything in a folder, by name.
    private func everything(in directory: Path) throws -> [Path: [UInt8]] {
        var found: [Path: [UInt8]] = [:]
        try Folder(opening: directory).forEachEntry { name, _ throws(Errno) in
            found[name] = try Folder(opening: directory).openForReading(name).readAll(limit: 1 << 24)
            return true
        }
        return found
    }

    @Test(arguments: [false, true])
    func `at rest is looked at, with what its log holds, and not changed`(wasKilled: Bool) throws {
        let directory = try Scene.makeDirectory()
        defer { Bytes.remove(directory) }
        let copy = directory / "a ?#% copy"
        try Folder(opening: directory).makeFolders(at: copy.name, mode: 0o700)
        do {
            let store = try Store(directory: directory, log: { _ in }, now: Scene.start)
            try store.set("library_id", to: "0197a3c2-5e1b-7c44-9d0a-3f2b8c6d1e90")
            if wasKilled {
                for name in ["spool.db", "spool.db-wal"] {
                    try Bytes.write(try Bytes.read(directory / name), to: copy / name)
                }
            }
        }
        if !wasKilled { try Bytes.write(try Bytes.read(directory / "spool.db"), to: copy / "spool.db") }
        let before = try everything(in: copy)
        #expect(before.count == (wasKilled ? 2 : 1))
        let (faults, library) = try StateAtRest(directory: copy).look(isCancelled: { false })
        #expect(faults == [])
        #expect(library == "0197a3c2-5e1b-7c44-9d0a-3f2b8c6d1e90")
        #expect(try everything(in: copy) == before)
    }

    @Test func `at rest is told to be damaged, and stays as it is`() throws {
        let directory = try Scene.makeDirectory()
        defer { Bytes.remove(directory) }
        do {
            let store = try Store(directory: directory, log: { _ in }, now: Scene.start)
            _ = try store.enqueue(
                (0..<200).map { Scene.group(Scene.file("/card/\($0)")) }, isManual: false, batch: nil, at: Scene.start)
        }
        var bytes = try Bytes.read(directory / "spool.db")
        bytes.replaceSubrange(20_480..<24_576, with: Array(repeating: 0xA5, count: 4096))
        try Bytes.write(bytes, to: directory / "spool.db")
        var told: [String] = []
        do throws(Problem) {
            told = try StateAtRest(directory: directory).look(isCancelled: { false }).faults.map(\.detail)
        } catch { told = [error.whatHappened] }
        #expect(told.first?.contains("damaged") == true, "\(told)")
        #expect(try Bytes.read(directory / "spool.db") == bytes)
        #expect(throws: Problem.self) {
            _ = try StateAtRest(directory: Path("/nonexistent")).look(isCancelled: { false })
        }
    }
}
