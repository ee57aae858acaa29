import PhotoModel
import Store
import Testing

@Suite("Enqueueing settled groups") struct EnqueueTests {
    @Test func `makes one job per group and knows its files afterwards`() throws {
        let scene = try Scene()
        let photo = Scene.file("/card/IMG_1.HEIC")
        let movie = Scene.file("/card/IMG_1.MOV", role: .pairedVideo, size: 5)
        #expect(try !scene.isKnown(photo))
        let ids = try scene.enqueue([Scene.group(photo, movie)])
        #expect(ids.count == 1)
        #expect(try scene.isKnown(photo))
        #expect(try scene.isKnown(movie))
        #expect(try !scene.isKnown(photo, drop: "other"))
        let asked = [(Path("/card/x"), Int64(1), Int64(1)), (photo.path, 1000, 1), (photo.path, 1000, 2)]
        #expect(
            try scene.store.areKnown(drop: "card", filesystem: photo.filesystem, asked) == [false, true, false])
        #expect(try !scene.isKnown(Scene.file("/card/IMG_1.HEIC", size: 1001)))
        #expect(try !scene.isKnown(Scene.file("/card/IMG_1.HEIC", mtime: 2)))
        #expect(try !scene.isKnown(Scene.file("/card/IMG_1.HEIC", filesystem: "00000000000000aa")))
        let job = try #require(try scene.store.job(ids[0]))
        #expect(job.state == .queued)
        #expect(job.files == [photo, movie])
        try scene.expectTrueCounts()
    }

    @Test func `repeated makes nothing new, and only what is missing of a grown group`() throws {
        let scene = try Scene()
        let jpeg = Scene.file("/card/IMG_1.JPG")
        let raw = Scene.file("/card/IMG_1.CR3", role: .alternatePhoto)
        try scene.enqueue([Scene.group(jpeg)])
        #expect(try scene.enqueue([Scene.group(jpeg), Scene.group(jpeg)]) == [])
        let ids = try scene.enqueue([Scene.group(jpeg, raw)])
        #expect(ids.count == 1)
        #expect(try scene.store.job(ids[0])?.files == [raw])
    }

    @Test func `keeps names that are not UTF-8, and stamps beyond 63 bits`() throws {
        let scene = try Scene()
        let path = Path(bytes: Array("/card/".utf8) + [0xff, 0xfe, 0x0a, 0x27] + Array(".JPG".utf8))
        let file = SettledFile(
            path: path, role: .photo, filesystem: "ffffffffffffffff",
            stamp: FileStamp(device: .max, inode: .max - 1, size: 1, mtime: -5))
        let ids = try scene.enqueue([SettledGroup(drop: "card", files: [file])])
        #expect(try scene.isKnown(file))
        #expect(try scene.store.job(ids[0])?.files == [file])
        let claim = try #require(try scene.claim())
        #expect(claim.job.files == [file])
    }

    @Test(arguments: [
        (Problem.Code.unsupported, JobState.skipped), (.filtered, .skipped), (.empty, .failed), (.orphan, .failed),
    ])
    func `with a verdict makes a job that has ended`(code: Problem.Code, state: JobState) throws {
        let scene = try Scene()
        let verdict = Problem(code, "It is so.", todo: "Do this.")
        let ids = try scene.enqueue([Scene.group(Scene.file("/card/x"), verdict: verdict)])
        let job = try #require(try scene.store.job(ids[0]))
        #expect(job.state == state)
        #expect(job.problem == verdict)
        #expect(job.finishedAt == Scene.start)
        #expect(try scene.claim() == nil)
        #expect(try scene.enqueue([Scene.group(Scene.file("/card/x"), verdict: verdict)]) == [])
        try scene.expectTrueCounts()
    }

    @Test(arguments: [Problem.Code.orphan, .empty, .unsupported, .filtered])
    func `takes along a file that only had a verdict, once its shot comes`(code: Problem.Code) throws {
        let scene = try Scene()
        let sidecar = Scene.file("/card/IMG_1.xmp", role: .sidecar)
        let photo = Scene.file("/card/IMG_1.JPG")
        let old = try scene.enqueue([Scene.group(sidecar, verdict: Problem(code, "Alone."))])
        let new = try scene.enqueue([Scene.group(photo, sidecar)], at: 60)
        #expect(try scene.store.job(try #require(new.first))?.files == [photo, sidecar])
        #expect(try scene.store.job(old[0])?.state == .skipped)
        #expect(try scene.store.job(old[0])?.files == [sidecar])  // history keeps its names
        #expect(try scene.store.counts(at: Scene.start).failed == 0)
        #expect(try scene.isKnown(sidecar))
        try scene.expectTrueCounts()
    }

    @Test func `of a new version replaces a failed job and takes the rest of its group along`() throws {
        let scene = try Scene()
        let raw = Scene.file("/card/IMG_1.CR3")
        let corrupt = Scene.file("/card/IMG_1.JPG", role: .alternatePhoto)
        let old = try scene.enqueue([Scene.group(raw, corrupt)])
        let claim = try #require(try scene.claim())
        try scene.store.finish(
            claim, as: .failed, problem: Problem(.corrupt, "Bad."), asset: nil, disposition: .keep, at: Scene.start)
        let mended = Scene.file("/card/IMG_1.JPG", role: .alternatePhoto, size: 2000)
        let new = try scene.enqueue([Scene.group(raw, mended)], at: 100)
        #expect(try scene.store.job(try #require(new.first))?.files == [raw, mended])
        let replaced = try #require(try scene.store.job(old[0]))
        #expect(replaced.state == .vanished)
        #expect(replaced.problem?.code == .sourceVanished)
        #expect(try scene.store.retryAllFailed(at: Scene.start) == 0)
        try scene.expectTrueCounts()
    }

    @Test func `of a new version leaves what was imported as it is`() throws {
        let scene = try Scene()
        try scene.enqueue("/card/IMG_1.JPG")
        let old = try scene.importNext(asset: "a", hash: 1, path: Path("1.JPG"))
        let new = try scene.enqueue([Scene.group(Scene.file("/card/IMG_1.JPG", mtime: 2))])
        #expect(new.count == 1)
        #expect(try scene.store.job(old)?.state == .imported)
        #expect(try scene.isKnown(Scene.file("/card/IMG_1.JPG")))
    }

    @Test func `again after the file had vanished makes a new job`() throws {
        let scene = try Scene()
        let ids = try scene.enqueue("/card/IMG_1.JPG")
        let claim = try #require(try scene.claim())
        try scene.store.finish(
            claim, as: .vanished, problem: Problem(.sourceVanished, "Gone."), asset: nil, disposition: .keep,
            at: Scene.start)
        #expect(try !scene.isKnown(Scene.file("/card/IMG_1.JPG")))
        let again = try scene.enqueue("/card/IMG_1.JPG")
        #expect(again.count == 1 && again != ids)
    }
}

@Suite("A batch") struct BatchTests {
    @Test func `takes jobs until ten seconds of quiet`() throws {
        let scene = try Scene()
        try scene.enqueue("/card/1", at: 0)
        try scene.enqueue("/card/2", at: 9)
        let third = try scene.enqueue("/card/3", at: 18)
        let first = try #require(try scene.store.job(third[0])).batch
        #expect(try scene.store.batch(first)?.closedAt == nil)
        #expect(try scene.store.batch(first)?.total == 3)
        let fourth = try scene.enqueue("/card/4", at: 28)
        let second = try #require(try scene.store.job(fourth[0])).batch
        #expect(second != first)
        #expect(try scene.store.batch(first)?.closedAt == Scene.at(28))
        try scene.store.closeQuietBatches(at: Scene.at(37))
        #expect(try scene.store.batch(second)?.closedAt == nil)
        try scene.store.closeQuietBatches(at: Scene.at(50))
        #expect(try scene.store.batch(second)?.closedAt == Scene.at(38))
    }

    @Test func `is per drop, and one per call by hand`() throws {
        let scene = try Scene()
        try scene.enqueue([
            Scene.group(Scene.file("/a/1"), drop: "a"), Scene.group(Scene.file("/b/1"), drop: "b"),
            Scene.group(Scene.file("/a/2"), drop: "a"),
        ])
        #expect(try scene.store.batches(limit: 10).items.map(\.total) == [1, 2])
        let batch = try scene.store.openManualBatch(at: Scene.start)
        let ids = try scene.store.enqueue(
            [Scene.group(Scene.file("/a/3"), drop: "a"), Scene.group(Scene.file("/b/3"), drop: "b")], isManual: true,
            batch: batch, at: Scene.start)
        #expect(try ids.map { try scene.store.job($0)?.batch } == [batch, batch])
        #expect(try scene.store.job(ids[0])?.isManual == true)
        // What comes by itself meanwhile does not slip into it.
        try scene.enqueue([Scene.group(Scene.file("/a/4"), drop: "a")])
        #expect(try scene.store.batch(batch)?.total == 2)
        #expect(
            code {
                _ = try scene.store.enqueue(
                    [Scene.group(Scene.file("/z"))], isManual: true, batch: 999, at: Scene.start)
            } == .notFound)
        #expect(try !scene.isKnown(Scene.file("/z")))
    }

    @Test func `ends at ten thousand jobs, even within one call`() throws {
        let scene = try Scene()
        try scene.enqueue((0..<10_001).map { Scene.group(Scene.file("/card/\($0)")) })
        #expect(try scene.store.batches(limit: 10).items.map(\.total) == [1, 10_000])
        #expect(try scene.store.batches(limit: 10).items[1].closedAt == Scene.start)
        try scene.expectTrueCounts()
    }

    @Test func `numbers its jobs by folder and natural name, whatever order they come in`() throws {
        let scene = try Scene()
        try scene.enqueue("/card/DCIM/101/IMG_1.JPG", "/card/DCIM/100/IMG_10.JPG")
        try scene.enqueue("/card/DCIM/100/IMG_2.JPG", at: 1)
        try scene.enqueue("/card/DCIM/100/IMG_011.JPG", at: 2)
        let jobs = try scene.store.jobs(JobFilter(), limit: 10).items.sorted { $0.sequence < $1.sequence }
        #expect(
            jobs.map(\.files[0].path.shown) == [
                "/card/DCIM/100/IMG_2.JPG", "/card/DCIM/100/IMG_10.JPG", "/card/DCIM/100/IMG_011.JPG",
                "/card/DCIM/101/IMG_1.JPG",
            ])
        #expect(jobs.map(\.sequence) == [1, 2, 3, 4])
    }

    @Test func `of many jobs has its final numbers once it closes`() throws {
        let scene = try Scene()
        try scene.enqueue((0..<600).map { Scene.group(Scene.file("/card/IMG_\($0 + 10).JPG")) })
        try scene.enqueue("/card/IMG_1.JPG")
        try scene.store.closeQuietBatches(at: Scene.at(60))
        let disagreeing = try scene.number(
            """
            SELECT count(*) FROM (SELECT sequence, row_number() OVER (ORDER BY order_key) AS place FROM job)
            WHERE sequence <> place
            """)
        #expect(disagreeing == 0)
        #expect(try scene.number("SELECT min(sequence) = 1 AND max(sequence) = 601 FROM job") == 1)
    }
}
