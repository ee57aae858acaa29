import Files
import Foundation
import PhotoModel
import Store
import Synchronization
import Testing

@testable import Ingest

@Suite("A commit") struct CommitStepTests {
    @Test func `gives each file its name, says so in both journals, and leaves staging empty`() throws {
        let scene = try Scene()
        let shot = try scene.stage()
        let intent = try scene.commit(shot)
        #expect(try scene.contents() == shot.expected())
        #expect(scene.previews == ["ab/\(intent.asset.id).jpg"])
        #expect(scene.files(below: "library/.photospool/staging").isEmpty)
        #expect(try scene.state(shot.claim) == .imported)
        let lines = try scene.store.journal(of: shot.claim.job.id)
        #expect(lines.map(\.outcome) == ["imported"])
        #expect(try scene.journal().map(\.what) == ["commit"])
        #expect(try scene.journal().map(\.id) == [try scene.store.highestJournalID()])
    }

    @Test func `renames the leading photo last`() throws {
        let scene = try Scene()
        let moves = try scene.stage().intent.moves
        #expect(moves.map(\.final.suffix.shown) == [".jpg", ".MOV", ".HEIC"])
    }

    @Test(.tags(.neverOverwritten), arguments: 0...3)
    func `G01 takes the next free name for the whole shot, past what is there`(collisions: Int) throws {
        let scene = try Scene()
        var strangers: [String: [UInt8]] = [:]
        for number in 0..<collisions {
            // Now the photo's name, now the video's.
            let suffix = number == 0 ? "" : "_\(number)"
            let path = "\(Scene.day)/IMG_0001\(suffix)\(number % 2 == 0 ? ".HEIC" : ".MOV")"
            strangers[path] = Array("stranger \(number)".utf8)
            try scene.write(strangers[path] ?? [], to: "library/" + path)
        }
        let shot = try scene.stage()
        _ = try scene.commit(shot)
        let expected = shot.expected(collisions == 0 ? "" : "_\(collisions)")
        #expect(try scene.contents() == expected.merging(strangers) { $1 })
    }

    @Test(.tags(.neverOverwritten))
    func `G01 finds the name behind five hundred others in few looks`() throws {
        let scene = try Scene()
        for number in 0..<500 {
            try scene.write([1], to: "library/\(Scene.day)/IMG_0001\(number == 0 ? "" : "_\(number)").HEIC")
        }
        let shot = try scene.stage()
        var looks = 0
        _ = try scene.commitStep.run(shot.intent, claim: shot.claim, disposition: .keep) { number in
            looks += 1
            return shot.builder.intent(collision: number)
        }
        #expect(scene.exists("library/\(Scene.day)/IMG_0001_500.HEIC"))
        #expect(scene.exists("library/\(Scene.day)/IMG_0001_500.MOV"))
        #expect(try scene.bytes("library/\(Scene.day)/IMG_0001_499.HEIC") == [1])
        #expect(looks < 30, "\(looks)")
    }

    @Test(.tags(.neverOverwritten))
    func `G01 notices a name that is taken between the look and the rename`() throws {
        let scene = try Scene()
        let shot = try scene.stage()
        let photo = "library/\(Scene.day)/IMG_0001.HEIC"
        let isTaken = Atomic<Bool>(false)
        let url = scene.url(photo)
        // The clock is read for the intent: behind the look, before the renames.
        _ = try scene.commit(shot) {
            if !isTaken.exchange(true, ordering: .relaxed) {
                do {
                    try Scene.makeFolder(url.deletingLastPathComponent())
                    try Data("a stranger".utf8).write(to: url)
                } catch { Issue.record(error) }
            }
            return Scene.start
        }
        let stranger = ["\(Scene.day)/IMG_0001.HEIC": Array("a stranger".utf8)]
        #expect(try scene.contents() == shot.expected("_1").merging(stranger) { $1 })
        #expect(scene.previews.count == 1)
        let lines = try scene.store.journal(of: shot.claim.job.id)
        #expect(lines.map(\.outcome) == ["superseded", "imported"])
        #expect(try scene.journal().map(\.what) == ["commit", "commit"])
    }

    @Test(.tags(.neverOverwritten))
    func `takes no name that the catalog lists, although its file is missing`() throws {
        let scene = try Scene()
        let first = try scene.stage(["IMG_0001.HEIC"], variant: 1, withPreview: false)
        _ = try scene.commit(first)
        try scene.remove("library/\(Scene.day)/IMG_0001.HEIC")
        let second = try scene.stage(
            ["IMG_0001.HEIC"], importID: "import-2", asset: "018f0000-0000-7000-8000-0000000000cd", variant: 2,
            withPreview: false)
        _ = try scene.commit(second)
        #expect(try scene.contents() == second.expected("_1"))
    }

    @Test func `is rolled back whole when the journal of the library cannot be written`() throws {
        let scene = try Scene()
        let shot = try scene.stage()
        try scene.remove("library/.photospool/journal")
        try scene.write([], to: "library/.photospool/journal")
        #expect(failure { _ = try scene.commit(shot) } == .rolledBack(.libraryIO))
        #expect(scene.visible.isEmpty)
        #expect(scene.previews.isEmpty)
    }

    @Test func `is rolled back whole when the last name cannot be given`() throws {
        let scene = try Scene()
        let shot = try scene.stage()
        // The photo is gone from staging when its turn comes; preview and video have their names by then.
        try scene.remove("library/" + shot.intent.moves[2].staged.shown)
        #expect(failure { _ = try scene.commit(shot) } == .rolledBack(.libraryIO))
        #expect(scene.visible.isEmpty)
        #expect(scene.previews.isEmpty)
    }

    @Test(arguments: 0..<3)
    func `is left to recovery when it can neither be finished nor taken back`(done: Int) throws {
        let scene = try Scene()
        let shot = try scene.stage()
        let disk = FailingDisk(renamesBefore: done)
        let step = CommitStep(
            library: try scene.library, store: scene.store, now: { Scene.start }, calls: disk.calls)
        let ending = failure {
            _ = try step.run(
                shot.intent, claim: shot.claim, disposition: .keep, alternative: shot.builder.intent(collision:))
        }
        #expect(ending == (done == 0 ? .rolledBack(.libraryIO) : .unresolved(.libraryIO)))
        if done == 0 { return }
        #expect(try scene.state(shot.claim) == .committing)

        // The disk is well again.
        #expect(try scene.recover() == Recovery.Report(rolledForward: 1))
        #expect(try scene.contents() == shot.expected())
        #expect(try scene.state(shot.claim) == .imported)
    }

    @Test func `is not stopped by a photo that says NaN of its place`() throws {
        let scene = try Scene()
        let shot = try scene.stage()
        var intent = shot.intent
        intent.asset.facts.latitude = .nan
        intent.asset.facts.longitude = -.infinity
        let step = try scene.commitStep
        _ = try step.run(intent, claim: shot.claim, disposition: .keep) { _ in intent }
        #expect(try scene.contents() == shot.expected())
        #expect(try scene.journal().map(\.what) == ["commit"])
    }

    @Test func `of a stale import changes nothing`() throws {
        let scene = try Scene()
        let shot = try scene.stage()
        _ = try scene.store.giveBack(interrupted: shot.claim.job.id, crashed: false, at: Scene.start)
        #expect(failure { _ = try scene.commit(shot) } == .rolledBack(.conflict))
        #expect(scene.visible.isEmpty)
        #expect(scene.previews.isEmpty)
        #expect(try scene.state(shot.claim) == .queued)
    }

    private enum Ending: Equatable {
        case rolledBack(Problem.Code)
        case unresolved(Problem.Code)
    }

    private func failure(_ body: () throws -> Void) -> Ending? {
        do {
            try body()
            return nil
        } catch let failure as CommitStep.Failure {
            return switch failure {
            case .rolledBack(let problem): .rolledBack(problem.code)
            case .unresolved(let problem): .unresolved(problem.code)
            }
        } catch {
            Issue.record("another error: \(error)")
            return nil
        }
    }
}
