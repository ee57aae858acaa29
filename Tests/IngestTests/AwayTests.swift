import Files
import PhotoModel
import Store
import Testing

@testable import Ingest

/// The drop folder's own filesystem stands for the card that is in the slot now.
@Suite("A source whose card is not there", .tags(.neverLost)) struct AwayTests {
    /// Was found on `filesystem`, and has no name any more.
    private func missing(from scene: Scene, on filesystem: (FilesystemID) -> FilesystemID) throws -> SettledFile {
        try scene.write([1], to: "drop/DCIM/IMG_0001.JPG")
        var file = try scene.settled("DCIM/IMG_0001.JPG")
        file.filesystem = filesystem(file.filesystem)
        try scene.remove("drop/DCIM")
        return file
    }

    private func outcome(of file: SettledFile, in scene: Scene) throws -> ImportOutcome {
        do {
            _ = try OpenSource.open(file, root: scene.drop.path)
            throw Problem(.conflict, "It opened.")
        } catch let end as ImportEnded { return end.outcome }
    }

    @Test func `waits for it while something else is in its place`() throws {
        let scene = try Scene()
        let file = try missing(from: scene) { _ in "0000000000000811-9c1f33aa-7" }
        guard case .sourceAway = try outcome(of: file, in: scene) else {
            Issue.record("\(try outcome(of: file, in: scene))")
            return
        }
    }

    @Test func `has vanished once another medium is in the slot: that has jobs of its own`() throws {
        let scene = try Scene()
        let file = try missing(from: scene) { $0 + "-9c1f33aa-7" }
        guard case .ended(.vanished, let problem) = try outcome(of: file, in: scene) else {
            Issue.record("\(try outcome(of: file, in: scene))")
            return
        }
        #expect(problem.code == .sourceVanished)
    }

    @Test func `is no longer waited for where nothing else will come`() throws {
        let scene = try Scene()
        let away = AwayDrops()
        for (suffix, isOver) in [("", true), ("-9c1f33aa-7", true), ("0", false)] {
            let file = try missing(from: scene) { $0 + suffix }
            let place = AwayDrops.Place(drop: "card", root: scene.drop.path, filesystem: file.filesystem)
            #expect(away.add(place, file))
            #expect(!away.add(place, file))
            #expect(away.isOver(place) == isOver, "\(suffix)")
            away.remove(place)
        }
        #expect(away.all.isEmpty)
        let file = try missing(from: scene) { $0 }
        let gone = AwayDrops.Place(drop: "card", root: scene.drop.path / "away", filesystem: file.filesystem)
        #expect(away.add(gone, file))
        #expect(away.isOver(gone))  // it no longer lies below: its job finds that out
    }

    @Test func `is owed nothing more once another medium is in the slot`() throws {
        let scene = try Scene(afterImport: .delete)
        let shot = try scene.stage(["IMG_0001.HEIC"], withPreview: false)
        _ = try scene.commitStep.run(
            shot.intent, claim: shot.claim, disposition: .pending, alternative: shot.builder.intent(collision:))
        var job = try #require(try scene.store.job(shot.claim.job.id))
        try scene.remove("drop/import-1")
        let filesystem = job.files[0].filesystem
        job.files[0].filesystem = "0000000000000811-9c1f33aa-7"
        try scene.dispositionStep.run(job, drop: scene.drop)
        #expect(try scene.store.job(job.id)?.disposition == .pending)
        job.files[0].filesystem = filesystem + "-9c1f33aa-7"
        try scene.dispositionStep.run(job, drop: scene.drop)
        #expect(try scene.store.job(job.id)?.disposition == .kept)
        #expect(try scene.store.job(job.id)?.dispositionProblem?.code == .disposition)
    }
}
