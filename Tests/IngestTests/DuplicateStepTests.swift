import Files
import Foundation
import PhotoModel
import Store
import Testing

@testable import Ingest

/// Whether the library has a file's bytes: the catalog says so, and the medium too.
@Suite("A duplicate") struct DuplicateStepTests {
    private let photo = "library/\(Scene.day)/IMG_0001.HEIC"

    /// A shot in the library, and the same one staged again.
    private func twice(in scene: Scene) throws -> [StagedResource] {
        _ = try scene.commit(try scene.stage(["IMG_0001.HEIC"], withPreview: false))
        return try scene.stage(
            ["IMG_0001.HEIC"], importID: "import-2", asset: "018f0000-0000-7000-8000-0000000000cd", withPreview: false
        ).builder.staged
    }

    private func find(_ staged: [StagedResource], in scene: Scene, attempt: Int = 1) throws -> DuplicateStep.Finding {
        try find(staged.map(HashedFile.init), in: scene, attempt: attempt)
    }

    private func find(
        _ files: [HashedFile], in scene: Scene, attempt: Int = 1, within: Set<Asset.ID>? = nil
    ) throws -> DuplicateStep.Finding {
        try DuplicateStep(
            library: try scene.library, store: scene.store, attempt: attempt, isCancelled: { false }, log: { _ in },
            within: within
        ).run(files)
    }

    private func file(_ role: Role, _ content: [UInt8]) -> HashedFile {
        HashedFile(role: role, source: Path("/x"), sha256: SHA256.digest(of: content))
    }

    @Test func `is no sidecar that is equal to another shot's, beside its photo or alone`() throws {
        let scene = try Scene()
        let (one, other) = ("018f0000-0000-7000-8000-0000000000ab", "018f0000-0000-7000-8000-0000000000cd")
        _ = try scene.commit(try scene.stage(["IMG_0001.HEIC"], withPreview: false))
        _ = try scene.commit(
            try scene.stage(
                ["IMG_0002.HEIC", "IMG_0002.AAE"], importID: "import-2", asset: other, variant: 2, withPreview: false))
        let photo = file(.photo, StagedShot.content(0))
        let edit = file(.adjustment, StagedShot.content(1, 2))
        #expect(try find([photo, edit], in: scene).known == [0])
        #expect(try find([edit], in: scene).known.isEmpty)
        #expect(try find([edit], in: scene, within: [one]).known.isEmpty)
        #expect(try find([edit], in: scene, within: [one, other]).known == [0])
        let whole = try find([file(.photo, StagedShot.content(0, 2)), edit], in: scene)
        #expect(whole.known == [0, 1])
        #expect(whole.asset == other)
    }

    @Test func `is one when the library's file was read again and is equal`() throws {
        let scene = try Scene()
        let finding = try find(try twice(in: scene), in: scene)
        #expect(finding.known == [0])
        #expect(finding.asset == "018f0000-0000-7000-8000-0000000000ab")
    }

    @Test(arguments: ["missing", "other bytes", "cut", "a folder", "a link"])
    func `is none when the library's file is no longer what the catalog says`(damage: String) throws {
        let scene = try Scene()
        let staged = try twice(in: scene)
        let bytes = try scene.bytes(photo)
        try scene.remove(photo)
        switch damage {
        case "other bytes": try scene.write(bytes.map { $0 ^ 1 }, to: photo)
        case "cut": try scene.write(Array(bytes.dropLast()), to: photo)
        case "a folder": try Scene.makeFolder(scene.url(photo))
        case "a link":
            try scene.write(bytes, to: "elsewhere")
            try FileManager.default.createSymbolicLink(
                at: scene.url(photo), withDestinationURL: scene.url("elsewhere"))
        default: break
        }
        let finding = try find(staged, in: scene)
        #expect(finding.known.isEmpty)
        #expect(finding.asset == nil)
    }

    @Test func `is none of what nobody has imported`() throws {
        let scene = try Scene()
        let staged = try scene.stage(["IMG_0001.HEIC"], withPreview: false).builder.staged
        #expect(try find(staged, in: scene).known.isEmpty)
    }

    @Test func `that was deleted on purpose is left alone`() throws {
        let scene = try Scene()
        let staged = try scene.stage(["IMG_0001.HEIC"], withPreview: false).builder.staged
        try scene.store.addTombstone(staged[0].sha256, asset: nil, path: nil, at: Scene.start)
        do {
            _ = try find(staged, in: scene)
            Issue.record("found nothing")
        } catch let end as ImportEnded {
            if case .ended(.skipped, let problem) = end.outcome {
                #expect(problem.code == .tombstone)
            } else {
                Issue.record("\(end.outcome)")
            }
        }
    }
}
