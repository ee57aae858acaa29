import PhotoModel
import SQLite
import Store
import Testing

@Suite("An import") struct ImportTests {
    @Test func `commits asset, resources, job and journal together`() throws {
        let scene = try Scene()
        let ids = try scene.enqueue("/card/IMG_1.JPG")
        let claim = try #require(try scene.claim())
        try scene.store.advance(claim, to: .previewing)
        #expect(try scene.store.job(ids[0])?.state == .previewing)
        var facts = Facts()
        facts.capturedAt = WallTime(
            year: 2026, month: 5, day: 17, hour: 9, minute: 4, second: 31, subseconds: "870")
        facts.capturedOffset = "+02:00"
        facts.dateSource = .exifOriginal
        facts.implausibleAt = WallTime(year: 2013, month: 13, day: 45, hour: 25, subseconds: "5")
        facts.implausibleSource = .exifDigitized
        facts.make = "Apple"
        facts.model = "iPhone 13 Pro"
        facts.lens = "back camera 5.7mm f/1.5"
        facts.latitude = -33.856784
        facts.longitude = 151.215297
        facts.size = PixelSize(width: 3024, height: 4032)
        facts.orientation = 6
        facts.contentIdentifier = "A1B2"
        facts.isScreenshot = true
        var intent = Scene.intent(for: claim, facts: facts)
        intent.asset.resources[0].path = Path(bytes: [0x32, 0xff, 0x2e])
        intent.moves[0].final = intent.asset.resources[0].path
        intent.asset.preview = AssetPreview(
            state: .partial, problem: Problem(.truncated, "It ends early.", todo: "Copy it again."),
            path: Path("p.jpg"), size: PixelSize(width: 900, height: 1200))
        let journal = try scene.store.recordIntent(intent, for: claim, at: Scene.at(1))
        #expect(try scene.store.job(ids[0])?.state == .committing)
        #expect(try scene.store.highestJournalID() == journal)
        #expect(try scene.store.journal(of: ids[0]).map(\.outcome) == [nil])
        #expect(try scene.store.asset(intent.asset.id) == nil)

        try scene.store.commit(
            intent, job: ids[0], importID: claim.importID, journal: journal, disposition: .pending, at: Scene.at(2))
        let job = try #require(try scene.store.job(ids[0]))
        #expect(job.state == .imported)
        #expect(job.asset == intent.asset.id)
        #expect(job.disposition == .pending)
        #expect(job.finishedAt == Scene.at(2))
        let asset = try #require(try scene.store.asset(intent.asset.id))
        #expect(asset.facts == facts)
        #expect(asset.resources == intent.asset.resources)
        #expect(asset.preview == intent.asset.preview)
        #expect(asset.importedAt == intent.asset.importedAt)
        let line = try #require(try scene.store.journal(of: ids[0]).first)
        #expect(line.outcome == "imported")
        #expect(line.path == intent.moves[0].final)
        #expect(line.sha256 == Scene.digest(1))
        #expect(try scene.store.resources(withHash: Scene.digest(1)).map(\.asset) == [intent.asset.id])
        #expect(try scene.store.resources(withHash: Scene.digest(2)).isEmpty)
        try scene.expectTrueCounts()
    }

    @Test func `that is stale can do nothing any more`() throws {
        let scene = try Scene()
        let ids = try scene.enqueue("/card/IMG_1.JPG")
        let stale = try #require(try scene.claim("old"))
        let intent = Scene.intent(for: stale)
        let journal = try scene.store.recordIntent(intent, for: stale, at: Scene.start)
        _ = try scene.store.giveBack(interrupted: ids[0], crashed: false, at: Scene.start)
        let store = scene.store
        func expectRefusals() throws {
            let before = try scene.store.job(ids[0])
            #expect(code { try store.advance(stale, to: .committing) } == .conflict)
            #expect(code { _ = try store.recordIntent(intent, for: stale, at: Scene.start) } == .conflict)
            #expect(
                code {
                    try store.commit(
                        intent, job: ids[0], importID: "old", journal: journal, disposition: .keep, at: Scene.start)
                } == .conflict)
            #expect(
                code {
                    try store.finish(
                        stale, as: .failed, problem: nil, asset: nil, disposition: .keep, at: Scene.start)
                } == .conflict)
            let busy = Problem(.sourceBusy, "Busy.")
            #expect(code { try store.retryLater(stale, problem: busy, notBefore: Scene.start) } == .conflict)
            #expect(code { try store.giveBack(stale) } == .conflict)
            #expect(code { try store.returnToCandidate(stale) } == .conflict)
            let after = try scene.store.job(ids[0])
            #expect(before?.state == after?.state && before?.attempts == after?.attempts)
            #expect(try store.asset(intent.asset.id) == nil)
        }
        try expectRefusals()  // queued again
        let live = try #require(try scene.claim("new"))
        try expectRefusals()  // in another import's hands
        try store.finish(live, as: .cancelled, problem: nil, asset: nil, disposition: .keep, at: Scene.start)
        try expectRefusals()  // ended
        #expect(try store.journal(of: ids[0]).map(\.outcome) == ["rolled_back", "cancelled"])
    }

    @Test func `may replace its intent, and commits only the latest`() throws {
        let scene = try Scene()
        let ids = try scene.enqueue("/card/IMG_1.JPG")
        let claim = try #require(try scene.claim())
        let first = Scene.intent(for: claim, path: Path("2026/IMG_1.JPG"))
        let second = Scene.intent(for: claim, path: Path("2026/IMG_1-2.JPG"))
        let early = try scene.store.recordIntent(first, for: claim, at: Scene.start)
        let late = try scene.store.recordIntent(second, for: claim, at: Scene.start)
        #expect(late > early)
        #expect(try scene.store.interrupted().map { $0.intent?.moves } == [second.moves])
        #expect(
            code {
                try scene.store.commit(
                    first, job: ids[0], importID: claim.importID, journal: early, disposition: .keep, at: Scene.start)
            } == .conflict)
        try scene.store.commit(
            second, job: ids[0], importID: claim.importID, journal: late, disposition: .keep, at: Scene.start)
        #expect(try scene.store.journal(of: ids[0]).map(\.outcome) == ["superseded", "imported"])
    }

    @Test func `can be finished by recovery after the process is gone`() throws {
        let scene = try Scene()
        try scene.enqueue("/card/IMG_1.JPG", "/card/IMG_2.JPG")
        let claim = try #require(try scene.claim("gone"))
        _ = try scene.claim("gone-too")
        var intent = Scene.intent(for: claim)
        intent.asset.facts.latitude = .nan  // a camera can write 0/0
        let journal = try scene.store.recordIntent(intent, for: claim, at: Scene.start)
        let reopened = try Store(directory: scene.directory, log: { _ in }, now: Scene.start)
        let interrupted = try reopened.interrupted()
        #expect(interrupted.map(\.importID) == ["gone", "gone-too"])
        #expect(interrupted.map { $0.intent == nil } == [false, true])
        let found = try #require(interrupted.first)
        #expect(found.intent?.moves == intent.moves)
        #expect(found.journal == journal)
        try reopened.commit(
            try #require(found.intent), job: found.job.id, importID: found.importID, journal: journal,
            disposition: .keep, at: Scene.start)
        #expect(try reopened.job(claim.job.id)?.state == .imported)
        #expect(try reopened.asset(intent.asset.id)?.facts.latitude == nil)
        #expect(try reopened.interrupted().count == 1)
    }

    @Test func `that joins adds resources to the asset that is there`() throws {
        let scene = try Scene()
        try scene.enqueue("/card/IMG_1.JPG")
        try scene.importNext(asset: "a", hash: 1, path: Path("1.JPG"))
        try scene.enqueue([Scene.group(Scene.file("/card/IMG_1.xmp", role: .sidecar))])
        let claim = try #require(try scene.claim("late"))
        let intent = Scene.intent(for: claim, asset: "a", hash: 2, joins: true, path: Path("1.xmp"))
        let journal = try scene.store.recordIntent(intent, for: claim, at: Scene.start)
        try scene.store.commit(
            intent, job: claim.job.id, importID: "late", journal: journal, disposition: .keep, at: Scene.start)
        #expect(try scene.store.asset("a")?.resources.map(\.path) == [Path("1.JPG"), Path("1.xmp")])
        #expect(try scene.store.job(claim.job.id)?.asset == "a")
    }

    @Test func `is refused whole when the catalog contradicts it`() throws {
        let scene = try Scene()
        try scene.enqueue("/card/1", "/card/2")
        try scene.importNext(asset: "a", hash: 1, path: Path("1.JPG"))
        #expect(try scene.store.isListed(Path("1.JPG")))
        let claim = try #require(try scene.claim())
        func refusal(_ intent: CommitIntent) throws -> Problem.Code? {
            let journal = try scene.store.recordIntent(intent, for: claim, at: Scene.start)
            return code {
                try scene.store.commit(
                    intent, job: claim.job.id, importID: claim.importID, journal: journal, disposition: .keep,
                    at: Scene.start)
            }
        }
        #expect(try refusal(Scene.intent(for: claim, asset: "b", hash: 2, path: Path("1.JPG"))) == .conflict)
        #expect(try refusal(Scene.intent(for: claim, asset: "a", hash: 2, path: Path("2.JPG"))) == .conflict)
        #expect(try refusal(Scene.intent(for: claim, asset: "c", joins: true, path: Path("2.JPG"))) == .conflict)
        #expect(try scene.store.asset("b") == nil)
        #expect(try scene.store.job(claim.job.id)?.state == .committing)
    }

    @Test func `whose source changed leaves no job, and the files are new again`() throws {
        let scene = try Scene()
        let ids = try scene.enqueue("/card/IMG_1.JPG")
        try scene.store.returnToCandidate(try #require(try scene.claim()))
        #expect(try scene.store.job(ids[0]) == nil)
        #expect(try !scene.isKnown(Scene.file("/card/IMG_1.JPG")))
        #expect(try scene.store.batches(limit: 10).items.isEmpty)
        try scene.expectTrueCounts()
        #expect(try scene.enqueue("/card/IMG_1.JPG") != ids)
    }

    @Test func `reports its disposition apart, and the journal keeps its words`() throws {
        let scene = try Scene()
        try scene.enqueue("/card/IMG_1.JPG")
        let claim = try #require(try scene.claim())
        let intent = Scene.intent(for: claim)
        let journal = try scene.store.recordIntent(intent, for: claim, at: Scene.start)
        try scene.store.commit(
            intent, job: claim.job.id, importID: claim.importID, journal: journal, disposition: .pending,
            at: Scene.start)
        #expect(try scene.store.pendingDispositions().map(\.id) == [claim.job.id])
        let line = try scene.store.reserveJournal(
            what: "delete", job: claim.job.id, path: Path("/card/IMG_1.JPG"), sha256: Scene.digest(1),
            detail: "inode 7", at: Scene.start)
        #expect(line == journal + 1)
        let problem = Problem(.disposition, "Read-only.")
        try scene.store.recordDisposition(job: claim.job.id, state: .kept, problem: problem, at: Scene.start)
        let job = try #require(try scene.store.job(claim.job.id))
        #expect(job.state == .imported && job.disposition == .kept && job.dispositionProblem == problem)
        #expect(try scene.store.pendingDispositions().isEmpty)
        #expect(try scene.store.journal(of: job.id).map(\.outcome) == ["imported", "kept"])
        let writer = try Connection(opening: (scene.directory / "spool.db").bytes, for: .readWrite)
        #expect(throws: SQLiteError.self) { try writer.run("DELETE FROM journal") }
        #expect(throws: SQLiteError.self) { try writer.run("UPDATE journal SET path = NULL") }
    }
}

@Suite("Orders by people") struct OrderTests {
    @Test func `retry queues a failed or cancelled job as if it had never been tried`() throws {
        let scene = try Scene()
        let ids = try scene.enqueue("/card/1", "/card/2", "/card/3")
        let claim = try #require(try scene.claim())
        try scene.store.finish(
            claim, as: .failed, problem: Problem(.corrupt, "Bad."), asset: nil, disposition: .keep, at: Scene.start)
        #expect(try scene.store.cancel(ids[1], at: Scene.start) == .cancelled)
        try scene.enqueue([Scene.group(Scene.file("/card/x.xmp"), verdict: Problem(.orphan, "Alone."))])
        #expect(try scene.store.retryAllFailed(at: Scene.start) == 1)
        try scene.store.retry(ids[1], at: Scene.start)
        let job = try #require(try scene.store.job(ids[0]))
        #expect(job.state == .queued && job.attempts == 0 && job.problem == nil && job.finishedAt == nil)
        #expect(code { try scene.store.retry(ids[2], at: Scene.start) } == .conflict)
        #expect(code { try scene.store.retry(4, at: Scene.start) } == .conflict)
        #expect(code { try scene.store.retry(999, at: Scene.start) } == .notFound)
        #expect(try (1...3).map { try scene.claim("\($0)")?.job.id } == ids)
        try scene.expectTrueCounts()
    }

    @Test func `cancel ends what is queued and names what is in flight`() throws {
        let scene = try Scene()
        let ids = try scene.enqueue("/card/1", "/card/2", "/card/3")
        let claim = try #require(try scene.claim())
        let batch = try #require(try scene.store.job(ids[0])).batch
        #expect(try scene.store.cancel(ids[0], at: Scene.start) == .inFlight)
        #expect(try scene.store.cancel(ids[1], at: Scene.start) == .cancelled)
        #expect(try scene.store.cancel(ids[1], at: Scene.start) == .cancelled)
        #expect(try scene.store.cancelBatch(batch, at: Scene.start) == [ids[0]])
        #expect(try scene.store.job(ids[2])?.state == .cancelled)
        try scene.store.finish(claim, as: .cancelled, problem: nil, asset: nil, disposition: .keep, at: Scene.start)
        let report = try #require(try scene.store.batch(batch))
        #expect([report.total, report.done, report.failed] == [3, 3, 0])
        #expect(try scene.isKnown(Scene.file("/card/1")))  // no rescan brings it up again
        #expect(code { _ = try scene.store.cancelBatch(999, at: Scene.start) } == .notFound)
        #expect(code { _ = try scene.store.cancel(999, at: Scene.start) } == .notFound)
    }
}
