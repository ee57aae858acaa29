import Files
import Foundation
import PhotoModel
import Store
import Testing

@testable import Ingest

/// Which asset a member joins that comes after its shot. The shot is IMG_0001.HEIC, taken 2026-05-17T09:04:31.
@Suite("A late member") struct LateStepTests {
    private static let shot: Asset.ID = "018f0000-0000-7000-8000-0000000000ab"

    /// Files beside the shot, claimed, and as they were staged.
    private func stage(
        _ names: [(String, Role)], in scene: Scene, folder: String = "import-1", importID: String = "late"
    ) throws -> (job: Job, staged: [StagedResource]) {
        var files: [SettledFile] = []
        for (name, role) in names {
            try scene.write(Array(name.utf8), to: "drop/\(folder)/\(name)")
            files.append(try scene.settled("\(folder)/\(name)", role: role))
        }
        let job = try scene.claim(files, importID: importID).job
        let staged = files.enumerated().map { number, file in
            StagedResource(
                role: file.role, source: file.path, sourceStamp: file.stamp, staged: Path("staged/\(number)"),
                sha256: SHA256.digest(of: Array(file.path.shown.utf8)), size: file.stamp.size, device: 1, inode: 1)
        }
        return (job, staged)
    }

    private func inspection(
        _ type: MediaType, second: Int? = nil, identifier: String? = nil, offset: String? = nil
    ) -> Inspection {
        var inspection = Inspection(mediaType: type)
        inspection.facts.contentIdentifier = identifier
        if let second {
            let time = WallTime(year: 2026, month: 5, day: 17, hour: 9, minute: 4, second: second)
            inspection.dates = [CaptureDate(time: time, offset: offset, source: .exifOriginal)]
        }
        return inspection
    }

    private func sceneWithShot() throws -> Scene {
        let scene = try Scene()
        _ = try scene.commit(try scene.stage(["IMG_0001.HEIC"]))
        return scene
    }

    private func joined(
        _ names: [(String, Role)], _ inspections: [Inspection], in scene: Scene, folder: String = "import-1",
        importID: String = "late"
    ) throws -> Asset.ID? {
        let (job, staged) = try stage(names, in: scene, folder: folder, importID: importID)
        return try LateStep(store: scene.store, job: job, now: Scene.start).asset(for: staged, inspections)?.id
    }

    @Test(arguments: [28, 29, 31, 33, 34])
    func `joins by stem, folder and a capture time that differs by two seconds at most`(second: Int) throws {
        let scene = try sceneWithShot()
        let found = try joined([("IMG_0001.DNG", .photo)], [inspection(.raw, second: second)], in: scene)
        #expect(found == ((29...33).contains(second) ? Self.shot : nil))
    }

    @Test func `does not join without a time of its own that agrees, unless it is a sidecar, which may correct it`()
        throws
    {
        let scene = try sceneWithShot()
        #expect(try joined([("IMG_0001.DNG", .photo)], [inspection(.raw)], in: scene) == nil)
        #expect(
            try joined([("IMG_0001.AAE", .adjustment)], [inspection(.appleAdjustment)], in: scene, importID: "2")
                == Self.shot)
        #expect(
            try joined([("IMG_0001.HEIC.xmp", .sidecar)], [inspection(.xmp, second: 50)], in: scene, importID: "3")
                == Self.shot)
        #expect(
            try joined([("IMG_0001.xmp", .sidecar)], [inspection(.xmp, second: 31)], in: scene, importID: "4")
                == Self.shot)
    }

    @Test func `does not join a shot of another folder or stem`() throws {
        let scene = try sceneWithShot()
        #expect(
            try joined([("IMG_0001.DNG", .photo)], [inspection(.raw, second: 31)], in: scene, folder: "other") == nil)
        #expect(
            try joined([("IMG_0001.xmp", .sidecar)], [inspection(.xmp)], in: scene, folder: "other", importID: "2")
                == nil)
        #expect(
            try joined([("IMG_0002.DNG", .photo)], [inspection(.raw, second: 31)], in: scene, importID: "3") == nil)
    }

    @Test func `is not another file of the same extension: that is another version, or another shot`() throws {
        let scene = try sceneWithShot()
        #expect(try joined([("IMG_0001.heic", .photo)], [inspection(.heic, second: 31)], in: scene) == nil)
    }

    @Test func `joins by content identifier, wherever it comes from and whatever it is called`() throws {
        let scene = try Scene()
        let first = try scene.stage(["IMG_0001.HEIC"], withPreview: false)
        var intent = first.intent
        intent.asset.facts.contentIdentifier = "A1B2"
        _ = try scene.commitStep.run(intent, claim: first.claim, disposition: .keep) { _ in intent }
        let video = [("EDIT.MOV", Role.video)]
        let found = try joined(
            video, [inspection(.quicktime, identifier: "A1B2")], in: scene, folder: "other", importID: "2")
        #expect(found == Self.shot)
        #expect(
            try joined(
                [("IMG_0001.MOV", .video)], [inspection(.quicktime, second: 31, identifier: "C3D4")], in: scene,
                importID: "3") == nil)
    }

    @Test func `joins none where two would do`() throws {
        let scene = try sceneWithShot()
        // Another version of the same name, imported for itself.
        try scene.write(StagedShot.content(0, 9), to: "drop/import-1/IMG_0001.HEIC")
        let claim = try scene.claim([try scene.settled("import-1/IMG_0001.HEIC")], importID: "second")
        var intent = try scene.stage(
            ["IMG_0009.HEIC"], importID: "import-9", asset: "018f0000-0000-7000-8000-0000000000cd", variant: 9,
            withPreview: false
        ).intent
        intent.job = claim.job.id
        intent.importID = claim.importID
        intent.asset.resources[0].sourcePath = claim.job.files[0].path
        _ = try scene.commitStep.run(intent, claim: claim, disposition: .keep) { _ in intent }
        #expect(try joined([("IMG_0001.xmp", .sidecar)], [inspection(.xmp)], in: scene) == nil)
        #expect(
            try joined([("IMG_0001.HEIC.xmp", .sidecar)], [inspection(.xmp, second: 50)], in: scene, importID: "4")
                == nil)
    }

    /// Beside the HEIC of 9:04:31 an `IMG_0001.DNG`, once it was parted from it: another asset, or none as yet.
    private func sceneWithParts(rawIsImported: Bool = true) throws -> Scene {
        let scene = try sceneWithShot()
        try scene.write(StagedShot.content(0, 9), to: "drop/import-1/IMG_0001.DNG")
        let claim = try scene.claim([try scene.settled("import-1/IMG_0001.DNG")], importID: "second")
        guard rawIsImported else {
            try scene.store.finish(
                claim, as: .failed, problem: Problem(.corrupt, "Damaged."), asset: nil, disposition: .keep,
                at: Scene.start)
            return scene
        }
        var intent = try scene.stage(
            ["IMG_0009.DNG"], importID: "import-9", asset: Self.raw, variant: 9, withPreview: false
        ).intent
        intent.job = claim.job.id
        intent.importID = claim.importID
        intent.asset.resources[0].sourcePath = claim.job.files[0].path
        intent.asset.facts.capturedAt = WallTime(year: 2026, month: 5, day: 17, hour: 9, minute: 4, second: 50)
        _ = try scene.commitStep.run(intent, claim: claim, disposition: .keep) { _ in intent }
        return scene
    }

    private static let raw: Asset.ID = "018f0000-0000-7000-8000-0000000000cd"

    @Test(
        arguments: [
            ("IMG_0001.xmp", nil, raw), ("IMG_0001.xmp", 51, raw), ("IMG_0001.xmp", 31, shot),
            ("IMG_0001.xmp", 10, raw), ("IMG_0001.DNG.xmp", 31, raw), ("IMG_0001.dng.xmp", nil, raw),
            ("IMG_0001.HEIC.xmp", 50, shot), ("IMG_0001.AAE", nil, shot), ("IMG_0001.pp3", nil, raw),
            ("IMG_0001.THM", nil, raw), ("IMG_0001.WAV", nil, shot),
        ] as [(String, Int?, Asset.ID)])
    func `goes with the part that it is of by its name or its time, when its shot was parted`(
        name: String, second: Int?, asset: Asset.ID
    ) throws {
        let companion = [(name, Role.sidecar)]
        #expect(try joined(companion, [inspection(.xmp, second: second)], in: try sceneWithParts()) == asset)
    }

    @Test(
        arguments: [
            ("IMG_0001.xmp", nil), ("IMG_0001.DNG.xmp", nil), ("IMG_0001.AAE", shot), ("IMG_0001.HEIC.xmp", shot),
        ] as [(String, Asset.ID?)])
    func `joins no other part where its own was not imported`(name: String, asset: Asset.ID?) throws {
        let scene = try sceneWithParts(rawIsImported: false)
        #expect(try joined([(name, .sidecar)], [inspection(.xmp)], in: scene) == asset)
    }

    @Test func `is parted itself where its companions are of several parts`() throws {
        let scene = try sceneWithParts()
        let names = [("IMG_0001.AAE", Role.adjustment), ("IMG_0001.xmp", .sidecar), ("IMG_0001.DNG.xmp", .sidecar)]
        let (job, staged) = try stage(names, in: scene)
        let late = LateStep(store: scene.store, job: job, now: Scene.start)
        let inspections = [inspection(.appleAdjustment), inspection(.xmp), inspection(.xmp)]
        #expect(try late.asset(for: staged, inspections) == nil)
        let homes = try late.homes(of: staged, inspections)
        #expect(homes.map { $0?.id } == [Self.shot, Self.raw, Self.raw])
        let groups = PartingStep(job: job, now: Scene.start).groups(staged, at: homes.map { $0?.id })
        #expect(groups.map(\.files) == [[job.files[0]], Array(job.files[1...])])
        #expect(groups.allSatisfy { $0.verdict == nil })
    }

    @Test(
        arguments: [
            ("09:04:31", "+02:00", "07:04:32", "+00:00", true), ("09:04:31", "+02:00", "07:04:32", nil, false),
            ("09:04:31", nil, "09:04:29", "+00:00", true), ("09:04:31", "+02:00", "07:04:35", "+00:00", false),
        ] as [(String, String?, String, String?, Bool)])
    func `agrees by what the clocks showed, or by what they meant`(
        shot: String, offset: String?, member: String, memberOffset: String?, agrees: Bool
    ) throws {
        func time(_ text: String) -> WallTime {
            let parts = text.split(separator: ":").compactMap { Int($0) }
            return WallTime(year: 2026, month: 5, day: 17, hour: parts[0], minute: parts[1], second: parts[2])
        }
        let one = CaptureDate(time: time(shot), offset: offset, source: .exifOriginal)
        let other = CaptureDate(time: time(member), offset: memberOffset, source: .exifOriginal)
        #expect(one.agrees(other) == agrees)
        #expect(other.agrees(one) == agrees)
    }

    // MARK: Turns

    @Test func `begins or waits, and whoever has begun is seen by an older one that is tried again`() throws {
        let turns = ShotTurns()
        let trouble = Problem(.stateIO, "Unreadable.")
        #expect(try turns.begin(1) { _ in 7 } == 7)
        #expect(throws: Problem.self) { _ = try turns.begin(1) { _ throws(Problem) in throw trouble } }
        #expect(try turns.begin(2) { $0.isEmpty ? nil : 9 } == nil)
        #expect(try turns.begin(1) { $0 == [2] ? 2 : nil } == 2)
        turns.end(2)
        #expect(try turns.begin(1) { $0.isEmpty ? nil : 9 } == nil)
    }

    // MARK: Joining

    @Test func `stands beside the leading original, under its stem, and takes the next free name`() throws {
        let scene = try Scene()
        try scene.write([1], to: "library/\(Scene.day)/IMG_0001.HEIC")  // so the shot is IMG_0001_1
        _ = try scene.commit(try scene.stage(["IMG_0001.HEIC"]))
        let asset = try #require(try scene.store.asset(Self.shot))
        func paths(_ names: String..., collision: Int = 0) -> [String] {
            Placement.paths(beside: asset, for: names.map { Path($0) }, collision: collision).map(\.shown)
        }
        let stem = "\(Scene.day)/IMG_0001_1"
        #expect(paths("IMG_0001.CR2", "IMG_0001.CR2.xmp") == [stem + ".CR2", stem + ".CR2.xmp"])
        #expect(paths("IMG_0001.xmp", collision: 2) == [stem + "_2.xmp"])
        // Of another name: under the shot's alone, and where that is taken with its own behind it.
        #expect(paths("film.JPG", "film.JPG.xmp") == [stem + ".JPG", stem + ".JPG.xmp"])
        #expect(paths("IMG_E0001.MOV") == [stem + ".MOV"])
        #expect(paths("IMG_E0001.MOV", collision: 1) == [stem + "_IMG_E0001.MOV"])
    }

    /// The catalog's asset and a video that joins it, staged: one rename.
    private func joining(in scene: Scene) throws -> StagedShot {
        _ = try scene.commit(try scene.stage(["IMG_0001.HEIC"]))
        let asset = try #require(try scene.store.asset(Self.shot))
        return try scene.stage(["IMG_0001.MOV"], importID: "late", variant: 1, withPreview: false, joining: asset)
    }

    private func expectJoined(in scene: Scene) throws {
        #expect(scene.visible == ["\(Scene.day)/IMG_0001.HEIC", "\(Scene.day)/IMG_0001.MOV"])
        #expect(scene.previews.count == 1)
        let asset = try #require(try scene.store.asset(Self.shot))
        #expect(asset.resources.map(\.role) == [.photo, .alternatePhoto])
        #expect(asset.preview.state == .ok)
        #expect(try scene.store.assets(AssetFilter(), limit: 10).items.count == 1)
    }

    @Test func `is one more resource of its asset, and the library's journal says of which`() throws {
        let scene = try Scene()
        let shot = try joining(in: scene)
        let intent = try scene.commit(shot)
        try expectJoined(in: scene)
        #expect(intent.asset.id == Self.shot)
        #expect(intent.joinsExisting)
        #expect(intent.asset.facts.capturedAt == shot.builder.facts.facts.capturedAt)
        #expect(intent.moves.count == 1)
        #expect(try scene.store.job(shot.claim.job.id)?.asset == Self.shot)
        let text = try scene.files(below: "library/.photospool/journal").map {
            String(decoding: try scene.bytes("library/.photospool/journal/" + $0), as: UTF8.self)
        }.joined()
        #expect(text.contains("\"joinsExisting\":true"))
    }

    @Test func `is announced in the library's journal as the catalog then has its asset`() throws {
        let scene = try Scene()
        var facts = Facts()
        facts.latitude = 48.5
        facts.longitude = 9
        facts.isScreenshot = true
        let first = try scene.stage(["IMG_0001.MOV"])
        var intent = first.intent
        intent.asset.resources[0].role = .video
        intent.asset.resources[0].mediaType = .quicktime
        intent.asset.kind = .video
        intent.asset.facts = facts
        _ = try scene.commitStep.run(intent, claim: first.claim, disposition: .keep) { _ in intent }
        let asset = try #require(try scene.store.asset(Self.shot))
        let late = try scene.stage(["IMG_0001.HEIC"], importID: "late", variant: 1, withPreview: false, joining: asset)
        _ = try scene.commit(late)
        struct Line: Decodable { var intent: CommitIntent? }
        let text = try scene.files(below: "library/.photospool/journal").flatMap {
            try scene.bytes("library/.photospool/journal/" + $0).split(separator: UInt8(ascii: "\n"))
        }
        let announced = try #require(try JSONDecoder().decode(Line.self, from: Data(text.last ?? [])).intent).asset
        let found = try #require(try scene.store.asset(Self.shot))
        #expect(announced.resources == found.resources)
        #expect(announced.facts == found.facts)
        #expect(announced.kind == found.kind)
        #expect(announced.preview == found.preview)
        #expect(found.resources.map(\.role) == [.pairedVideo, .photo])
        #expect(found.facts.capturedAt == late.builder.facts.facts.capturedAt)
        #expect(found.facts.latitude == 48.5)
        #expect(!found.facts.isScreenshot)
        #expect(found.kind == .livePhoto)
    }

    @Test(.tags(.stopsAnywhere), arguments: 0...1)
    func `is rolled forward when its commit was cut short`(renames: Int) throws {
        let scene = try Scene()
        let shot = try joining(in: scene)
        _ = try scene.store.recordIntent(shot.intent, for: shot.claim, at: Scene.start)
        for move in shot.intent.moves.prefix(renames) {
            try scene.library.root.renameNoReplace(move.staged, to: move.final, in: scene.library.root)
        }
        try scene.reopen()
        #expect(try scene.recover() == Recovery.Report(rolledForward: 1))
        try expectJoined(in: scene)
        #expect(try scene.recover() == Recovery.Report())
    }

    @Test(.tags(.stopsAnywhere)) func `is rolled back when its bytes are gone, and its asset stays as it was`() throws {
        let scene = try Scene()
        let shot = try joining(in: scene)
        _ = try scene.store.recordIntent(shot.intent, for: shot.claim, at: Scene.start)
        try scene.remove("library/" + shot.intent.moves[0].staged.shown)
        try scene.reopen()
        #expect(try scene.recover() == Recovery.Report(rolledBack: 1))
        #expect(scene.visible == ["\(Scene.day)/IMG_0001.HEIC"])
        #expect(try scene.store.asset(Self.shot)?.resources.count == 1)
        #expect(try scene.state(shot.claim) == .queued)
    }
}
