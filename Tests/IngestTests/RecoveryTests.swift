import Files
import Foundation
import PhotoModel
import Store
import Testing

@testable import Ingest

/// What the next start makes of a commit that a death cut short: a preview and two files, so three renames.
@Suite("Recovery") struct RecoveryTests {
    static let renames = 3

    /// Records the intent and does the first `done` renames, as ``FinalMoves`` does them.
    private func interrupt(_ shot: StagedShot, after done: Int, in scene: Scene) throws {
        _ = try scene.store.recordIntent(shot.intent, for: shot.claim, at: Scene.start)
        let library = try scene.library
        for move in shot.intent.moves.prefix(done) {
            try library.root.makeFolders(at: move.final.parent, mode: 0o2750)
            try library.root.renameNoReplace(move.staged, to: move.final, in: library.root)
        }
    }

    private func expectForward(_ shot: StagedShot, in scene: Scene, suffix: String = "") throws {
        #expect(try scene.contents() == shot.expected(suffix))
        #expect(scene.previews == ["ab/\(shot.intent.asset.id).jpg"])
        #expect(try scene.staging.isEmpty)
        #expect(try scene.state(shot.claim) == .imported)
        let asset = try #require(try scene.store.asset(shot.intent.asset.id))
        #expect(Set(asset.resources.map(\.path.shown)) == Set(shot.expected(suffix).keys))
        #expect(asset.preview.path == LibraryLayout.preview(of: asset.id))
    }

    private func expectBack(_ shot: StagedShot, in scene: Scene, leaving strangers: [String: [UInt8]] = [:]) throws {
        #expect(try scene.contents() == strangers)
        #expect(scene.previews.isEmpty)
        #expect(try scene.staging.isEmpty)
        let job = try #require(try scene.store.job(shot.claim.job.id))
        #expect(job.state == .queued)
        #expect(job.attempts == 0)
        #expect(job.crashes == 0)
        #expect(try scene.store.asset(shot.intent.asset.id) == nil)
        #expect(scene.files(below: "drop").count == shot.names.count)
    }

    @Test(arguments: 0...renames)
    func `finishes what was committing, whatever number of renames was done, and a second run finds nothing`(
        done: Int
    ) throws {
        let scene = try Scene()
        let shot = try scene.stage()
        try interrupt(shot, after: done, in: scene)
        try scene.reopen()
        #expect(try scene.recover() == Recovery.Report(rolledForward: 1))
        try expectForward(shot, in: scene)
        #expect(try scene.recover() == Recovery.Report())
        try scene.sweep()
        try expectForward(shot, in: scene)
    }

    @Test(.tags(.neverLost), arguments: [true, false])
    func `takes nothing back that a rebuild has put into the catalog, under whatever id`(isSameAsset: Bool) throws {
        let scene = try Scene()
        let shot = try scene.stage()
        try interrupt(shot, after: Self.renames, in: scene)
        var asset = shot.intent.asset
        if !isSameAsset { asset.id = "018f0000-0000-7000-8000-0000000000ff" }
        let rebuilt = Store.Rebuilt(asset: asset, joins: false, importID: "another", at: Scene.start, source: nil)
        #expect(try scene.store.rebuild([rebuilt], since: 1, batchTime: Scene.start) == [.added])
        try scene.reopen()
        #expect(try scene.recover() == Recovery.Report(rolledBack: 1))
        #expect(try scene.contents() == shot.expected(""))
        #expect(try scene.state(shot.claim) == .queued)
        #expect(try scene.store.asset(asset.id)?.resources.count == asset.resources.count)
        #expect(scene.previews.isEmpty != isSameAsset)
        #expect(try scene.staging.isEmpty)
    }

    @Test func `has nothing to do behind the transaction but to sweep the empty staging folder`() throws {
        let scene = try Scene()
        let shot = try scene.stage()
        _ = try scene.commit(shot)
        #expect(try scene.staging == ["import-1"])
        try scene.reopen()
        #expect(try scene.recover() == Recovery.Report())
        try scene.sweep()
        try expectForward(shot, in: scene)
    }

    @Test func `gives back a job that had no intent yet, neither attempt nor crash counted`() throws {
        let scene = try Scene()
        let shot = try scene.stage()
        try scene.reopen()
        #expect(try scene.recover() == Recovery.Report(rolledBack: 1))
        try expectBack(shot, in: scene)
        #expect(try scene.recover() == Recovery.Report())
    }

    @Test func `counts a crash of the daemon's own, and gives up at the third`() throws {
        let scene = try Scene()
        var shot = try scene.stage()
        for crash in 1...3 {
            try scene.reopen()
            _ = try scene.recover(crashed: true)
            let job = try #require(try scene.store.job(shot.claim.job.id))
            #expect(job.crashes == crash)
            #expect(job.state == (crash == 3 ? .failed : .queued))
            if crash == 3 {
                #expect(job.problem?.code == .poison)
                #expect(scene.said.values(of: "CODE") == ["E_POISON"])
                #expect(scene.said.values(of: "PATH") == [job.files[0].path.shown])
                break
            }
            #expect(scene.said.values(of: "CODE").isEmpty)
            let claim = try #require(
                try scene.store.claim(importID: "import-\(crash + 1)", blockedDrops: [], at: Scene.start))
            shot = StagedShot(claim: claim, builder: shot.builder, names: shot.names, variant: 0)
        }
    }

    // MARK: Back

    enum Damage: CaseIterable { case missing, corrupted, exchanged, cut }

    /// Every rename that can be left to do, with every way to spoil its staged file.
    static let damages = (0..<renames).flatMap { done in
        (done..<renames).flatMap { spoiled in Damage.allCases.map { (done, spoiled, $0) } }
    }

    private func spoil(_ path: Path, _ damage: Damage, in scene: Scene) throws {
        let relative = "library/" + path.shown
        switch damage {
        case .missing: try scene.remove(relative)
        case .corrupted:
            // In place: same inode, same size.
            let handle = try FileHandle(forUpdating: scene.url(relative))
            try handle.write(contentsOf: Data("X".utf8))
            try handle.close()
        case .exchanged:
            let bytes = try scene.bytes(relative)
            try scene.write(bytes, to: "kept")  // holds the number of the inode while the other is made
            try FileManager.default.moveItem(at: scene.url(relative), to: scene.url("away"))
            try scene.write(bytes, to: relative)
        case .cut: try FileHandle(forUpdating: scene.url(relative)).truncate(atOffset: 3)
        }
    }

    @Test(arguments: damages)
    func `takes everything back when a staged file is not what the intent says`(
        done: Int, spoiled: Int, damage: Damage
    ) throws {
        let scene = try Scene()
        let shot = try scene.stage()
        try interrupt(shot, after: done, in: scene)
        try spoil(shot.intent.moves[spoiled].staged, damage, in: scene)
        try scene.reopen()
        #expect(try scene.recover() == Recovery.Report(rolledBack: 1))
        try expectBack(shot, in: scene)
        #expect(try scene.recover() == Recovery.Report())
    }

    @Test(arguments: [Damage.missing, .corrupted, .exchanged])
    func `takes the others back when a final file is no longer ours, and leaves a stranger's alone`(
        damage: Damage
    ) throws {
        let scene = try Scene()
        let shot = try scene.stage()
        try interrupt(shot, after: 2, in: scene)  // the preview and the video; the photo is still staged
        let video = shot.intent.moves[1]
        try spoil(video.final, damage, in: scene)
        try scene.reopen()
        _ = try scene.recover()
        // In another file of the same name, the bytes may be equal: it still is somebody else's.
        let stranger = damage == .exchanged ? [video.final.shown: StagedShot.content(1)] : [:]
        try expectBack(shot, in: scene, leaving: stranger)
    }

    @Test func `converges when the taking back was cut short as well`() throws {
        let scene = try Scene()
        let shot = try scene.stage()
        try interrupt(shot, after: 2, in: scene)
        try scene.remove("library/" + shot.intent.moves[2].staged.shown)
        // One of the two has gone back to staging, then the process died.
        try FileManager.default.moveItem(
            at: scene.url("library/" + shot.intent.moves[0].final.shown),
            to: scene.url("library/" + shot.intent.moves[0].staged.shown))
        try scene.reopen()
        #expect(try scene.recover() == Recovery.Report(rolledBack: 1))
        try expectBack(shot, in: scene)
    }

    @Test func `takes back although the staging folder was removed by somebody`() throws {
        let scene = try Scene()
        let shot = try scene.stage()
        try interrupt(shot, after: 2, in: scene)
        try scene.remove("library/.photospool/staging")
        try scene.reopen()
        #expect(try scene.recover() == Recovery.Report(rolledBack: 1))
        try expectBack(shot, in: scene)
    }

    @Test func `finishes a rename that was made of a link and an unlink`() throws {
        let scene = try Scene()
        let shot = try scene.stage()
        try interrupt(shot, after: 1, in: scene)
        let video = shot.intent.moves[1]
        try scene.library.root.makeFolders(at: video.final.parent, mode: 0o2750)
        try FileManager.default.linkItem(
            at: scene.url("library/" + video.staged.shown), to: scene.url("library/" + video.final.shown))
        try scene.reopen()
        #expect(try scene.recover() == Recovery.Report(rolledForward: 1))
        try expectForward(shot, in: scene)
    }

    // MARK: Names taken in between

    @Test(arguments: 0..<renames)
    func `takes another name for the whole shot when a stranger has one, and does not touch the stranger`(
        done: Int
    ) throws {
        let scene = try Scene()
        let shot = try scene.stage()
        try interrupt(shot, after: done, in: scene)
        let photo = shot.intent.moves[2].final.shown
        try scene.write(Array("a stranger".utf8), to: "library/" + photo)
        try scene.reopen()
        #expect(try scene.recover() == Recovery.Report(rolledForward: 1))
        #expect(try scene.bytes("library/" + photo) == Array("a stranger".utf8))
        try scene.remove("library/" + photo)
        try expectForward(shot, in: scene, suffix: "-2")
        #expect(try scene.journal().map(\.what) == ["commit"])
    }

    @Test func `G01 counts on until a name is free`() throws {
        let scene = try Scene()
        let shot = try scene.stage()
        try interrupt(shot, after: 0, in: scene)
        for suffix in ["", "-2", "-3"] {
            try scene.write(Array("a stranger".utf8), to: "library/\(Scene.day)/IMG_0001\(suffix).MOV")
        }
        try scene.reopen()
        #expect(try scene.recover() == Recovery.Report(rolledForward: 1))
        #expect(scene.visible.count == 5)
        #expect(try scene.bytes("library/\(Scene.day)/IMG_0001-2.MOV") == Array("a stranger".utf8))
        let asset = try #require(try scene.store.asset(shot.intent.asset.id))
        for resource in asset.resources {
            let number = resource.role == .photo ? 0 : 1
            #expect(try scene.bytes("library/" + resource.path.shown) == StagedShot.content(number))
        }
        #expect(Set(asset.resources.map(\.path.stem)).count == 1)
    }

    @Test func `takes no name that the catalog lists, although its file is missing`() throws {
        let scene = try Scene()
        let first = try scene.stage(["IMG_0001.HEIC"], variant: 1, withPreview: false)
        _ = try scene.commit(first)
        let second = try scene.stage(
            ["IMG_0001.HEIC"], importID: "import-2", asset: "018f0000-0000-7000-8000-0000000000cd", variant: 2,
            withPreview: false)
        try interrupt(second, after: 0, in: scene)
        try scene.remove("library/\(Scene.day)/IMG_0001.HEIC")
        try scene.reopen()
        #expect(try scene.recover() == Recovery.Report(rolledForward: 1))
        #expect(try scene.contents() == second.expected("-2"))
        #expect(try scene.state(second.claim) == .imported)
    }

    @Test func `keeps within the length of a name`() throws {
        let scene = try Scene()
        let name = String(repeating: "x", count: 250) + ".HEIC"
        let shot = try scene.stage([name], withPreview: false)
        try interrupt(shot, after: 0, in: scene)
        try scene.write(Array("a stranger".utf8), to: "library/\(Scene.day)/\(name)")
        try scene.reopen()
        #expect(try scene.recover() == Recovery.Report(rolledForward: 1))
        let stored = try #require(try scene.store.asset(shot.intent.asset.id)).resources[0].path
        #expect(try scene.bytes("library/" + stored.shown) == StagedShot.content(0))
        #expect(stored.name.bytes.count <= 255)
    }

    @Test func `takes back when only the preview's name is taken, which has no other`() throws {
        let scene = try Scene()
        let shot = try scene.stage()
        try interrupt(shot, after: 0, in: scene)
        let preview = "library/" + shot.intent.moves[0].final.shown
        try scene.write(Array("a stranger".utf8), to: preview)
        try scene.reopen()
        #expect(try scene.recover() == Recovery.Report(rolledBack: 1))
        #expect(try scene.bytes(preview) == Array("a stranger".utf8))
        try scene.remove(preview)
        try expectBack(shot, in: scene)
    }

    @Test func `takes back what the catalog refuses, and does not stop at it for ever`() throws {
        let scene = try Scene()
        let shot = try scene.stage()
        var intent = shot.intent
        intent.joinsExisting = true  // the asset was deleted meanwhile
        _ = try scene.store.recordIntent(intent, for: shot.claim, at: Scene.start)
        try scene.reopen()
        #expect(try scene.recover() == Recovery.Report(rolledBack: 1))
        try expectBack(shot, in: scene)
    }

    // MARK: A library that is not there

    @Test func `A18 waits while another directory stands at the library's path, and removes nothing`() throws {
        let scene = try Scene()
        let shot = try scene.stage()
        try interrupt(shot, after: 1, in: scene)
        try FileManager.default.moveItem(at: scene.url("library"), to: scene.url("away"))
        try Scene.makeFolder(scene.url("library"))
        #expect(code { try scene.recover() } == .libraryOffline)
        #expect(try scene.state(shot.claim) == .committing)
        #expect(scene.files(below: "library").isEmpty)
        #expect(scene.exists("away/" + shot.intent.moves[2].staged.shown))

        try scene.remove("library")
        try FileManager.default.moveItem(at: scene.url("away"), to: scene.url("library"))
        try scene.reopen()
        #expect(try scene.recover() == Recovery.Report(rolledForward: 1))
        try expectForward(shot, in: scene)
    }

    @Test func `stops at a folder it cannot make, changes nothing, and goes on when it can`() throws {
        let scene = try Scene()
        let shot = try scene.stage()
        try interrupt(shot, after: 1, in: scene)
        try scene.write([], to: "library/2026")  // a file where the folder of the year belongs
        try scene.reopen()
        #expect(code { try scene.recover() } == .libraryIO)
        #expect(try scene.state(shot.claim) == .committing)
        try scene.remove("library/2026")
        #expect(try scene.recover() == Recovery.Report(rolledForward: 1))
        try expectForward(shot, in: scene)
    }

    // MARK: The sweep

    @Test func `A sweep takes old and empty staging, and neither a live import's nor what is young`() throws {
        let scene = try Scene()
        try scene.write([1], to: "library/.photospool/staging/live/0")
        try scene.write([1], to: "library/.photospool/staging/old/0")
        try scene.write([1], to: "library/.photospool/staging/young/0")
        try Scene.makeFolder(scene.url("library/.photospool/staging/empty"))
        for name in ["live", "old"] {
            try FileManager.default.setAttributes(
                [.modificationDate: Date(timeIntervalSince1970: 1_779_001_200 - 90_000)],
                ofItemAtPath: scene.url("library/.photospool/staging/" + name).path)
        }
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSince1970: 1_779_001_200 - 80_000)],
            ofItemAtPath: scene.url("library/.photospool/staging/young").path)
        let count = try Sweep(
            library: try scene.library, sweepAfter: .seconds(86400), now: { Scene.start }, log: { _ in }
        ).run(live: ["live"])
        #expect(count == 2)
        #expect(try scene.staging == ["live", "young"])
    }
}
