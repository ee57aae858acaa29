import Files
import Foundation
import PhotoModel
import Store
import TestSupport
import Testing

@testable import Ingest

/// What happens to sources behind a commit; the imports themselves are only recorded.
@Suite("A source after its import") struct DispositionTests {
    /// Imports one file or several of the drop folder, the source's end pending.
    private func imported(_ names: [String] = ["IMG_0001.HEIC"], in scene: Scene) throws -> Job {
        let shot = try scene.stage(names, withPreview: false)
        let step = try scene.commitStep
        _ = try step.run(
            shot.intent, claim: shot.claim, disposition: .pending, alternative: shot.builder.intent(collision:))
        return try #require(try scene.store.job(shot.claim.job.id))
    }

    private func drop(_ scene: Scene) -> [String] { scene.files(below: "drop") }

    private func dispose(_ job: Job, in scene: Scene) throws -> Job {
        try scene.dispositionStep.run(job, drop: scene.drop)
        return try #require(try scene.store.job(job.id))
    }

    /// What a dead process left: the journal's lines and the claim, and maybe the act itself.
    private func claimAndDie(_ job: Job, in scene: Scene) throws -> Int64 {
        let file = job.files[0]
        let id = try scene.store.reserveJournal(
            what: scene.drop.afterImport.rawValue, job: job.id, path: file.path, sha256: nil, detail: nil,
            at: Scene.start)
        try scene.library.journal.append(
            .init(
                id: id, time: Scene.start.rfc3339, what: scene.drop.afterImport.rawValue, job: job.id, path: file.path,
                stamp: file.stamp), at: Scene.start)
        let claims = try SourceClaims(drop: scene.drop.path)
        let relative = try #require(file.path.below(scene.drop.path))
        #expect(try claims.claim(relative, as: id, expecting: file.stamp))
        return id
    }

    // MARK: As it should be

    @Test func `is deleted, and both journals said so before`() throws {
        let scene = try Scene(afterImport: .delete)
        let job = try dispose(try imported(in: scene), in: scene)
        #expect(job.disposition == .deleted)
        #expect(job.dispositionProblem == nil)
        #expect(drop(scene).isEmpty)
        #expect(try scene.journal().map(\.what) == ["commit", "delete"])
        #expect(try scene.store.journal(of: job.id).map(\.outcome) == ["imported", "deleted"])
    }

    @Test(.tags(.neverLost), arguments: [Disposition.move, .delete])
    func `has a record of its bytes, and of the original that holds them, before it goes`(rule: Disposition) throws {
        let scene = try Scene(afterImport: rule)
        let pending = try imported(["IMG_0001.HEIC", "IMG_0001.MOV"], in: scene)
        let sums = try pending.files.map { file in
            let outcome = try Programs.run("/usr/bin/sha256sum", [file.path.shown])
            return String(outcome.output.prefix(64))
        }
        let job = try dispose(pending, in: scene)
        let lines = try scene.journal().filter { $0.what == rule.rawValue }
        #expect(lines.map(\.sha256) == sums)
        for (line, sum) in zip(lines, sums) {
            let outcome = try Programs.run(
                "/usr/bin/sha256sum", [scene.url("library/" + (try #require(line.original))).path])
            #expect(outcome.output.hasPrefix(sum))
        }
        let recorded = try scene.store.journal(of: job.id).filter { $0.what == rule.rawValue }
        #expect(recorded.map { $0.sha256?.hex } == sums)
    }

    @Test func `F12 is moved with its companions to where it lay below the drop folder`() throws {
        let scene = try Scene(afterImport: .move)
        let job = try dispose(try imported(["IMG_0001.HEIC", "IMG_0001.MOV"], in: scene), in: scene)
        #expect(job.disposition == .moved)
        #expect(drop(scene) == [".imported/import-1/IMG_0001.HEIC", ".imported/import-1/IMG_0001.MOV"])
    }

    @Test func `is moved beside what has its name there`() throws {
        let scene = try Scene(afterImport: .move)
        try scene.write([1], to: "drop/.imported/import-1/IMG_0001.HEIC")
        try scene.write([2], to: "drop/.imported/import-1/IMG_0001-2.HEIC")
        let job = try dispose(try imported(in: scene), in: scene)
        #expect(job.disposition == .moved)
        #expect(try scene.bytes("drop/.imported/import-1/IMG_0001.HEIC") == [1])
        #expect(try scene.bytes("drop/.imported/import-1/IMG_0001-2.HEIC") == [2])
        #expect(try scene.bytes("drop/.imported/import-1/IMG_0001-3.HEIC") == StagedShot.content(0))
    }

    // MARK: Only while the original stands

    @Test(arguments: [Disposition.delete, .move])
    func `is left when its asset went to the trash before, also by one who had it on his list`(
        afterImport: Disposition
    ) throws {
        let scene = try Scene(afterImport: afterImport)
        let job = try imported(in: scene)
        let asset = try #require(try scene.store.asset(job.asset ?? ""))
        let line = try scene.store.reserveJournal(
            what: "undo", job: nil, path: asset.resources[0].path, sha256: nil, detail: asset.id, at: Scene.start)
        try scene.store.remove(asset, journal: line, isForGood: false, at: Scene.start)
        #expect(try scene.store.pendingDispositions().isEmpty)
        #expect(try dispose(job, in: scene).disposition == .kept)
        #expect(drop(scene) == ["import-1/IMG_0001.HEIC"])
    }

    @Test func `is left when somebody took its original away`() throws {
        let scene = try Scene(afterImport: .delete)
        let job = try imported(in: scene)
        let original = try #require(scene.visible.first)
        try scene.remove("library/" + original)
        let after = try dispose(job, in: scene)
        #expect(after.disposition == .kept)
        #expect(after.dispositionProblem?.code == .disposition)
        #expect(drop(scene) == ["import-1/IMG_0001.HEIC"])
    }

    // MARK: Only when the mirror has it

    /// Marks everything that is listed as being on the mirror.
    private func mirror(_ scene: Scene) throws {
        try scene.store.adoptMirror("one")
        try scene.store.recordMirrored(try scene.store.toMirror(limit: 100), refused: [], on: "one")
    }

    @Test(.tags(.neverLost), arguments: [Disposition.delete, .move])
    func `waits until every original of its shot is on the mirror`(afterImport: Disposition) throws {
        let scene = try Scene(afterImport: afterImport)
        let job = try imported(["IMG_0001.HEIC", "IMG_0001.MOV"], in: scene)
        let step = DispositionStep(
            library: try scene.library, store: scene.store, now: { Scene.start }, log: { _ in }, needsMirror: { true })
        let before = drop(scene)
        func disposition() throws -> DispositionState? {
            try step.run(job, drop: scene.drop)
            return try scene.store.job(job.id)?.disposition
        }
        #expect(try disposition() == .pending)
        try scene.store.adoptMirror("one")
        try scene.store.recordMirrored(
            [try #require(try scene.store.toMirror(limit: 1).first)], refused: [], on: "one")
        #expect(try disposition() == .pending)
        #expect(drop(scene) == before)
        try mirror(scene)
        #expect(try disposition() == (afterImport == .delete ? .deleted : .moved))
    }

    @Test(.tags(.stopsAnywhere), arguments: [false, true])
    func `claimed by a dead process is put back unless the mirror has it`(isMirrored: Bool) throws {
        let scene = try Scene(afterImport: .delete)
        let job = try imported(in: scene)
        _ = try claimAndDie(job, in: scene)
        if isMirrored { try mirror(scene) }
        let step = DispositionStep(
            library: try scene.library, store: scene.store, now: { Scene.start }, log: { _ in }, needsMirror: { true })
        try step.finishClaims(in: scene.drop)
        #expect(drop(scene) == (isMirrored ? [] : ["import-1/IMG_0001.HEIC"]))
    }

    // MARK: Only what was imported

    enum Change: CaseIterable { case replaced, appended, rewritten, sameSize }

    @Test(.tags(.neverLost), arguments: Change.allCases, [Disposition.delete, .move])
    func `T10 stays under its name when it is another than was imported`(
        change: Change, disposition: Disposition
    ) throws {
        let scene = try Scene(afterImport: disposition)
        let job = try imported(in: scene)
        let path = "drop/import-1/IMG_0001.HEIC"
        var new = StagedShot.content(0)
        switch change {
        case .replaced:
            new = Array("another photo of the same name".utf8)
            try FileManager.default.moveItem(at: scene.url(path), to: scene.url("away"))
            try scene.write(new, to: path)
        case .appended:
            new += [1]
            let handle = try FileHandle(forWritingTo: scene.url(path))
            try handle.seekToEnd()
            try handle.write(contentsOf: Data([1]))
        case .rewritten, .sameSize:
            if change == .rewritten { new = Array("shorter".utf8) } else { new[0] = 0 }
            let handle = try FileHandle(forWritingTo: scene.url(path))
            try handle.truncate(atOffset: 0)
            try handle.write(contentsOf: Data(new))
        }
        let end = try dispose(job, in: scene)
        #expect(end.disposition == .kept)
        #expect(end.dispositionProblem?.code == .disposition)
        #expect(drop(scene) == ["import-1/IMG_0001.HEIC"])
        #expect(try scene.bytes(path) == new)
    }

    @Test(.tags(.neverLost)) func `stays while the journal of the library cannot be written, and waits`() throws {
        let scene = try Scene(afterImport: .delete)
        let job = try imported(in: scene)
        try FileManager.default.moveItem(
            at: scene.url("library/.photospool/journal"), to: scene.url("library/.photospool/aside"))
        try scene.write([], to: "library/.photospool/journal")
        #expect(code { _ = try dispose(job, in: scene) } == .libraryIO)
        #expect(drop(scene) == ["import-1/IMG_0001.HEIC"])
        #expect(try scene.store.job(job.id)?.disposition == .pending)

        try scene.remove("library/.photospool/journal")
        try FileManager.default.moveItem(
            at: scene.url("library/.photospool/aside"), to: scene.url("library/.photospool/journal"))
        #expect(try dispose(job, in: scene).disposition == .deleted)
        #expect(drop(scene).isEmpty)
    }

    @Test func `that somebody removed before is reported, and that is the end of it`() throws {
        let scene = try Scene(afterImport: .delete)
        let job = try imported(in: scene)
        try scene.remove("drop/import-1/IMG_0001.HEIC")
        let end = try dispose(job, in: scene)
        #expect(end.disposition == .kept)
        #expect(end.dispositionProblem?.code == .disposition)
    }

    @Test func `H25 is kept and reported apart when the private folder cannot be made`() throws {
        let scene = try Scene(afterImport: .delete)
        let job = try imported(in: scene)
        try scene.write([], to: "drop/.photospool")
        let end = try dispose(job, in: scene)
        #expect(end.disposition == .kept)
        #expect(end.dispositionProblem?.code == .disposition)
        #expect(end.state == .imported)
        #expect(drop(scene) == [".photospool", "import-1/IMG_0001.HEIC"])
    }

    @Test func `is put back when its target cannot be reached`() throws {
        let scene = try Scene(afterImport: .move)
        scene.drop.moveTo = Path(scene.folder.path + "/elsewhere")
        try scene.write([], to: "elsewhere")  // a file, not a folder
        let end = try dispose(try imported(in: scene), in: scene)
        #expect(end.disposition == .kept)
        #expect(drop(scene) == ["import-1/IMG_0001.HEIC"])
    }

    @Test func `waits for its drop folder while that is away`() throws {
        let scene = try Scene(afterImport: .delete)
        let job = try imported(in: scene)
        try FileManager.default.moveItem(at: scene.url("drop"), to: scene.url("away"))
        #expect(try dispose(job, in: scene).disposition == .pending)
        try FileManager.default.moveItem(at: scene.url("away"), to: scene.url("drop"))
        #expect(try dispose(job, in: scene).disposition == .deleted)
    }

    @Test func `A17 waits for the card that was pulled, and writes nothing to its bare mount point`() throws {
        let scene = try Scene(afterImport: .delete)
        guard try Mount.isPossible(for: "a card pulled before its sources were deleted") else { return }
        let card = try Mount(at: scene.url("drop"), bytes: 1 << 20)
        let job = try imported(in: scene)
        try card.end()
        #expect(try dispose(job, in: scene).disposition == .pending)
        #expect(try FileManager.default.contentsOfDirectory(atPath: scene.url("drop").path).isEmpty)
    }

    // MARK: What a dead process left

    @Test(.tags(.stopsAnywhere), arguments: [Disposition.delete, .move])
    func `is disposed of at the next start when it was claimed`(disposition: Disposition) throws {
        let scene = try Scene(afterImport: disposition)
        let job = try imported(in: scene)
        _ = try claimAndDie(job, in: scene)
        try scene.reopen()
        try scene.dispositionStep.finishClaims(in: scene.drop)
        #expect(drop(scene) == (disposition == .move ? [".imported/import-1/IMG_0001.HEIC"] : []))
        let end = try dispose(job, in: scene)
        #expect(end.disposition == (disposition == .move ? .moved : .deleted))
        #expect(end.dispositionProblem == nil)
    }

    @Test(.tags(.stopsAnywhere), arguments: [Disposition.delete, .move])
    func `is not reported as kept when the process died between the act and its record`(
        disposition: Disposition
    ) throws {
        let scene = try Scene(afterImport: disposition)
        let job = try imported(["IMG_0001.HEIC", "IMG_0001.MOV"], in: scene)
        let id = try claimAndDie(job, in: scene)
        let claims = try SourceClaims(drop: scene.drop.path)
        let relative = try #require(job.files[0].path.below(scene.drop.path))
        if disposition == .delete {
            try claims.delete(id, from: relative)
        } else {
            try claims.move(id, to: DispositionStep.target(of: relative, drop: scene.drop), from: relative)
        }
        try scene.reopen()
        try scene.dispositionStep.finishClaims(in: scene.drop)
        let end = try dispose(job, in: scene)
        #expect(end.disposition == (disposition == .move ? .moved : .deleted))
        #expect(end.dispositionProblem == nil)
        #expect(drop(scene).filter { !$0.hasPrefix(".imported") }.isEmpty)
    }

    /// A claim can be caught and then neither finished nor put back: when there are no descriptors left, say.
    @Test(arguments: [Disposition.delete, .move])
    func `is not said to be gone while its claim is still there`(disposition: Disposition) throws {
        let scene = try Scene(afterImport: disposition)
        let job = try imported(["IMG_0001.HEIC", "IMG_0001.MOV"], in: scene)
        let id = try claimAndDie(job, in: scene)
        let waiting = try dispose(job, in: scene)
        #expect(waiting.disposition == .pending)
        #expect(drop(scene) == [".photospool/claim/\(id)", "import-1/IMG_0001.MOV"])
        try scene.dispositionStep.finishClaims(in: scene.drop)
        let end = try dispose(job, in: scene)
        #expect(end.disposition == (disposition == .move ? .moved : .deleted))
        #expect(end.dispositionProblem == nil)
        #expect(drop(scene).filter { !$0.hasPrefix(".imported") }.isEmpty)
    }

    @Test(.tags(.stopsAnywhere)) func `is put back when it was claimed and sources are now to be kept`() throws {
        let scene = try Scene(afterImport: .delete)
        let job = try imported(in: scene)
        _ = try claimAndDie(job, in: scene)
        scene.drop.afterImport = .keep
        try scene.reopen()
        try scene.dispositionStep.finishClaims(in: scene.drop)
        #expect(drop(scene) == ["import-1/IMG_0001.HEIC"])
    }

    @Test(.tags(.stopsAnywhere, .neverLost))
    func `is put back beside a newer one when the claimed file is not what was imported`() throws {
        let scene = try Scene(afterImport: .delete)
        let job = try imported(in: scene)
        let id = try claimAndDie(job, in: scene)
        let new = Array("written to while it was claimed".utf8)
        try Data(new).write(to: scene.url("drop/.photospool/claim/\(id)"))
        try scene.write([9], to: "drop/import-1/IMG_0001.HEIC")
        try scene.reopen()
        try scene.dispositionStep.finishClaims(in: scene.drop)
        #expect(drop(scene) == ["import-1/IMG_0001-2.HEIC", "import-1/IMG_0001.HEIC"])
        #expect(try scene.bytes("drop/import-1/IMG_0001-2.HEIC") == new)
        #expect(try scene.bytes("drop/import-1/IMG_0001.HEIC") == [9])
    }

    @Test(.tags(.neverLost)) func `that nobody knows of stays where it is`() throws {
        let scene = try Scene(afterImport: .delete)
        try scene.write([1], to: "drop/.photospool/claim/4711")
        try scene.write([2], to: "drop/.photospool/claim/notes.txt")
        try scene.dispositionStep.finishClaims(in: scene.drop)
        #expect(drop(scene) == [".photospool/claim/4711", ".photospool/claim/notes.txt"])
    }

    @Test(.tags(.neverLost)) func `is never touched for a job that was not imported`() throws {
        let scene = try Scene(afterImport: .delete)
        let job = try imported(in: scene)
        let id = try claimAndDie(job, in: scene)
        try scene.store.recordDisposition(job: job.id, state: .kept, problem: nil, at: Scene.start)
        try scene.dispositionStep.finishClaims(in: scene.drop)
        #expect(drop(scene) == ["import-1/IMG_0001.HEIC"])
        #expect(!scene.exists("drop/.photospool/claim/\(id)"))
    }
}
