import Files
import Foundation
import PhotoModel
import Store
import Synchronization
import TestSupport
import Testing

@testable import Ingest
@testable import Upkeep

@Suite("A rebuild of what was taken out", .tags(.neverLost, .stopsAnywhere)) struct AfterlifeTests {
    private let journal = JournalTests()
    private static let bytes = Array("photo".utf8)

    private func asset(_ id: String, _ bytes: [UInt8] = bytes, at path: Path = JournalTests.path) -> Asset {
        journal.intent("of-" + id, asset: id, bytes, at: path).asset
    }

    private func append(_ line: JournalLine, to scene: UpkeepScene) throws {
        try scene.library.journal.append(line, at: UpkeepScene.start)
    }

    /// As `Trash` announces it.
    private func takeOut(_ asset: Asset, _ what: String, id: Int64, in scene: UpkeepScene) throws {
        try append(.removal(of: asset, what: what, jobs: [], id: id, at: Timestamp(seconds: id)), to: scene)
    }

    @Test func `keeps the bytes out that were deleted and not forgotten, as the first deletion said it`() throws {
        let scene = try UpkeepScene()
        let (first, second, third) = (Array("first".utf8), Array("second".utf8), Array("third".utf8))
        try takeOut(asset("a", first), "trash", id: 1, in: scene)
        try takeOut(asset("b", second), "trash", id: 2, in: scene)
        try append(.forgetting("b", id: 3, at: UpkeepScene.start), to: scene)
        try takeOut(asset("c", third), "undo", id: 4, in: scene)
        // The same bytes were deleted once more; and again, after they had been let in.
        try takeOut(asset("d", first), "trash", id: 5, in: scene)
        try takeOut(asset("e", second), "trash", id: 6, in: scene)
        for _ in 0..<2 {
            #expect(try journal.rebuild(scene).isEmpty)
            #expect(try scene.store.isTombstoned(SHA256.digest(of: first)))
            #expect(try scene.store.isTombstoned(SHA256.digest(of: second)))
            #expect(try !scene.store.isTombstoned(SHA256.digest(of: third)))
            #expect(try ["a", "b", "c", "d", "e"].map { try scene.store.tombstones(of: $0) } == [1, 0, 0, 0, 1])
        }
        // A person lets it in now: the state knows better than the journal that is read.
        #expect(try scene.trash.forget("a", library: scene.library) == 1)
        #expect(try journal.rebuild(scene).isEmpty)
        #expect(try !scene.store.isTombstoned(SHA256.digest(of: first)))
    }

    @Test func `lets bytes in again although the service died over it, and says so in the library`() throws {
        let scene = try UpkeepScene()
        try journal.write([(1, journal.intent("i", asset: "a", Self.bytes))], to: scene)
        try journal.put(Self.bytes, in: scene)
        #expect(try journal.rebuild(scene).isEmpty)
        try scene.trash.take("a", out: scene.library, for: .delete)
        #expect(try scene.store.tombstones(of: "a") == 1)
        _ = try scene.store.reserveJournal(
            what: "forget", job: nil, path: Path(bytes: []), sha256: nil, detail: "a", at: UpkeepScene.start)
        try scene.trash.finishInterrupted(in: scene.library)
        #expect(try scene.store.tombstones(of: "a") == 0)
        #expect(try scene.trash.forget("a", library: scene.library) == 0)
        // A state that knows nothing learns it from the library alone.
        let other = try Store(directory: Path(scene.folder.path), log: { _ in }, now: UpkeepScene.start)
        let library = scene.library
        let rooms = UpkeepRooms(
            store: other, library: { library }, drops: { [] }, log: { _ in }, now: { UpkeepScene.start })
        let operation = RebuildOperation(rooms, trash: Trash(store: other, log: { _ in }, now: { UpkeepScene.start }))
        _ = try other.order(.rebuild, [:], at: UpkeepScene.start)
        let taken = try #require(try other.takeOperation())
        try operation.run(OperationRun(taken.operation, cursor: taken.cursor, store: other))
        #expect(try other.tombstones(of: "a") == 0 && other.asset("a") == nil)
    }

    @Test func `takes along what joined it while it was on its way`() throws {
        let scene = try UpkeepScene()
        try journal.write([(1, journal.intent("i", asset: "a", Self.bytes))], to: scene)
        try journal.put(Self.bytes, in: scene)
        #expect(try journal.rebuild(scene).isEmpty)
        let late = scene.folder.url.appending(path: "library/2026/IMG_1.xmp")
        // The time is asked when the files it has are known already.
        let calls = Mutex(0)
        let folder = scene.folder
        let trash = Trash(
            store: scene.store, log: { _ in },
            now: {
                let isFirst = calls.withLock { count in
                    count += 1
                    return count == 1
                }
                if isFirst {
                    let join = """
                        INSERT INTO resource (asset_id, position, role, path, source_path, size, sha256, mtime_ns, media_type)
                        SELECT asset_id, 9, 'sidecar', CAST('2026/IMG_1.xmp' AS BLOB), source_path, 4, zeroblob(32), 0, media_type
                        FROM resource WHERE asset_id = 'a'
                        """
                    let said = try? Programs.run("/usr/bin/sqlite3", [folder.path + "/state/spool.db", join])
                    if said?.status != 0 { Issue.record("\(said?.errors ?? "no sqlite3")") }
                    try? Data("late".utf8).write(to: late)
                }
                return UpkeepScene.start
            })
        try trash.take("a", out: scene.library, for: .undo)
        #expect(calls.withLock { $0 } == 2)
        #expect(try scene.store.asset("a") == nil)
        #expect(!FileManager.default.fileExists(atPath: late.path))
        #expect(try scene.names("library/.photospool/trash/a/originals/2026").contains("IMG_1.xmp"))
        let lines = try Programs.run(
            "/usr/bin/sqlite3",
            [folder.path + "/state/spool.db", "SELECT outcome FROM journal WHERE what = 'undo' ORDER BY id"])
        #expect(lines.output == "overtaken\ntrashed\n")
    }

    @Test(arguments: [false, true])
    func `cancels no job that somebody queued again in a sound state`(isStale: Bool) throws {
        let scene = try UpkeepScene()
        let stamp = FileStamp(device: 1, inode: 2, size: 3, mtime: 4)
        let file = SettledFile(
            path: Path("/drop/IMG_1.JPG"), role: .photo, filesystem: FilesystemID("f"), stamp: stamp)
        let ids = try scene.store.enqueue(
            [SettledGroup(drop: "d", files: [file])], isManual: false, batch: nil, at: UpkeepScene.start)
        let source = RebuiltSource(drop: "d", isManual: false, files: [file], disposition: .keep)
        try scene.store.rebuild(
            [
                .init(
                    line: 1, asset: "a", deed: .removal(tombstones: [], sources: [source], at: UpkeepScene.start))
            ], since: try scene.store.firstUnsettledAct(), isStale: isStale, batchTime: UpkeepScene.start)
        #expect(try scene.store.job(try #require(ids.first))?.state == (isStale ? .cancelled : .queued))
    }

    @Test(arguments: ["removal/7", "12", "preview/9"])
    func `goes on behind the line it had come to`(cursor: String) {
        #expect(RebuildPlace(cursor).text == cursor)
    }

    @Test func `counts an act of this state for more than what the journal said when it was read`() throws {
        let scene = try UpkeepScene()
        try journal.write([(1, journal.intent("i", asset: "a", Self.bytes))], to: scene)
        try journal.put(Self.bytes, in: scene)
        #expect(try journal.rebuild(scene).isEmpty)
        let first = try scene.store.firstUnsettledAct()
        try scene.trash.take("a", out: scene.library, for: .delete)
        let late = Store.Rebuilt(
            asset: asset("a"), joins: false, importID: "i", at: UpkeepScene.start, source: nil)
        #expect(try scene.store.rebuild([late], since: first, batchTime: UpkeepScene.start) == [.known])
        #expect(try journal.ids(scene).isEmpty)
        #expect(try scene.trash.forget("a", library: scene.library) == 1)
        try scene.store.rebuild(
            [
                .init(
                    line: 1, asset: "a",
                    deed: .removal(tombstones: asset("a").resources, sources: [], at: UpkeepScene.start))
            ], since: first, isStale: false, batchTime: UpkeepScene.start)
        #expect(try !scene.store.isTombstoned(SHA256.digest(of: Self.bytes)))
    }

    @Test func `finishes what was on its way to the trash, and leaves what took its name since`() throws {
        let scene = try UpkeepScene()
        let raw = Path("2026/IMG_1.DNG")
        try journal.write(
            [
                (1, journal.intent("i", asset: "a", Self.bytes)),
                (2, journal.intent("j", asset: "a", Array("x".utf8), at: raw, joins: true, role: .alternatePhoto)),
            ], to: scene)
        var whole = asset("a")
        whole.resources +=
            journal.intent("j", asset: "a", Array("x".utf8), at: raw, role: .alternatePhoto).asset.resources
        try takeOut(whole, "undo", id: 3, in: scene)
        // The JPEG had gone when the power did, the RAW had not.
        let originals = LibraryLayout.trash(of: "a") / "originals"
        try journal.put(Self.bytes, at: originals / JournalTests.path, in: scene)
        try journal.put(Array("x".utf8), at: raw, in: scene)
        #expect(try journal.rebuild(scene) == ["trashed"])
        #expect(try journal.ids(scene).isEmpty)
        #expect(try scene.names("library/2026").isEmpty)
        #expect(try scene.library.root.contains(originals / raw))

        let other = try UpkeepScene()
        try journal.write([(1, journal.intent("i", asset: "a", Self.bytes))], to: other)
        try takeOut(asset("a"), "undo", id: 2, in: other)
        // Imported again, under the same name, while the trash was emptied.
        try journal.write([(3, journal.intent("k", asset: "b", Self.bytes))], to: other)
        try journal.put(Self.bytes, in: other)
        #expect(try journal.rebuild(other).isEmpty)
        #expect(try journal.ids(other) == ["b"])
        #expect(try other.library.root.contains(JournalTests.path))
    }

    @Test func `takes a preview that was made later, and only one that is there`() throws {
        let scene = try UpkeepScene()
        func preview(_ id: String) -> AssetPreview {
            AssetPreview(state: .ok, path: LibraryLayout.preview(of: id), size: PixelSize(width: 4, height: 3))
        }
        for (number, id) in ["a1", "b2", "c3"].enumerated() {
            let path = Path("2026/\(id).JPG")
            try journal.write([(Int64(number + 1), journal.intent(id, asset: id, Self.bytes, at: path))], to: scene)
            try journal.put(Self.bytes, at: path, in: scene)
            if id != "c3" {
                try append(.preview(preview(id), of: id, id: Int64(10 + number), at: UpkeepScene.start), to: scene)
            }
        }
        try append(
            .preview(
                AssetPreview(state: .failed, problem: Problem(.decodeTimeout, "Slow.")), of: "c3", id: 20,
                at: UpkeepScene.start), to: scene)
        try journal.put(Array("jpeg".utf8), at: LibraryLayout.preview(of: "a1"), in: scene)
        #expect(try journal.rebuild(scene).isEmpty)
        #expect(try scene.store.asset("a1")?.preview == preview("a1"))
        #expect(try scene.store.asset("b2")?.preview.path == nil)
        #expect(try scene.store.asset("c3")?.preview.problem?.code == .decodeTimeout)
    }

    @Test func `uses what is left of a journal with zeros in it, a torn end, or only a part of it, and tells of it`()
        throws
    {
        let scene = try UpkeepScene()
        for number in 1...6 {
            let (bytes, path) = (Array("photo \(number)".utf8), Path("2026/IMG_\(number).JPG"))
            try journal.write(
                [(Int64(number), journal.intent("i\(number)", asset: "a\(number)", bytes, at: path))], to: scene)
            try journal.put(bytes, at: path, in: scene)
        }
        let name = try #require(try scene.names("library/.photospool/journal").first)
        let file = scene.folder.url.appending(path: "library/.photospool/journal/" + name)
        var data = try Data(contentsOf: file)
        let ends = data.indices.filter { data[$0] == 0x0A }
        // From the middle of the second line to the end of the third, its newline with it: the fourth is whole.
        data.replaceSubrange((ends[0] + 100)..<(ends[2] + 1), with: Data(count: ends[2] + 1 - ends[0] - 100))
        data.removeLast(20)  // the sixth is torn
        try data.write(to: file)
        #expect(try journal.rebuild(scene) == ["unreadable"])
        #expect(try journal.ids(scene) == ["a1", "a4", "a5"])
        #expect(try scene.store.highestJournalID() == 5)

        // A month is gone, and with it the import of what was deleted later.
        let part = try UpkeepScene()
        try takeOut(asset("gone"), "trash", id: 9, in: part)
        try append(.forgetting("never", id: 10, at: UpkeepScene.start), to: part)
        #expect(try journal.rebuild(part).isEmpty)
        #expect(try part.store.isTombstoned(SHA256.digest(of: Self.bytes)))
    }
}
