import ControlAPI
import FoundationEssentials
import PhotoModel
import Testing

/// The whole text of each body, so that a renamed, missing or reordered field shows.
@Suite("The JSON of the control API") struct ShapeTests {
    private func text(_ body: some Encodable) throws -> String {
        String(decoding: try JSON.encode(body), as: UTF8.self)
    }

    private func job(path: Path = Path("/srv/drop/card/IMG_0001.HEIC"), problem: Problem? = nil) -> Job {
        Job(
            id: 41, state: problem == nil ? .queued : .failed, drop: "card", batch: 7, sequence: 3, attempts: 1,
            crashes: 0,
            files: [
                SettledFile(
                    path: path, role: .photo, filesystem: "00",
                    stamp: FileStamp(device: 1, inode: 2, size: 1_234_567, mtime: 0))
            ], problem: problem, disposition: .keep, dispositionProblem: nil, notBefore: nil, asset: nil,
            createdAt: Timestamp(nanoseconds: 1_779_001_471_870_000_000), finishedAt: nil, isManual: false)
    }

    @Test func `a job keeps every documented field and writes null for what it has not`() throws {
        #expect(
            try text(JobBody(job())) == """
                {"asset_id":null,"attempts":1,"batch_id":7,"created_at":"2026-05-17T07:04:31.870Z",\
                "disposition":{"code":null,"detail":null,"state":"keep"},"drop":"card","error":null,\
                "files":[{"path":"/srv/drop/card/IMG_0001.HEIC","role":"photo","size":1234567}],\
                "finished_at":null,"id":41,"not_before":null,"sequence":3,"state":"queued"}
                """)
    }

    @Test func `a problem of a job has code, title, detail, recovery and whether it is retried`() throws {
        let problem = Problem(.libraryFull, "Could not write.", todo: "Free space.")
        #expect(
            try text(ErrorBody(problem)) == """
                {"code":"E_LIBRARY_FULL","detail":"Could not write.","recovery":"Free space.",\
                "title":"Library is full","transient":true}
                """)
        #expect(
            try JSON.decode(JobBody.self, from: JSON.encode(JobBody(job(problem: problem)))).error?.code
                == "E_LIBRARY_FULL")
    }

    @Test func `a name that is not UTF-8 comes back byte for byte`() throws {
        let path = Path(bytes: Array("/drop/a".utf8) + [0xFF, 0x0A] + Array("b.jpg".utf8))
        let body = JobBody(job(path: path))
        let written = try text(body)
        #expect(written.contains(#""path":"/drop/a\#u{FFFD}\nb.jpg""#))
        // printf '/drop/a\xff\nb.jpg' | base64
        #expect(written.contains(#""path_bytes":"L2Ryb3AvYf8KYi5qcGc=""#))
        let file = try #require(JSON.decode(JobBody.self, from: JSON.encode(body)).files.first)
        #expect(PathText(text: file.path, base64: file.pathBytes).path == path)
    }

    @Test func `the status has the fields of the contract`() throws {
        var counts = QueueCounts()
        counts.queued = 57
        counts.importing = 1
        counts.imported = 22
        let batch = Batch(
            id: 7, drop: "card", createdAt: Timestamp(seconds: 0), closedAt: nil, total: 80, done: 22, failed: 0)
        var drop = DropHealth(
            name: "card", path: Path("/d"), mode: "mixed", health: .degraded, watches: 3, candidates: 1,
            waitingForOthers: 0, hasFinishedFirstScan: true, reasons: [])
        drop.polled = 4
        drop.rescans = 2
        let status = StatusBody(
            version: "1.0", state: .degraded, reasons: [Problem(.watchLimit, "Some folders are polled.")],
            uptime: .milliseconds(90_500), queue: counts, idle: false,
            importing: [
                InFlightImport(
                    job: 41, batch: 7, phase: .copying, path: Path("/d/a.jpg"), bytesDone: 10, bytesTotal: 20)
            ], batch: batch, library: LibraryBody(path: Path("/srv/photos"), freeBytes: nil),
            drops: [drop], rates: RatesBody(filesPerSecond: 2.5, bytesPerSecond: 0))
        #expect(
            try text(status) == """
                {"batch":{"done":22,"failed":0,"id":7,"total":80},"drops":[{"candidates":1,"health":"degraded",\
                "mode":"mixed","name":"card","path":"/d","polled_folders":4,"reasons":[],"rescans":2,"waiting_for_others":0,"watches":3}],"idle":false,\
                "importing":[{"batch_id":7,"bytes_done":10,"bytes_total":20,"job_id":41,"path":"/d/a.jpg",\
                "phase":"copying"}],"library":{"free_bytes":null,"path":"/srv/photos"},"mirror":null,\
                "queue":{"cancelled":0,"duplicate":0,"failed":0,"imported":22,"importing":1,"queued":57,"retrying":0,\
                "skipped":0,"vanished":0},"rates":{"bytes_per_s":0,"files_per_s":2.5},\
                "reasons":[{"code":"W_WATCH_LIMIT","detail":"Some folders are polled.","recovery":"\
                Raise fs.inotify.max_user_watches with sysctl; until then the folders are polled.",\
                "title":"Not enough inotify watches","transient":false}],\
                "state":"degraded","uptime_s":90,"version":"1.0"}
                """)
        #expect(try JSON.decode(StatusBody.self, from: JSON.encode(status)) == status)
        var mirrored = status
        mirrored.mirror = MirrorBody(path: Path("/mnt/second"), freeBytes: 5, behind: 12)
        #expect(try text(mirrored).contains(#""mirror":{"behind":12,"free_bytes":5,"path":"/mnt/second"}"#))
        mirrored.mirror?.freeBytes = nil
        #expect(try text(mirrored).contains(#""mirror":{"behind":12,"free_bytes":null,"path":"/mnt/second"}"#))
    }

    @Test func `an asset shows wall time without offset, and the offset apart`() throws {
        var facts = Facts()
        facts.capturedAt = WallTime(
            year: 2026, month: 5, day: 17, hour: 9, minute: 4, second: 31, subseconds: "87")
        facts.capturedOffset = "+02:00"
        facts.dateSource = .exifOriginal
        facts.implausibleAt = WallTime(year: 2050, month: 12, day: 31, hour: 10)
        facts.implausibleSource = .xmp
        facts.make = "Apple"
        facts.latitude = 52.5
        facts.size = PixelSize(width: 3024, height: 4032)
        let asset = Asset(
            id: "0190-a", kind: .photo, collection: "card", facts: facts,
            resources: [
                Resource(
                    role: .photo, path: Path("2026/a.HEIC"), sourcePath: Path("/d/a.HEIC"), size: 5,
                    sha256: SHA256Digest(bytes: Array(repeating: 0xAB, count: 32)), mtime: 0, mediaType: .heic)
            ],
            preview: AssetPreview(
                state: .ok, path: Path(".photospool/previews/aa/x.jpg"), size: PixelSize(width: 900, height: 1200)),
            importedAt: Timestamp(seconds: 0))
        let body = AssetBody(asset)
        #expect(
            try text(body) == """
                {"captured_at":"2026-05-17T09:04:31.87","captured_offset":"+02:00","collection":"card",\
                "content_identifier":null,"date_source":"exif_original","height":4032,"id":"0190-a",\
                "implausible_at":"2050-12-31T10:00:00","implausible_source":"xmp",\
                "imported_at":"1970-01-01T00:00:00.000Z","kind":"photo","latitude":52.5,"lens":null,"longitude":null,\
                "make":"Apple","model":null,"motion":null,"preview":{"code":null,"height":1200,\
                "path":".photospool/previews/aa/x.jpg","state":"ok","width":900},"renditions":[],\
                "resources":[{"media_type":"image/heic","path":"2026/a.HEIC","role":"photo",\
                "sha256":"\(String(repeating: "ab", count: 32))","size":5,"source_path":"/d/a.HEIC"}],"width":3024}
                """)
        #expect(try JSON.decode(AssetBody.self, from: JSON.encode(body)) == body)
    }

    @Test func `a list ends with next null`() throws {
        #expect(try text(ListBody<BatchBody>(items: [], next: nil)) == #"{"items":[],"next":null}"#)
    }

    @Test func `a batch in detail is one flat object`() throws {
        let batch = Batch(
            id: 7, drop: "card", createdAt: Timestamp(seconds: 0), closedAt: Timestamp(seconds: 1), total: 1, done: 1,
            failed: 0)
        let body = BatchDetailBody(batch, jobs: ListBody(items: [], next: nil))
        #expect(
            try text(body) == """
                {"closed_at":"1970-01-01T00:00:01.000Z","created_at":"1970-01-01T00:00:00.000Z","done":1,"drop":"card",\
                "failed":0,"id":7,"jobs":{"items":[],"next":null},"total":1}
                """)
        #expect(try JSON.decode(BatchDetailBody.self, from: JSON.encode(body)) == body)
    }

    @Test func `an absent field reads as null, and an unknown one is passed over`() throws {
        let json = #"{"state":"keep","later":1}"#
        let body = try JSON.decode(DispositionBody.self, from: Array(json.utf8))
        #expect(body == DispositionBody(state: "keep", code: nil, detail: nil))
    }

    @Test func `an import names its paths as text, or with their bytes`() throws {
        let request = try JSON.decode(
            ImportRequest.self, from: Array(#"{"paths":["/d/a.jpg",{"path":"x","path_bytes":"L2Qv/w=="}]}"#.utf8))
        #expect(request.paths.map(\.value.path) == [Path("/d/a.jpg"), Path(bytes: [0x2F, 0x64, 0x2F, 0xFF])])
        #expect(!request.dryRun)
        #expect(
            try text(ImportRequest(paths: [Path("/d/a"), Path(bytes: [0x2F, 0xFF])], dryRun: true))
                == #"{"dry_run":true,"paths":["/d/a",{"path":"/\#u{FFFD}","path_bytes":"L/8="}]}"#)
        #expect(PathText(text: "/d/a", base64: "!").path == nil)
        #expect(PathText(text: "/d/\0a", base64: nil).path == nil)
    }

    @Test func `every event says by its name what its data is`() throws {
        let events: [EventBody] = [
            .job(
                JobEventBody(
                    id: 1, batch: 2, drop: "card", state: .failed, problem: Problem(.corrupt, "Bad."), asset: nil)),
            .state(StateBody(state: .paused, reasons: [])), .reset,
        ]
        for event in events {
            let data = try event.data()
            #expect(!data.contains(UInt8(ascii: "\n")))
            #expect(try EventBody(name: event.name, data: data) == event)
        }
        #expect(try EventBody(name: "later", data: Array("{}".utf8)) == nil)
    }

    @Test func `what is wrong with a body is said in a sentence`() {
        func complaint(_ json: String) -> String {
            do {
                _ = try JSON.decode(ImportRequest.self, from: Array(json.utf8))
                return "nothing"
            } catch let error as DecodingError { return sentence(about: error) } catch { return "other" }
        }
        #expect(complaint("{}") == "The field `paths` is missing.")
        #expect(complaint(#"{"paths":["a"],"dry_run":3}"#) == "The value of `dry_run` has the wrong type.")
        #expect(complaint("{") == "The body is not valid JSON.")
    }
}
