import PhotoModel
import SQLite
import Store
import Testing

@Suite("A shot, asked for by folder and stem,") struct KnownShotTests {
    private func knows(_ scene: Scene, _ path: String, drop: String = "card", filesystem: String? = nil) throws -> Bool
    {
        try scene.store.knowsShot(
            drop: drop, filesystem: filesystem ?? Scene.file(path).filesystem, folder: Path(path).parent,
            stem: Path(path).name)
    }

    @Test func `is known once a photo or video of it was handed over, whatever became of that`() throws {
        let scene = try Scene()
        try scene.enqueue("/card/IMG_1.JPG", "/card/IMG_2.CR2", "/card/IMG_3.MOV")
        #expect(try ["/card/IMG_1", "/card/IMG_2", "/card/IMG_3"].allSatisfy { try knows(scene, $0) })
        let claim = try #require(try scene.claim())
        try scene.store.finish(
            claim, as: .failed, problem: Problem(.corrupt, "Damaged."), asset: nil, disposition: .keep, at: Scene.start)
        #expect(try knows(scene, "/card/IMG_1"))
    }

    @Test(arguments: [
        "/card/IMG_1.JPG", "/card/img_1.JPG", "/card/IMG_10.JPG", "/card/IMG_.JPG", "/card/IMG_0.edit.JPG",
        "/card/IMG_0.d/IMG_0.JPG", "/card/deep/IMG_0.JPG", "/IMG_0.JPG", "/card/IMG_0", "/card/IMG_0/IMG_0.JPG",
    ])
    func `is not another one`(path: String) throws {
        let scene = try Scene()
        try scene.enqueue(path)
        #expect(try !knows(scene, "/card/IMG_0"))
    }

    @Test func `is not one of another drop folder or filesystem`() throws {
        let scene = try Scene()
        try scene.enqueue("/card/IMG_1.JPG")
        #expect(try !knows(scene, "/card/IMG_1", drop: "phone"))
        #expect(try !knows(scene, "/card/IMG_1", filesystem: "0000000000000001"))
    }

    @Test(arguments: [Problem.Code.orphan, .empty, .unsupported, .filtered])
    func `is not known by a verdict only`(code: Problem.Code) throws {
        let scene = try Scene()
        try scene.enqueue([Scene.group(Scene.file("/card/IMG_1.JPG"), verdict: Problem(code, "So it is."))])
        #expect(try !knows(scene, "/card/IMG_1"))
    }

    @Test func `is not known by its sidecars, nor once its source vanished`() throws {
        let scene = try Scene()
        try scene.enqueue([Scene.group(Scene.file("/card/IMG_1.XMP", role: .sidecar))])
        #expect(try !knows(scene, "/card/IMG_1"))
        try scene.enqueue("/card/IMG_2.JPG")
        _ = try scene.claim("first")
        let claim = try #require(try scene.claim("second"))
        try scene.store.finish(
            claim, as: .vanished, problem: Problem(.sourceVanished, "Gone."), asset: nil, disposition: .keep,
            at: Scene.start)
        #expect(try !knows(scene, "/card/IMG_2"))
    }

    @Test func `tells its assets, which several versions may have made several`() throws {
        let scene = try Scene()
        try scene.enqueue("/card/IMG_1.JPG")
        try scene.importNext(asset: "a", hash: 1, path: Path("a.JPG"))
        let place = Store.ShotPlace(
            drop: "card", filesystem: Scene.file("").filesystem, folder: Path("/card"), stem: Path("IMG_1"))
        #expect(try scene.store.assets(ofShot: place).map(\.id) == ["a"])
        try scene.enqueue([Scene.group(Scene.file("/card/IMG_1.JPG", mtime: 2))])
        try scene.importNext(asset: "b", hash: 2, path: Path("b.JPG"))
        #expect(try scene.store.assets(ofShot: place).map(\.id) == ["a", "b"])
    }
}

@Suite("A job that waits for its shot") struct WaitingForShotTests {
    /// The photo's job is claimed, the sidecar's waits for it.
    private func wait(in scene: Scene) throws -> (photo: Store.Claim, late: Job.ID) {
        try scene.enqueue("/card/IMG_5.JPG")
        let photo = try #require(try scene.claim("photo"))
        let late = try scene.enqueue([Scene.group(Scene.file("/card/IMG_5.XMP", role: .sidecar))])[0]
        let claim = try #require(try scene.claim("late"))
        #expect(try scene.store.unfinishedShot(before: claim.job) == photo.job.id)
        try scene.store.wait(claim, for: photo.job.id)
        #expect(try scene.store.job(late)?.state == .queued)
        #expect(try scene.store.job(late)?.attempts == 0)
        #expect(try scene.claim("too early") == nil)
        return (photo, late)
    }

    enum End: CaseIterable { case imported, failed, vanished, cancelled, candidate, duplicate }

    @Test(arguments: End.allCases) func `is let go however that ends`(end: End) throws {
        let scene = try Scene()
        let (photo, late) = try wait(in: scene)
        switch end {
        case .imported:
            let intent = Scene.intent(for: photo)
            let journal = try scene.store.recordIntent(intent, for: photo, at: Scene.start)
            #expect(try scene.claim("still too early") == nil)
            try scene.store.commit(
                intent, job: photo.job.id, importID: photo.importID, journal: journal, disposition: .keep,
                at: Scene.start)
        case .failed, .vanished, .cancelled, .duplicate:
            let state: JobState =
                switch end {
                case .failed: .failed
                case .vanished: .vanished
                case .cancelled: .cancelled
                default: .duplicate
                }
            try scene.store.finish(
                photo, as: state, problem: nil, asset: nil, disposition: .keep, at: Scene.start)
        case .candidate: try scene.store.returnToCandidate(photo)
        }
        let claim = try #require(try scene.claim("now"))
        #expect(claim.job.id == late)
        #expect(claim.job.attempts == 1)
        #expect(try scene.store.unfinishedShot(before: claim.job) == nil)
        try scene.expectTrueCounts()
    }

    @Test func `goes on waiting while that is tried again, and over a restart`() throws {
        let scene = try Scene()
        let (photo, late) = try wait(in: scene)
        try scene.store.retryLater(photo, problem: Problem(.sourceIO, "Unreadable."), notBefore: Scene.at(3600))
        #expect(try scene.claim("early", at: 10) == nil)
        let reopened = try Store(directory: scene.directory, log: { _ in }, now: Scene.start)
        #expect(try reopened.claim(importID: "again", blockedDrops: [], at: Scene.at(10)) == nil)
        #expect(try reopened.claim(importID: "again", blockedDrops: [], at: Scene.at(3600))?.job.id == photo.job.id)
        #expect(try reopened.job(late)?.state == .queued)
    }

    @Test func `is as busy as what it waits for`() throws {
        let scene = try Scene()
        let (photo, _) = try wait(in: scene)
        var counts = try scene.store.counts(at: Scene.start)
        #expect([counts.queued, counts.importing, counts.retrying, counts.retryingSoon] == [1, 1, 0, 0])
        try scene.store.retryLater(photo, problem: Problem(.sourceIO, "Unreadable."), notBefore: Scene.at(3600))
        counts = try scene.store.counts(at: Scene.start)
        #expect([counts.queued, counts.importing, counts.retrying, counts.retryingSoon] == [2, 0, 2, 0])
        counts = try scene.store.counts(at: Scene.at(3550))
        #expect([counts.queued, counts.importing, counts.retrying, counts.retryingSoon] == [2, 0, 2, 2])
        counts = try scene.store.counts(at: Scene.at(3600))
        #expect([counts.queued, counts.importing, counts.retrying, counts.retryingSoon] == [2, 0, 0, 0])
    }

    @Test func `does not wait for one that has ended in the meantime, nor for a younger one`() throws {
        let scene = try Scene()
        try scene.enqueue("/card/IMG_5.JPG")
        let photo = try #require(try scene.claim("photo"))
        try scene.enqueue([Scene.group(Scene.file("/card/IMG_5.CR2"))])
        let raw = try #require(try scene.claim("raw"))
        #expect(try scene.store.unfinishedShot(before: photo.job) == nil)
        try scene.store.finish(photo, as: .duplicate, problem: nil, asset: nil, disposition: .keep, at: Scene.start)
        try scene.store.wait(raw, for: photo.job.id)
        #expect(try scene.claim("raw again")?.job.id == raw.job.id)
    }
}

@Suite("Jobs of one shot that wait for one another") struct ChainTests {
    private let trouble = Problem(.sourceIO, "Unreadable.")

    /// An older job that failed and is tried again beside a younger one that is being imported.
    private func retried(in scene: Scene) throws -> (older: Store.Claim, younger: Store.Claim) {
        try scene.enqueue("/card/IMG_5.JPG")
        let first = try #require(try scene.claim("first"))
        try scene.store.finish(first, as: .failed, problem: trouble, asset: nil, disposition: .keep, at: Scene.start)
        try scene.enqueue([Scene.group(Scene.file("/card/IMG_5.CR2"))])
        let younger = try #require(try scene.claim("younger"))
        #expect(try scene.store.unfinishedShot(before: younger.job) == nil)
        try scene.store.retry(first.job.id, at: Scene.start)
        return (try #require(try scene.claim("older")), younger)
    }

    @Test func `are told of a younger one that has begun`() throws {
        let scene = try Scene()
        let (older, younger) = try retried(in: scene)
        #expect(try scene.store.unfinishedShot(before: older.job) == nil)
        #expect(try scene.store.unfinishedShot(before: older.job, running: [younger.job.id]) == younger.job.id)
        #expect(try scene.store.unfinishedShot(before: younger.job, running: [younger.job.id]) == older.job.id)
    }

    @Test func `never wait for each other`() throws {
        let scene = try Scene()
        let (older, younger) = try retried(in: scene)
        try scene.store.wait(older, for: younger.job.id)
        // The younger one rolls back and comes again: the older one waits for it.
        try scene.store.giveBack(younger)
        let again = try #require(try scene.claim("again"))
        #expect(again.job.id == younger.job.id)
        #expect(try scene.store.unfinishedShot(before: again.job) == nil)
        // Should it try to wait all the same, it is ready at once.
        try scene.store.wait(again, for: older.job.id)
        let last = try #require(try scene.claim("last"))
        #expect(last.job.id == younger.job.id)
        try scene.store.finish(last, as: .duplicate, problem: nil, asset: nil, disposition: .keep, at: Scene.start)
        #expect(try scene.claim("older again")?.job.id == older.job.id)
    }

    @Test func `all count as retrying when the one at the end does`() throws {
        let scene = try Scene()
        let (older, younger) = try retried(in: scene)
        // One waits for the older one before that waits itself, one after.
        for (number, isBefore) in [true, false].enumerated() {
            if !isBefore { try scene.store.wait(older, for: younger.job.id) }
            try scene.enqueue([Scene.group(Scene.file("/card/IMG_5.\(number).XMP", role: .sidecar))])
            let sidecar = try #require(try scene.claim("sidecar \(number)"))
            try scene.store.wait(sidecar, for: older.job.id)
        }
        try scene.store.retryLater(younger, problem: trouble, notBefore: Scene.at(3600))
        let counts = try scene.store.counts(at: Scene.start)
        #expect([counts.queued, counts.importing, counts.retrying] == [4, 0, 4])
        #expect(try scene.claim("early") == nil)
        try scene.expectTrueCounts()
    }
}

@Suite("An orphan whose photo comes") struct OrphanTests {
    private let verdict = Problem(.orphan, "Alone.")

    @Test(arguments: [JobState.imported, .duplicate, .failed])
    func `is queued again by the call that says so, and only that one`(end: JobState) throws {
        let scene = try Scene()
        let orphans = try ["/card/IMG_1.XMP", "/card/IMG_1.JPG.xmp", "/card/IMG_2.XMP"].map {
            try scene.enqueue([Scene.group(Scene.file($0, role: .sidecar), verdict: verdict)])[0]
        }
        try scene.enqueue("/card/IMG_1.JPG")
        let photo = try #require(try scene.claim("photo"))
        var queued: [Job.ID] = []
        if end == .imported {
            let intent = Scene.intent(for: photo)
            let journal = try scene.store.recordIntent(intent, for: photo, at: Scene.start)
            queued = try scene.store.commit(
                intent, job: photo.job.id, importID: photo.importID, journal: journal, disposition: .keep,
                at: Scene.start)
        } else {
            queued = try scene.store.finish(
                photo, as: end, problem: nil, asset: nil, disposition: .keep, at: Scene.start)
        }
        let isThere = end != .failed
        #expect(queued == (isThere ? [orphans[0], orphans[1]] : []))
        #expect(
            try orphans.map { try scene.store.job($0)?.state }
                == [isThere ? .queued : .failed, isThere ? .queued : .failed, .failed])
        try scene.expectTrueCounts()
    }

    @Test func `is none when its shot got an asset while that was decided`() throws {
        let scene = try Scene()
        try scene.enqueue([Scene.group(Scene.file("/card/IMG_1.XMP", role: .sidecar))])
        let late = try #require(try scene.claim("late"))
        try scene.enqueue("/card/IMG_1.JPG")
        try scene.importNext(asset: "a", hash: 1, path: Path("a.JPG"))
        #expect(try scene.store.finish(orphan: late, problem: verdict, seen: [], at: Scene.start) == .queued)
        let again = try #require(try scene.claim("again"))
        #expect(again.job.id == late.job.id)
        #expect(again.job.attempts == 1)
        #expect(try scene.store.finish(orphan: again, problem: verdict, seen: ["a"], at: Scene.start) == .failed)
        #expect(try scene.store.job(late.job.id)?.problem?.code == .orphan)
        try scene.expectTrueCounts()
    }

    @Test func `is queued again when Takeout put the number of its photo behind the extension`() throws {
        let scene = try Scene()
        let orphans = try ["/card/IMG_1.jpg(2).json", "/card/IMG_1.jpg.json", "/card/IMG_1.jpg(3).json"].map {
            try scene.enqueue([Scene.group(Scene.file($0, role: .sidecar), verdict: verdict)])[0]
        }
        try scene.enqueue("/card/IMG_1(2).jpg")
        try scene.importNext(asset: "a", hash: 1, path: Path("a.jpg"))
        #expect(try orphans.map { try scene.store.job($0)?.state } == [.queued, .failed, .failed])
    }

    @Test func `is not brought along by another sidecar`() throws {
        let scene = try Scene()
        let orphan = try scene.enqueue([Scene.group(Scene.file("/card/IMG_1.XMP", role: .sidecar), verdict: verdict)])
        try scene.enqueue([Scene.group(Scene.file("/card/IMG_1.AAE", role: .adjustment))])
        let other = try #require(try scene.claim("other"))
        #expect(
            try scene.store.finish(
                other, as: .duplicate, problem: nil, asset: nil, disposition: .keep, at: Scene.start
            ).isEmpty)
        #expect(try scene.store.job(orphan[0])?.state == .failed)
    }
}

@Suite("An asset that is joined") struct JoinedAssetTests {
    private func join(
        _ resource: Resource, facts: Facts = Facts(), preview: AssetPreview? = nil, in scene: Scene
    ) throws -> Asset {
        let number = try scene.number("SELECT count(*) FROM job") ?? 0
        try scene.enqueue("/card/late\(number).XMP")
        let claim = try #require(try scene.claim("late-\(number)"))
        var intent = Scene.intent(for: claim, asset: "a", joins: true, path: resource.path, facts: facts)
        intent.asset.resources = [resource]
        if let preview { intent.asset.preview = preview }
        let journal = try scene.store.recordIntent(intent, for: claim, at: Scene.start)
        try scene.store.commit(
            intent, job: claim.job.id, importID: claim.importID, journal: journal, disposition: .keep, at: Scene.start)
        return try #require(try scene.store.asset("a"))
    }

    private func resource(_ name: String, _ role: Role, _ type: MediaType) -> Resource {
        Resource(
            role: role, path: Path(name), sourcePath: Path("/card/" + name), size: 10, sha256: Scene.digest(7),
            mtime: 1,
            mediaType: type)
    }

    @Test func `becomes a Live Photo with its video, and has one paired video only`() throws {
        let scene = try Scene()
        try scene.enqueue("/card/IMG_1.JPG")
        try scene.importNext(asset: "a", hash: 1, path: Path("IMG_1.JPG"))
        var asset = try join(resource("IMG_1.xmp", .sidecar, .xmp), in: scene)
        #expect(asset.kind == .photo)
        asset = try join(resource("IMG_1.MOV", .video, .quicktime), in: scene)
        #expect(asset.kind == .livePhoto)
        asset = try join(resource("IMG_1.MP4", .pairedVideo, .mp4), in: scene)
        asset = try join(resource("IMG_1.HEIC", .photo, .heic), in: scene)
        #expect(asset.resources.map(\.role) == [.photo, .sidecar, .pairedVideo, .video, .alternatePhoto])
        #expect(asset.kind == .livePhoto)
    }

    @Test func `of a video alone follows its photo, once that comes`() throws {
        let scene = try Scene()
        try scene.enqueue("/card/IMG_1.MOV")
        let claim = try #require(try scene.claim())
        var intent = Scene.intent(for: claim, asset: "a", path: Path("IMG_1.MOV"))
        intent.asset.kind = .video
        intent.asset.resources[0].role = .video
        intent.asset.resources[0].mediaType = .quicktime
        let journal = try scene.store.recordIntent(intent, for: claim, at: Scene.start)
        try scene.store.commit(
            intent, job: claim.job.id, importID: claim.importID, journal: journal, disposition: .keep, at: Scene.start)
        var facts = Facts()
        facts.capturedAt = WallTime(year: 2026, month: 5, day: 17)
        facts.dateSource = .exifOriginal
        facts.make = "Apple"
        facts.size = PixelSize(width: 4000, height: 3000)
        let preview = AssetPreview(state: .ok, path: Path("p.jpg"), size: PixelSize(width: 1200, height: 900))
        let asset = try join(resource("IMG_1.HEIC", .photo, .heic), facts: facts, preview: preview, in: scene)
        #expect(asset.kind == .livePhoto)
        #expect(asset.resources.map(\.role) == [.pairedVideo, .photo])
        #expect(asset.facts == facts)
        #expect(asset.preview == preview)
        let other = AssetPreview(state: .ok, path: Path("q.jpg"), size: PixelSize(width: 1, height: 1))
        let again = try join(resource("IMG_1.DNG", .photo, .raw), preview: other, in: scene)
        #expect(again.preview == preview)
        #expect(again.facts == facts)
    }
}

@Suite("A queued job that waits for a time") struct HastenedTests {
    @Test func `may be claimed at once when its file has another version: it notices, and goes`() throws {
        let scene = try Scene()
        try scene.enqueue("/card/IMG_1.JPG")
        let claim = try #require(try scene.claim())
        try scene.store.postpone(claim, problem: Problem(.sourceBusy, "Cut."), notBefore: Scene.at(60))
        #expect(try scene.claim("early") == nil)
        try scene.enqueue([Scene.group(Scene.file("/card/IMG_1.JPG", size: 2000, mtime: 2))])
        #expect(try scene.claim("old")?.job.id == claim.job.id)
    }
}
