import Files
import Foundation
import PhotoModel
import Store
import Testing

@testable import Ingest

/// A source goes only while that very original stands that holds its bytes.
@Suite("An original that stands for a source", .tags(.neverLost)) struct OriginalTests {
    private static let raw: Asset.ID = "018f0000-0000-7000-8000-0000000000ac"

    /// Two shots are in the library, each an asset of its own; both of their files come again as one shot.
    private func duplicateOfTwo(in scene: Scene) throws -> (job: Job, originals: [Path]) {
        let first = try scene.stage(["IMG_0001.HEIC"], withPreview: false)
        let one = try scene.commit(first)
        let second = try scene.stage(
            ["IMG_0002.DNG"], importID: "import-2", asset: Self.raw, variant: 7, withPreview: false)
        let two = try scene.commit(second)
        let files = [StagedShot.content(0), StagedShot.content(0, 7)]
        for (name, bytes) in zip(["IMG_0003.HEIC", "IMG_0003.DNG"], files) {
            try scene.write(bytes, to: "drop/again/\(name)")
        }
        let claim = try scene.claim(
            [
                try scene.settled("again/IMG_0003.HEIC", role: .photo),
                try scene.settled("again/IMG_0003.DNG", role: .alternatePhoto),
            ], importID: "import-3")
        _ = try scene.store.finish(
            claim, as: .duplicate, problem: nil, asset: one.asset.id, disposition: .pending, at: Scene.start)
        return (
            try #require(try scene.store.job(claim.job.id)),
            [one.asset.resources[0].path, two.asset.resources[0].path]
        )
    }

    @Test func `is looked for among all assets, for each file of a duplicate`() throws {
        let scene = try Scene(afterImport: .delete)
        let (job, _) = try duplicateOfTwo(in: scene)
        try scene.dispositionStep.run(job, drop: scene.drop)
        #expect(try scene.store.job(job.id)?.disposition == .deleted)
        #expect(scene.files(below: "drop/again").isEmpty)
    }

    @Test(arguments: [0, 1])
    func `and is gone leaves the source that it stood for`(missing: Int) throws {
        let scene = try Scene(afterImport: .delete)
        let (job, originals) = try duplicateOfTwo(in: scene)
        try FileManager.default.removeItem(at: scene.url("library/" + originals[missing].shown))
        try scene.dispositionStep.run(job, drop: scene.drop)
        let end = try #require(try scene.store.job(job.id))
        #expect(end.disposition == .kept)
        #expect(end.dispositionProblem?.code == .disposition)
        #expect(scene.files(below: "drop/again") == [missing == 0 ? "IMG_0003.HEIC" : "IMG_0003.DNG"])
    }

    @Test(arguments: [0, 1])
    func `and is not on the mirror yet keeps its source waiting`(behind: Int) throws {
        let scene = try Scene(afterImport: .delete)
        let (job, originals) = try duplicateOfTwo(in: scene)
        try scene.store.adoptMirror("mirror")
        let there = try scene.store.toMirror(limit: 9).filter { $0.resource.path == originals[1 - behind] }
        try scene.store.recordMirrored(there, refused: [], on: "mirror")
        let step = DispositionStep(
            library: try scene.library, store: scene.store, now: { Scene.start }, log: { _ in }, needsMirror: { true })
        try step.run(job, drop: scene.drop)
        #expect(try scene.store.job(job.id)?.disposition == .pending)
        #expect(scene.files(below: "drop/again").contains(behind == 0 ? "IMG_0003.HEIC" : "IMG_0003.DNG"))
        try scene.store.recordMirrored(try scene.store.toMirror(limit: 9), refused: [], on: "mirror")
        try step.run(job, drop: scene.drop)
        #expect(try scene.store.job(job.id)?.disposition == .deleted)
    }

    /// The library came back from a backup of the night before, while a claim of today lay in the drop folder.
    @Test(.tags(.stopsAnywhere), arguments: [true, false])
    func `and is gone brings a claimed source back under its name`(isDuplicate: Bool) throws {
        let scene = try Scene(afterImport: .delete)
        let (job, originals) = try duplicateOfTwo(in: scene)
        let file = job.files[isDuplicate ? 1 : 0]
        let id = try scene.store.reserveJournal(
            what: "delete", job: job.id, path: file.path, sha256: nil, detail: nil, at: Scene.start)
        let relative = try #require(file.path.below(scene.drop.path))
        #expect(try SourceClaims(drop: scene.drop.path).claim(relative, as: id, expecting: file.stamp))
        try FileManager.default.removeItem(
            at: scene.url("library/" + originals[isDuplicate ? 1 : 0].shown))
        try scene.dispositionStep.finishClaims(in: scene.drop)
        #expect(scene.files(below: "drop/again") == ["IMG_0003.DNG", "IMG_0003.HEIC"])
    }
}
