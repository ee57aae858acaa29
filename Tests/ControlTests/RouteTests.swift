import ControlAPI
import Files
import HTTP
import PhotoModel
import Store
import Testing

@testable import Control

@Suite("The calls of the control API") struct RouteTests {
    private func body<Body: Decodable>(_ type: Body.Type, _ reply: Reply) throws -> Body {
        try JSON.decode(type, from: Array(reply.text.utf8))
    }

    @Test func `status counts the queue and says whether anything is left to do`() throws {
        let desk = try Desk()
        let empty = try body(StatusBody.self, desk.get("/v1/status"))
        #expect(empty.version == "1.2.3")
        #expect(empty.state == "running")
        #expect(empty.idle)
        #expect(empty.uptime == 90)
        #expect(empty.batch == nil)
        #expect(empty.library == LibraryBody(path: desk.folder / "library", freeBytes: 1000))
        #expect(empty.rates == RatesBody(filesPerSecond: 2, bytesPerSecond: 3))
        try desk.enqueue("a.jpg", "b.jpg")
        let busy = try body(StatusBody.self, desk.get("/v1/status"))
        #expect(busy.queue.queued == 2)
        #expect(!busy.idle)
        #expect(busy.batch?.total == 2)
    }

    @Test func `a mirror that is away is told of, and keeps neither from idle nor from ready`() throws {
        let desk = try Desk()
        #expect(try body(StatusBody.self, desk.get("/v1/status")).mirror == nil)
        let away = Problem(.libraryOffline, "The mirror /m cannot be opened.")
        desk.daemon.withLock {
            $0.mirror = .init(path: Path("/m"), freeBytes: nil, behind: 12, reasons: [away], isAtWork: false)
        }
        let status = try body(StatusBody.self, desk.get("/v1/status"))
        #expect(status.mirror == MirrorBody(path: Path("/m"), freeBytes: nil, behind: 12))
        #expect(status.reasons == [ErrorBody(away)])
        #expect(status.idle)
        #expect(desk.get("/readyz").status == 200)
        desk.daemon.withLock {
            $0.mirror = .init(path: Path("/m"), freeBytes: 5, behind: 12, reasons: [], isAtWork: true)
        }
        #expect(try !body(StatusBody.self, desk.get("/v1/status")).idle)
    }

    @Test func `jobs come newest first, by filter and page by page`() throws {
        let desk = try Desk()
        let ids = try desk.enqueue("a.jpg", "b.jpg", "c.jpg")
        let first = try body(ListBody<JobBody>.self, desk.get("/v1/jobs", query: [("limit", "2")]))
        #expect(first.items.map(\.id) == [ids[2], ids[1]])
        let next = try #require(first.next)
        let second = try body(
            ListBody<JobBody>.self, desk.get("/v1/jobs", query: [("limit", "2"), ("after", next)]))
        #expect(second.items.map(\.id) == [ids[0]])
        #expect(second.next == nil)
        #expect(second.items[0].files == [FileBody(role: .photo, path: Path("/drop/a.jpg"), size: 1000)])
        let failed = try body(ListBody<JobBody>.self, desk.get("/v1/jobs", query: [("state", "failed")]))
        #expect(failed.items.isEmpty)
        let elsewhere = try body(ListBody<JobBody>.self, desk.get("/v1/jobs", query: [("drop", "nas")]))
        #expect(elsewhere.items.isEmpty)
        #expect(try body(JobBody.self, desk.get("/v1/jobs/\(ids[0])")).id == ids[0])
    }

    @Test func `a failed job is retried, alone or with all others`() throws {
        let desk = try Desk()
        let ids = try desk.enqueue("a.jpg", "b.jpg", verdict: Problem(.empty, "It is empty."))
        #expect(try body(JobBody.self, desk.get("/v1/jobs/\(ids[0])")).error?.code == "E_EMPTY")
        let retried = desk.ask("POST", "/v1/jobs/\(ids[0])/retry")
        #expect(retried.status == 200)
        #expect(try body(JobBody.self, retried).state == "queued")
        #expect(try body(RetriedBody.self, desk.ask("POST", "/v1/retry")).retried == 1)
        #expect(desk.ask("POST", "/v1/jobs/\(ids[0])/retry").status == 409)
        #expect(desk.ask("POST", "/v1/jobs/999/retry").status == 404)
    }

    @Test func `cancelling says whether it is done or an import rolls back first`() throws {
        let desk = try Desk()
        let ids = try desk.enqueue("a.jpg", "b.jpg")
        let done = desk.ask("POST", "/v1/jobs/\(ids[0])/cancel")
        #expect(done.status == 200)
        #expect(try body(JobBody.self, done).state == "cancelled")
        desk.daemon.withLock { $0.cancel = .inFlight }
        #expect(desk.ask("POST", "/v1/jobs/\(ids[1])/cancel").status == 202)
    }

    @Test func `a batch shows its jobs and can be cancelled`() throws {
        let desk = try Desk()
        try desk.enqueue("a.jpg", "b.jpg")
        let list = try body(ListBody<BatchBody>.self, desk.get("/v1/batches"))
        let batch = try #require(list.items.first)
        let detail = try body(BatchDetailBody.self, desk.get("/v1/batches/\(batch.id)", query: [("limit", "1")]))
        #expect(detail.batch == batch)
        #expect(detail.jobs.items.count == 1)
        #expect(detail.jobs.next != nil)
        let cancelled = desk.ask("POST", "/v1/batches/\(batch.id)/cancel")
        #expect(cancelled.status == 200)
        #expect(try body(BatchBody.self, cancelled).done == 2)
        #expect(desk.get("/v1/batches/77").status == 404)
    }

    @Test func `assets are found by day and camera`() throws {
        let desk = try Desk()
        try desk.makeAsset("one", original: [1], preview: [2])
        try desk.makeAsset(
            "two", original: [1], preview: [2], capturedAt: WallTime(year: 2026, month: 5, day: 18, hour: 23))
        func ids(_ query: [(key: String, value: String)]) throws -> [String] {
            try body(ListBody<AssetBody>.self, desk.get("/v1/assets", query: query)).items.map(\.id)
        }
        #expect(try ids([]) == ["two", "one"])
        #expect(try ids([("to", "2026-05-17")]) == ["one"])
        #expect(try ids([("to", "2026-05-18")]) == ["two", "one"])
        #expect(try ids([("from", "2026-05-18T22:00:00")]) == ["two"])
        #expect(try ids([("camera", "canon")]) == ["two", "one"])
        #expect(try ids([("camera", "nikon")]) == [])
        #expect(try body(AssetBody.self, desk.get("/v1/assets/one")).resources[0].path == "2026/one.jpg")
    }

    @Test func `bytes come from the library with their tag and type`() throws {
        let desk = try Desk()
        try desk.makeAsset("one", original: Array("original".utf8), preview: Array("preview".utf8))
        let original = desk.get("/v1/assets/one/original/0")
        #expect(original.status == 200)
        #expect(
            original.header("ETag")
                == "\"0682c5f2076f099c34cfdd15a9e063849ed437a49677e6fcc5b4198c76575be5\"")
        guard case .file(_, offset: 0, length: 8) = original.body else {
            Issue.record("not the whole file")
            return
        }
        let preview = desk.get("/v1/assets/one/preview")
        #expect(preview.header("Content-Type") == "image/jpeg")
        let tag = try #require(preview.header("ETag"))
        #expect(desk.ask("GET", "/v1/assets/one/preview", headers: ["if-none-match": tag]).status == 304)
        #expect(desk.get("/v1/assets/one/preview", query: [("size", "1200")]).status == 200)
        #expect(desk.get("/v1/assets/one/preview", query: [("size", "5")]).status == 400)
        for number in ["1", "-1", "00", "x", "99999999999999999999"] {
            #expect(desk.get("/v1/assets/one/original/\(number)").status == 404)
        }
    }

    @Test func `an original that is not what was imported is not handed out as such`() throws {
        let desk = try Desk()
        try desk.makeAsset("one", original: Array("original".utf8), preview: [])
        let library = try desk.door.view.openLibrary()
        try library.unlink(Path("2026/one.jpg"))
        let gone = desk.get("/v1/assets/one/original/0")
        #expect(gone.status == 500)
        #expect(try body(ProblemBody.self, gone).code == "E_LIBRARY_IO")
        let file = try library.create(Path("2026/one.jpg"), mode: 0o600)
        try file.write(Array("other, longer".utf8))
        try file.makeDurable()
        #expect(desk.get("/v1/assets/one/original/0").status == 500)
    }

    @Test func `orders reach the daemon and its answer comes back`() throws {
        let desk = try Desk()
        #expect(try body(StateBody.self, desk.ask("POST", "/v1/pause")).state == "paused")
        #expect(desk.ask("POST", "/v1/resume").status == 200)
        #expect(try body(RescanBody.self, desk.ask("POST", "/v1/rescan")).drops == ["card", "nas"])
        #expect(try body(RescanBody.self, desk.ask("POST", "/v1/rescan", #"{"drop":"nas"}"#)).drops == ["nas"])
        #expect(desk.ask("POST", "/v1/rescan", #"{"drop":"nowhere"}"#).status == 404)
        #expect(try body(ReloadBody.self, desk.ask("POST", "/v1/reload")).applied == ["log.level"])
        desk.daemon.withLock { $0.imported.batch = 9 }
        let imported = desk.ask(
            "POST", "/v1/import", #"{"paths":["/drop/a",{"path":"x","path_bytes":"L2Ryb3Av/w=="}]}"#)
        #expect(imported.status == 202)
        #expect(try body(ImportBody.self, imported).batchID == 9)
        #expect(desk.ask("POST", "/v1/import", #"{"paths":["/drop/a"],"dry_run":true}"#).status == 200)
        #expect(
            desk.daemon.orders == [
                "pause", "resume", "rescan all", "rescan nas", "rescan nowhere", "import /drop/a /drop/\u{FFFD}",
                "try /drop/a",
            ])
    }

    @Test func `a refused configuration shows each fault`() throws {
        let desk = try Desk()
        desk.daemon.withLock {
            $0.reload = .refused([Problem(.config, "First.", todo: "a"), Problem(.config, "Second.", todo: "b")])
        }
        let reply = desk.ask("POST", "/v1/reload")
        #expect(reply.status == 422)
        #expect(reply.header("Content-Type") == "application/problem+json")
        #expect(try body(ProblemBody.self, reply).errors?.map(\.detail) == ["First.", "Second."])
    }

    @Test func `probes say alive and ready`() throws {
        let desk = try Desk()
        #expect(desk.get("/healthz").status == 200)
        for (state, status) in [
            (DaemonState.starting, 503), (.running, 200), (.paused, 200), (.degraded, 200), (.stopping, 503),
        ] {
            desk.daemon.withLock { $0.state = state }
            #expect(desk.get("/readyz").status == status)
        }
    }
}

@Suite("What the control API refuses") struct RefusalTests {
    private static let changes = [
        "/v1/jobs/1/retry", "/v1/jobs/1/cancel", "/v1/retry", "/v1/batches/1/cancel", "/v1/import", "/v1/pause",
        "/v1/resume", "/v1/rescan", "/v1/reload", "/v1/assets/1/forget", "/v1/operations/1/cancel",
    ]
    private static let looks = [
        "/v1/status", "/v1/jobs", "/v1/jobs/1", "/v1/batches", "/v1/batches/1", "/v1/assets", "/v1/operations/1",
        "/v1/assets/1/preview", "/v1/assets/1/original/0", "/v1/events", "/healthz", "/readyz",
    ]

    private func problem(_ reply: Reply) throws -> ProblemBody {
        #expect(reply.header("Content-Type") == "application/problem+json")
        let problem = try JSON.decode(ProblemBody.self, from: Array(reply.text.utf8))
        #expect(problem.status == reply.status)
        #expect(!problem.title.isEmpty && !problem.detail.isEmpty && !problem.recovery.isEmpty)
        return problem
    }

    @Test(arguments: changes) func `a change by a guest`(target: String) throws {
        let desk = try Desk()
        for peer in [Desk.guest, nil] {
            let reply = desk.ask("POST", target, as: peer)
            #expect(reply.status == 403)
            #expect(try problem(reply).code == "E_FORBIDDEN")
        }
        #expect(desk.daemon.orders == [])
    }

    @Test(arguments: changes) func `a change by a web page`(target: String) throws {
        let desk = try Desk()
        let reply = desk.ask("POST", target, headers: ["origin": "http://localhost"])
        #expect(reply.status == 403)
        #expect(desk.daemon.orders == [])
    }

    @Test func `taking away and adding by a guest, and by other methods`() throws {
        let desk = try Desk()
        #expect(desk.ask("DELETE", "/v1/assets/1", as: Desk.guest).status == 403)
        #expect(desk.ask("POST", "/v1/operations", as: Desk.guest).status == 403)
        let item = desk.ask("POST", "/v1/assets/1")
        #expect(item.status == 405 && item.header("Allow") == "GET, HEAD, DELETE")
        let list = desk.ask("PUT", "/v1/operations")
        #expect(list.status == 405 && list.header("Allow") == "GET, HEAD, POST")
    }

    @Test(arguments: changes) func `looking where something is changed`(target: String) throws {
        let reply = try Desk().get(target)
        #expect(reply.status == 405)
        #expect(reply.header("Allow") == "POST")
        _ = try problem(reply)
    }

    @Test(arguments: looks, ["POST", "DELETE", "PUT"])
    func `changing where something is looked at`(target: String, method: String) throws {
        let reply = try Desk().ask(method, target)
        #expect(reply.status == 405)
        #expect(reply.header("Allow") == "GET, HEAD")
    }

    @Test func `nothing to a guest who only looks`() throws {
        let desk = try Desk()
        #expect(desk.ask("GET", "/v1/status", as: Desk.guest).status == 200)
        #expect(desk.ask("HEAD", "/v1/jobs", as: Desk.guest).status == 200)
    }

    @Test(arguments: [
        "/", "/v1", "/v1/", "/v2/status", "/v1/status/", "/v1//status", "/v1/jobs/1/2/3/4", "/v1/assets/1/original",
        "/status", "/v1/jobs/1/undo",
    ])
    func `a path where nothing is`(target: String) throws {
        let reply = try Desk().get(target)
        #expect(reply.status == 404)
        #expect(try problem(reply).code == "E_NOT_FOUND")
    }

    @Test(arguments: [
        "/v1/jobs/0", "/v1/jobs/x", "/v1/jobs/+1", "/v1/jobs/01", "/v1/jobs/99999999999999999999", "/v1/assets/..%2Fx",
    ])
    func `an id that names nothing`(target: String) throws {
        #expect(try Desk().get(target).status == 404)
    }

    @Test(arguments: [
        ("/v1/jobs", "limit", "0"), ("/v1/jobs", "limit", "201"), ("/v1/jobs", "limit", "x"),
        ("/v1/jobs", "state", "lost"),
        ("/v1/jobs", "batch", "x"), ("/v1/jobs", "after", "x"), ("/v1/jobs", "colour", "red"),
        ("/v1/assets", "from", "yesterday"), ("/v1/assets", "from", "2026-02-30"), ("/v1/assets", "to", "2026-5-1"),
        ("/v1/assets", "from", "2026-05-17T9:00:00"), ("/v1/status", "x", ""),
    ])
    func `a parameter that makes no sense`(target: String, name: String, value: String) throws {
        let reply = try Desk().get(target, query: [(name, value)])
        #expect(reply.status == 400)
        #expect(try problem(reply).code == "E_BAD_REQUEST")
    }

    @Test func `a parameter that is given twice, or is no text`() throws {
        let desk = try Desk()
        #expect(desk.get("/v1/jobs", query: [("limit", "1"), ("limit", "2")]).status == 400)
        #expect(desk.get("/v1/jobs", query: nil).status == 400)
        #expect(desk.get("/v1/%ff").status == 400)
    }

    @Test(arguments: [
        "", "{", "[]", "{}", #"{"paths":[]}"#, #"{"paths":["a.jpg"]}"#, #"{"paths":[1]}"#, #"{"paths":["/a\u0000b"]}"#,
        #"{"paths":[{"path":"x","path_bytes":"*"}]}"#, #"{"paths":["/a"],"dry_run":"yes"}"#,
    ])
    func `an import that names no paths`(text: String) throws {
        let desk = try Desk()
        let reply = desk.ask("POST", "/v1/import", text)
        #expect(reply.status == 400)
        #expect(try problem(reply).code == "E_BAD_REQUEST")
        #expect(desk.daemon.orders == [])
    }
}

@Suite("Who may change something") struct RightsTests {
    private let rights = Rights(uid: 4711, controlGroup: 2000, groupsOfUser: { uid, _ in uid == 6000 ? [2000] : [] })

    @Test func `root, the daemon's user, and the control group`() {
        #expect(rights.mayChange(Peer(pid: 1, uid: 0, gid: 0, groups: [])))
        #expect(rights.mayChange(Peer(pid: 1, uid: 4711, gid: 9, groups: [])))
        #expect(rights.mayChange(Peer(pid: 1, uid: 5000, gid: 2000, groups: [])))
        #expect(rights.mayChange(Peer(pid: 1, uid: 5000, gid: 9, groups: [8, 2000])))
    }

    @Test func `nobody else`() {
        #expect(!rights.mayChange(nil))
        #expect(!rights.mayChange(Peer(pid: 1, uid: 5000, gid: 9, groups: [8])))
        // The user is in the group, but this process is not.
        #expect(!rights.mayChange(Peer(pid: 1, uid: 6000, gid: 9, groups: [])))
    }

    @Test func `by the user database where the kernel does not tell`() {
        #expect(rights.mayChange(Peer(pid: 1, uid: 6000, gid: 9, groups: nil)))
        #expect(!rights.mayChange(Peer(pid: 1, uid: 5000, gid: 9, groups: nil)))
        // The database of this machine: the given group is always in the answer, and no other comes out of nothing.
        #expect(Rights(uid: 1, controlGroup: 0).groupsOfUser(4_000_000_000, 9) == [9])
    }
}

@Suite("Idle") struct IdleTests {
    private func drop(_ change: (inout DropHealth) -> Void = { _ in }) -> DropHealth {
        var drop = DropHealth(
            name: "card", path: Path("/d"), mode: "inotify", health: .ok, watches: 1, candidates: 0,
            waitingForOthers: 0,
            hasFinishedFirstScan: true, reasons: [])
        change(&drop)
        return drop
    }

    private func counts(_ change: (inout QueueCounts) -> Void) -> QueueCounts {
        var counts = QueueCounts()
        change(&counts)
        return counts
    }

    @Test func `is when nothing is left that happens by itself soon`() {
        #expect(ControlDesk.isIdle(QueueCounts(), []))
        #expect(ControlDesk.isIdle(counts { ($0.imported, $0.failed) = (5, 2) }, [drop()]))
        // A retry in an hour, an orphan, an absent drop folder.
        #expect(ControlDesk.isIdle(counts { ($0.queued, $0.retrying) = (1, 1) }, []))
        #expect(ControlDesk.isIdle(QueueCounts(), [drop { $0.waitingForOthers = 1 }]))
        #expect(
            ControlDesk.isIdle(QueueCounts(), [drop { ($0.health, $0.hasFinishedFirstScan) = (.waiting, false) }]))
    }

    @Test func `is not while something is`() {
        #expect(!ControlDesk.isIdle(counts { $0.queued = 1 }, []))
        #expect(!ControlDesk.isIdle(counts { ($0.queued, $0.retrying) = (2, 1) }, []))
        #expect(!ControlDesk.isIdle(counts { $0.importing = 1 }, []))
        #expect(!ControlDesk.isIdle(counts { ($0.queued, $0.retrying, $0.retryingSoon) = (1, 1, 1) }, []))
        #expect(!ControlDesk.isIdle(QueueCounts(), [drop { $0.candidates = 1 }]))
        #expect(!ControlDesk.isIdle(QueueCounts(), [drop { $0.hasFinishedFirstScan = false }]))
    }
}
