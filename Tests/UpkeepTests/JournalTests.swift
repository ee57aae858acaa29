import Files
import Foundation
import PhotoModel
import Store
import Synchronization
import Testing

@testable import Ingest
@testable import Upkeep

@Suite("The library's journal, read for a rebuild", .tags(.neverLost, .stopsAnywhere)) struct JournalTests {
    static let path = Path("2026/IMG_1.JPG")

    func intent(
        _ importID: String, asset: String, _ bytes: [UInt8], at path: Path = path, joins: Bool = false,
        role: Role = .photo
    ) -> CommitIntent {
        let digest = SHA256.digest(of: bytes)
        let resource = Resource(
            role: role, path: path, sourcePath: Path("/card") / path.name, size: Int64(bytes.count), sha256: digest,
            mtime: 5_000_000_000, mediaType: .jpeg)
        return CommitIntent(
            job: 1, importID: importID,
            moves: [
                .init(
                    staged: LibraryLayout.staging(of: importID) / "0", final: path, sha256: digest,
                    size: Int64(bytes.count), device: 1, inode: 1)
            ],
            asset: Asset(
                id: asset, kind: .photo, collection: "card", facts: Facts(), resources: [resource],
                preview: AssetPreview(state: .none), importedAt: UpkeepScene.start), joinsExisting: joins)
    }

    func write(_ lines: [(id: Int64, intent: CommitIntent)], to scene: UpkeepScene) throws {
        for (id, intent) in lines {
            try scene.library.journal.append(
                JournalLine(id: id, time: UpkeepScene.start.rfc3339, what: "commit", job: 1, intent: intent),
                at: UpkeepScene.start)
        }
    }

    func put(_ bytes: [UInt8], at path: Path = path, in scene: UpkeepScene) throws {
        try scene.library.root.makeFolders(at: path.parent, mode: 0o750)
        let file = try scene.library.root.create(path)
        try file.write(bytes)
        try file.setModified(5_000_000_000)
        try file.makeDurable()
    }

    @discardableResult func rebuild(_ scene: UpkeepScene) throws -> [String] {
        let operation = RebuildOperation(scene.rooms(), trash: scene.trash)
        let run = try scene.perform(.rebuild) { (run) throws(OperationRun.Ended) in
            try operation.run(run)
            try run.record(nil)
        }
        return try scene.store.findings(of: run.operation.id, limit: 200).items.map(\.kind)
    }

    func ids(_ scene: UpkeepScene) throws -> [String] {
        try scene.store.assets(AssetFilter(), limit: 200).items.map(\.id).sorted()
    }

    @Test func `counts only the last line of an import, whatever month it stands in`() throws {
        let scene = try UpkeepScene()
        let (mine, other) = (Array("mine".utf8), Array("them".utf8))
        // The name was taken by another photo of the same size, which is the catalog's.
        try write([(1, intent("i", asset: "a", mine)), (2, intent("o", asset: "b", other))], to: scene)
        let next = Path("2026/IMG_1-2.JPG")
        try scene.library.journal.append(
            JournalLine(
                id: 3, time: "", what: "commit", job: 1, intent: intent("i", asset: "a", mine, at: next)),
            at: Timestamp(seconds: 1_000_000))
        try put(other, in: scene)
        try put(mine, at: next, in: scene)
        // The name was taken by a file that is gone since: the photo is not missed there.
        let (third, taken, free) = (Array("third".utf8), Path("2026/IMG_7.JPG"), Path("2026/IMG_7-2.JPG"))
        try write(
            [(4, intent("n", asset: "cc", third, at: taken)), (5, intent("n", asset: "cc", third, at: free))], to: scene
        )
        try put(third, at: free, in: scene)
        try put(third, at: LibraryLayout.preview(of: "cc"), in: scene)
        #expect(try rebuild(scene).isEmpty)
        #expect(try ids(scene) == ["a", "b", "cc"])
        #expect(try scene.store.asset("a")?.resources.map(\.path) == [next])
        #expect(try scene.store.asset("b")?.resources.map(\.path) == [Self.path])
        #expect(try scene.store.highestJournalID() == 5)
    }

    @Test func `gives a name to the import that has it: not to one rolled back before, nor to one that died after`()
        throws
    {
        let bytes = Array("photo".utf8)
        let scene = try UpkeepScene()
        // Rolled back, then imported under the same name from the same source.
        try write([(1, intent("i", asset: "a", bytes)), (2, intent("j", asset: "b", bytes))], to: scene)
        try put(bytes, in: scene)
        #expect(try rebuild(scene).isEmpty)
        #expect(try ids(scene) == ["b"])

        let second = try UpkeepScene()
        // The second one met the taken name and died before it could choose another.
        try write(
            [(1, intent("i", asset: "a", bytes)), (2, intent("j", asset: "b", Array("other".utf8)))], to: second)
        try put(bytes, in: second)
        #expect(try rebuild(second).isEmpty)
        #expect(try ids(second) == ["a"])
    }

    @Test func `joins in the order of the ids, and never says anything twice`() throws {
        let scene = try UpkeepScene()
        let sidecar = intent("k", asset: "a", Array("x".utf8), at: Path("2026/IMG_1.xmp"), joins: true, role: .sidecar)
        let lonely = intent("l", asset: "z", Array("y".utf8), at: Path("2026/IMG_9.xmp"), joins: true, role: .sidecar)
        try write([(7, sidecar), (8, lonely), (5, intent("i", asset: "a", Array("photo".utf8)))], to: scene)
        try put(Array("photo".utf8), in: scene)
        try put(Array("x".utf8), at: Path("2026/IMG_1.xmp"), in: scene)
        try put(Array("y".utf8), at: Path("2026/IMG_9.xmp"), in: scene)
        #expect(try rebuild(scene) == ["alone"])
        let first = try #require(try scene.store.asset("a"))
        #expect(first.resources.map(\.role) == [.photo, .sidecar])
        #expect(try rebuild(scene) == ["alone"])
        #expect(try scene.store.asset("a")?.resources == first.resources)
    }

    @Test func `never gives a path or a hash of the catalog to another, and tells of it`() throws {
        let scene = try UpkeepScene()
        let bytes = Array("photo".utf8)
        let asset = intent("x", asset: "mine", bytes).asset
        _ = try scene.store.rebuild(
            [.init(asset: asset, joins: false, importID: "x", at: UpkeepScene.start, source: nil)], since: 1,
            batchTime: UpkeepScene.start)
        try write([(1, intent("i", asset: "a", bytes))], to: scene)
        try put(bytes, in: scene)
        #expect(try rebuild(scene) == ["contradiction"])
        #expect(try ids(scene) == ["mine"])
    }

    @Test func `leaves alone what is under way in this state, and takes over what an older state believed to be`()
        throws
    {
        for isStale in [false, true] {
            let scene = try UpkeepScene()
            let bytes = Array("photo".utf8)
            let file = SettledFile(
                path: Path("/card/IMG_1.JPG"), role: .photo, filesystem: "f",
                stamp: FileStamp(device: 1, inode: 2, size: 5, mtime: 5_000_000_000))
            _ = try scene.store.enqueue(
                [SettledGroup(drop: "card", files: [file])], isManual: false, batch: nil, at: UpkeepScene.start)
            let claim = try #require(
                try scene.store.claim(importID: "i", blockedDrops: [], at: UpkeepScene.start))
            let intent = intent("i", asset: "a", bytes)
            let id = try scene.store.recordIntent(intent, for: claim, at: UpkeepScene.start)
            try write([(id, intent)], to: scene)
            if isStale { try write([(id + 1, self.intent("gone", asset: "g", bytes, at: Path("x.jpg")))], to: scene) }
            try put(bytes, in: scene)
            #expect(try rebuild(scene).isEmpty)
            #expect(try ids(scene) == (isStale ? ["a"] : []))
            #expect(try scene.store.job(claim.job.id)?.state == (isStale ? .queued : .committing))
            #expect(try scene.store.interrupted().isEmpty == isStale)
        }
    }

    @Test(.timeLimit(.minutes(1)))
    func `goes on after the last portion that was recorded, and counts each line once`() throws {
        let scene = try UpkeepScene()
        for number in 1...900 {
            let (bytes, path) = (Array("photo \(number)".utf8), Path("2026/IMG_\(number).JPG"))
            try write([(Int64(number), intent("i\(number)", asset: "a\(number)", bytes, at: path))], to: scene)
            try put(bytes, at: path, in: scene)
        }
        let operation = RebuildOperation(scene.rooms(), trash: scene.trash)
        let id = try scene.store.order(.rebuild, [:], at: UpkeepScene.start)
        var lives = 0
        var cursors: [String?] = []
        while try scene.store.operation(id)?.state != .done {
            lives += 1
            let taken = try #require(try scene.store.takeOperation())
            cursors.append(taken.cursor)
            let run = OperationRun(taken.operation, cursor: taken.cursor, store: scene.store)
            let isOver = Mutex(false)
            let goal = run.snapshot.done + 1
            let watcher = Thread {
                while run.snapshot.done < goal, !isOver.withLock({ $0 }) { usleep(100) }
                run.interrupt()
            }
            if lives < 4 { watcher.start() }
            var hasEnded = true
            do throws(OperationRun.Ended) {
                try operation.run(run)
                try run.record(nil)
            } catch {
                guard case .interrupted = error else { throw error }
                hasEnded = false
            }
            if hasEnded {
                try scene.store.finishOperation(id, as: .done, problem: nil, results: [:], at: UpkeepScene.start)
            }
            isOver.withLock { $0 = true }
        }
        #expect(lives > 1 && cursors[0] == nil && cursors.dropFirst().allSatisfy { $0 != nil }, "\(cursors)")
        #expect(try scene.store.operation(id)?.done == 900)
        #expect(try scene.store.resourceTotals().files == 900)
        #expect(try scene.store.highestJournalID() == 900)
    }
}
