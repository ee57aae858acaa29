import Glibc
import PhotoModel
import SQLite
import Store
import Testing

@Suite("What the mirror is owed") struct MirrorTests {
    private func id(_ number: Int) -> Asset.ID {
        let text = String(number)
        return "018f0000-0000-7000-8000-" + String(repeating: "0", count: 12 - text.count) + text
    }

    /// Assets 1 to `count`, of one original each.
    private func imported(_ count: Int) throws -> Scene {
        let scene = try Scene()
        for number in 1...count {
            try scene.enqueue("/card/\(number)")
            try scene.importNext(asset: id(number), hash: UInt8(number), path: Path("2026/IMG_\(number).JPG"))
        }
        return scene
    }

    private func names(_ placed: [Store.Placed]) -> [String] { placed.map(\.resource.path.shown) }

    private func remove(_ number: Int, _ scene: Scene) throws {
        let asset = try #require(try scene.store.asset(id(number)))
        let line = try scene.store.reserveJournal(
            what: "undo", job: nil, path: Path("x"), sha256: nil, detail: asset.id, at: Scene.start)
        try scene.store.remove(asset, journal: line, isForGood: false, at: Scene.start)
    }

    private func raw(_ scene: Scene, _ sql: String) throws {
        let writer = try Connection(opening: (scene.directory / "spool.db").bytes, for: .readWrite)
        try writer.execute(sql)
    }

    @Test func `is everything at first, in the order of the imports, and less with each that is recorded`() throws {
        let scene = try imported(5)
        try scene.store.adoptMirror("one")
        #expect(names(try scene.store.toMirror(limit: 2)) == ["2026/IMG_1.JPG", "2026/IMG_2.JPG"])
        let all = try scene.store.toMirror(limit: 10)
        #expect(all.count == 5)
        #expect(try scene.store.hasWorkForMirror())
        try scene.store.recordMirrored([all[0], all[3]], refused: [all[1]], on: "one")
        #expect(names(try scene.store.toMirror(limit: 10)) == ["2026/IMG_3.JPG", "2026/IMG_5.JPG"])
        #expect(names(try scene.store.refusedByMirror(after: nil, limit: 10)) == ["2026/IMG_2.JPG"])
        #expect(try scene.store.refusedByMirror(after: all[1].place, limit: 10).isEmpty)
        let debts = try scene.store.mirrorDebts()
        #expect(debts.owed == 2 && debts.refused == 1 && debts.removals == 0 && debts.all == 3)
        try scene.store.recordMirrored([all[1], all[2], all[4]], refused: [], on: "one")
        #expect(try !scene.store.hasWorkForMirror())
        try scene.store.unmirror(Path("2026/IMG_4.JPG"))
        #expect(names(try scene.store.toMirror(limit: 10)) == ["2026/IMG_4.JPG"])
    }

    /// Catching up must not read the catalog again for each portion.
    @Test func `is found by index`() throws {
        let scene = try imported(1)
        for sql in [
            "SELECT asset_id FROM resource WHERE mirrored = 0 ORDER BY asset_id, position LIMIT 64",
            "SELECT count(*) FROM resource WHERE mirrored = 0",
        ] {
            let plan = try scene.raw().with { connection in
                try connection.first("EXPLAIN QUERY PLAN " + sql) { row throws(SQLiteError) in try row.text(3) } ?? ""
            }
            #expect(plan.contains("resource_to_mirror"), "\(plan)")
        }
    }

    @Test func `is an asset's when all its originals are, and only with a mirror that is known`() throws {
        let scene = try imported(2)
        let all = try scene.store.toMirror(limit: 10)
        try scene.store.recordMirrored([all[0]], refused: [], on: "one")
        #expect(try !scene.store.isMirrored(id(1)))
        try scene.store.adoptMirror("one")
        try scene.store.recordMirrored([all[1]], refused: [], on: "another")
        try scene.store.recordMirrored([all[0]], refused: [], on: "one")
        #expect(try scene.store.isMirrored(id(1)))
        #expect(try !scene.store.isMirrored(id(2)))
        #expect(try !scene.store.isMirrored("nobody"))
        // A late member is not there yet.
        try scene.enqueue("/card/1.xmp")
        let claim = try #require(try scene.claim("late"))
        let intent = Scene.intent(for: claim, asset: id(1), hash: 9, joins: true, path: Path("2026/IMG_1.xmp"))
        let journal = try scene.store.recordIntent(intent, for: claim, at: Scene.start)
        try scene.store.commit(
            intent, job: claim.job.id, importID: "late", journal: journal, disposition: .pending, at: Scene.start)
        #expect(try !scene.store.isMirrored(id(1)))
        #expect(try scene.store.pendingDispositions().map(\.id) == [claim.job.id])
        #expect(try scene.store.pendingDispositions(onMirror: true).isEmpty)
        try scene.store.recordMirrored(try scene.store.toMirror(limit: 1), refused: [], on: "one")
        #expect(try scene.store.pendingDispositions(onMirror: true).map(\.id) == [claim.job.id])
    }

    /// A million sources may wait: neither all of them are held at once, nor all looked through for each portion.
    @Test func `lets sources wait in portions, and those of one asset are found by index`() throws {
        let scene = try Scene()
        for number in 1...5 {
            try scene.enqueue("/card/\(number)")
            let claim = try #require(try scene.claim("import-\(number)"))
            let intent = Scene.intent(
                for: claim, asset: id(number), hash: UInt8(number), path: Path("2026/IMG_\(number).JPG"))
            let journal = try scene.store.recordIntent(intent, for: claim, at: Scene.start)
            try scene.store.commit(
                intent, job: claim.job.id, importID: "import-\(number)", journal: journal, disposition: .pending,
                at: Scene.start)
        }
        let first = try scene.store.pendingDispositions(limit: 3)
        #expect(first.map(\.asset) == [id(1), id(2), id(3)])
        let second = try scene.store.pendingDispositions(after: first[2].id, limit: 3)
        #expect(second.map(\.asset) == [id(4), id(5)])
        #expect(try scene.store.pendingDispositions(after: second[1].id).isEmpty)
        #expect(try scene.store.pendingDispositions(of: id(4)).map(\.id) == [second[0].id])
        try scene.store.adoptMirror("one")
        #expect(try scene.store.pendingDispositions(of: id(4), onMirror: true).isEmpty)
        try scene.store.recordMirrored(try scene.store.toMirror(limit: 5), refused: [], on: "one")
        #expect(try scene.store.pendingDispositions(of: id(4), onMirror: true).map(\.id) == [second[0].id])
        #expect(try scene.store.pendingDispositions(onMirror: true, limit: 2).count == 2)
        let plan = try scene.raw().with { connection in
            try connection.first(
                """
                EXPLAIN QUERY PLAN SELECT id FROM job INDEXED BY job_asset
                WHERE disposition = 'pending' AND id > 0 AND asset_id = 'x' ORDER BY id LIMIT 200
                """
            ) { row throws(SQLiteError) in try row.text(3) } ?? ""
        }
        #expect(plan.contains("SEARCH") && plan.contains("job_asset"), "\(plan)")
    }

    @Test func `is to leave it when it leaves the catalog, before another gets its name`() throws {
        let scene = try imported(3)
        try remove(1, scene)
        #expect(try scene.store.mirrorRemovals(limit: 10).isEmpty)  // nobody has ever had a mirror
        try scene.store.adoptMirror("one")
        try scene.store.recordMirrored([try scene.store.toMirror(limit: 1)[0]], refused: [], on: "one")
        try remove(2, scene)
        try remove(3, scene)
        let removals = try scene.store.mirrorRemovals(limit: 10)
        #expect(removals.map(\.path.shown) == ["2026/IMG_2.JPG", "2026/IMG_3.JPG"])
        #expect(removals.map(\.asset) == [id(2), id(3)])
        #expect(removals.map(\.sha256) == [Scene.digest(2), Scene.digest(3)])
        try scene.enqueue("/card/again")
        try scene.importNext(asset: id(4), hash: 4, path: Path("2026/IMG_2.JPG"))
        #expect(try scene.store.toMirror(limit: 10).isEmpty)
        #expect(try scene.store.mirrorDebts().all == 3)
        try scene.store.forget(removals, on: "another")
        #expect(try scene.store.toMirror(limit: 10).isEmpty)
        try scene.store.forget(removals, on: "one")
        #expect(names(try scene.store.toMirror(limit: 10)) == ["2026/IMG_2.JPG"])
    }

    @Test func `is everything again with another mirror, in portions, and counts for nothing meanwhile`() throws {
        let scene = try imported(5)
        try scene.store.adoptMirror("one")
        let all = try scene.store.toMirror(limit: 10)
        try scene.store.recordMirrored(Array(all[0..<4]), refused: [all[4]], on: "one")
        try scene.store.adoptMirror("one")
        #expect(try scene.store.resetMirrored(limit: 2) == false)
        #expect(try scene.store.isMirrored(id(1)))
        try scene.store.adoptMirror("two")
        #expect(try scene.store.mirrorDebts().all == 5)
        #expect(try !scene.store.isMirrored(id(4)))
        // What comes of a turn at the first one counts no more, nor what comes before the marks are gone.
        try scene.store.recordMirrored(all, refused: [], on: "one")
        try scene.store.recordMirrored(all, refused: [], on: "two")
        try remove(4, scene)
        #expect(try scene.store.mirrorRemovals(limit: 1).map(\.path.shown) == ["2026/IMG_4.JPG"])
        var portions = 0
        while try scene.store.resetMirrored(limit: 2) { portions += 1 }
        #expect(portions == 2)
        #expect(try scene.number("SELECT count(*) FROM resource WHERE mirrored <> 0") == 0)
        #expect(try scene.number("SELECT count(*) FROM setting WHERE key = 'mirror_reset'") == 0)
        #expect(try scene.store.mirrorID == "two")
    }

    @Test func `is everything in a state of a version that knew no mirror`() throws {
        let scene = try imported(2)
        // As the step before left it.
        try raw(
            scene,
            """
            DROP TRIGGER resource_leaves_the_mirror; DROP TABLE mirror_removal; DROP INDEX resource_to_mirror;
            DROP INDEX resource_refused; ALTER TABLE resource DROP COLUMN mirrored;
            ALTER TABLE asset DROP COLUMN implausible_at; ALTER TABLE asset DROP COLUMN implausible_source;
            ALTER TABLE asset DROP COLUMN renditions; PRAGMA user_version = 4
            """)
        let store = try Store(directory: scene.directory, log: { _ in }, now: Scene.start)
        #expect(try store.toMirror(limit: 10).count == 2)
        #expect(try scene.number("SELECT count(*) FROM asset WHERE implausible_at IS NULL") == 2)
        #expect(try scene.number("PRAGMA user_version") == 7)
    }
}
