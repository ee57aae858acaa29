import Files
import Foundation
import PhotoModel
import Store
import Testing

@testable import Ingest

@Suite("A group that the library may hold", .tags(.neverLost)) struct KnownFirstTests {
    /// A photo that was imported, and one of its name in another folder.
    private func scene(again bytes: [UInt8]) throws -> (Scene, SettledFile) {
        let scene = try Scene()
        _ = try scene.commit(try scene.stage(["IMG_0001.HEIC"], withPreview: false))
        try scene.write(bytes, to: "drop/again/IMG_0001.HEIC")
        return (scene, try scene.settled("again/IMG_0001.HEIC"))
    }

    private func run(
        _ files: [SettledFile], in scene: Scene, progress: @escaping (Path, Int64) -> Void = { _, _ in }
    ) throws -> [HashedFile]? {
        try KnownFirstStep(
            store: scene.store, job: try scene.claim(files, importID: "again").job, progress: progress,
            isCancelled: { false }
        ).run(root: scene.drop.path)
    }

    @Test func `is read and hashed, and nothing is written`() throws {
        let (scene, file) = try scene(again: StagedShot.content(0))
        let before = scene.files(below: "library")
        let hashed = try #require(try run([file], in: scene))
        #expect(hashed.map(\.sha256) == [SHA256.digest(of: StagedShot.content(0))])
        #expect(scene.files(below: "library") == before)
        let finding = try DuplicateStep(
            library: try scene.library, store: scene.store, attempt: 1, isCancelled: { false }, log: { _ in }
        ).run(hashed)
        #expect(finding.known == [0])
    }

    @Test func `is not read when a photo of it is new by name or size, or when it is a sidecar alone`() throws {
        let (scene, file) = try scene(again: StagedShot.content(0) + [1])
        #expect(try run([file], in: scene) == nil)
        try scene.write(StagedShot.content(0), to: "drop/other/IMG_0002.HEIC")
        #expect(try run([try scene.settled("other/IMG_0002.HEIC")], in: scene) == nil)
        try scene.write(StagedShot.content(0), to: "drop/side/IMG_0001.HEIC")
        #expect(try run([try scene.settled("side/IMG_0001.HEIC", role: .sidecar)], in: scene) == nil)
    }

    @Test(arguments: ["grown", "rewritten", "cut"]) func `settles anew when it changes while it is read`(how: String)
        throws
    {
        let (scene, file) = try scene(again: StagedShot.content(0))
        let url = scene.url("drop/again/IMG_0001.HEIC")
        do {
            _ = try run([file], in: scene) { _, _ in
                do {
                    let handle = try FileHandle(forUpdating: url)
                    switch how {
                    case "grown":
                        try handle.seekToEnd()
                        try handle.write(contentsOf: Data([1]))
                    case "cut": try handle.truncate(atOffset: 1)
                    default: try handle.write(contentsOf: Data([1]))
                    }
                    try handle.close()
                } catch { Issue.record(error) }
            }
            Issue.record("did not notice")
        } catch let end as ImportEnded {
            guard case .sourceChanged = end.outcome else {
                Issue.record("\(end.outcome)")
                return
            }
        }
    }
}
