import PhotoModel
import SQLite
import Store
import Testing

@Suite("Claiming the next job") struct ClaimTests {
    @Test func `follows natural order, counts the attempt and puts it in copying`() throws {
        let scene = try Scene()
        try scene.enqueue("/card/IMG_10.JPG", "/card/IMG_9.JPG", "/card/IMG_100.JPG")
        let names = try (1...3).map { try scene.claim("import-\($0)")?.job.files[0].path.name.shown }
        #expect(names == ["IMG_9.JPG", "IMG_10.JPG", "IMG_100.JPG"])
        #expect(try scene.claim("import-4") == nil)
        let job = try #require(try scene.store.job(1))
        #expect(job.state == .copying)
        #expect(job.attempts == 1)
        try scene.expectTrueCounts()
    }

    @Test func `lets the drops take turns and passes by blocked ones`() throws {
        let scene = try Scene()
        try scene.enqueue(
            ["a", "b", "c"].flatMap { drop in
                (1...3).map { Scene.group(Scene.file("/\(drop)/\($0)"), drop: drop) }
            })
        func next(_ id: String, blocked: Set<String> = []) throws -> String? {
            try scene.claim(id, blocked: blocked)?.job.files[0].path.shown
        }
        #expect(try (1...4).map { try next("\($0)") } == ["/a/1", "/b/1", "/c/1", "/a/2"])
        #expect(try (5...6).map { try next("\($0)", blocked: ["b"]) } == ["/c/2", "/a/3"])
        #expect(try next("7", blocked: ["b", "c"]) == nil)
        #expect(try next("8") == "/b/2")
    }

    @Test func `takes a retry when its time has come, not before`() throws {
        let scene = try Scene()
        let ids = try scene.enqueue("/card/1")
        let claim = try #require(try scene.claim())
        try scene.store.retryLater(claim, problem: Problem(.sourceIO, "I/O."), notBefore: Scene.at(30))
        let waiting = try #require(try scene.store.job(ids[0]))
        #expect(waiting.state == .queued)
        #expect(waiting.attempts == 1)
        #expect(waiting.notBefore == Scene.at(30))
        #expect(waiting.problem?.code == .sourceIO)
        var counts = try scene.store.counts(at: Scene.at(1))
        #expect([counts.queued, counts.retrying, counts.retryingSoon] == [1, 1, 1])
        counts = try scene.store.counts(at: Scene.at(-60))
        #expect([counts.queued, counts.retrying, counts.retryingSoon] == [1, 1, 0])
        #expect(try scene.store.nextDue(after: Scene.start) == Scene.at(30))
        #expect(try scene.store.nextDue(after: Scene.at(30)) == nil)
        #expect(try scene.claim("2", at: 29) == nil)
        try scene.expectTrueCounts()
        counts = try scene.store.counts(at: Scene.at(30))
        #expect([counts.queued, counts.retrying] == [1, 0])
        let again = try #require(try scene.claim("3", at: 30))
        #expect(again.job.attempts == 2)
        #expect(again.job.notBefore == nil)
        try scene.expectTrueCounts()
    }

    @Test func `gives back an attempt that an outage ended`() throws {
        let scene = try Scene()
        try scene.enqueue("/card/1")
        try scene.store.giveBack(try #require(try scene.claim("1")))
        #expect(try scene.store.job(1)?.attempts == 0)
        #expect(try scene.claim("2")?.job.attempts == 1)
    }

    /// What makes a queue of 200,000 as quick as one of ten: each step walks one partial index and sorts nothing.
    @Test(arguments: [
        (Store.dropAfter, "SEARCH job USING INDEX job_ready (drop_name>?)"),
        (Store.firstOfDrop, "SEARCH job USING INDEX job_ready (drop_name=?)"),
        (Store.suspects, "SCAN job USING INDEX job_suspect"),
        (Store.comeDue, "SEARCH job USING INDEX job_due (not_before<?)"),
        (Store.inFlight, "SCAN job USING INDEX job_in_flight"),
        (Store.knownFile, "SEARCH job_file USING INDEX job_file_version"),
        // What the trigger does at the end of every job.
        ("UPDATE job SET waits_for = NULL WHERE waits_for = ?", "SEARCH job USING INDEX job_waiting (waits_for=?)"),
        (Store.originalsOfSize, "SEARCH resource USING INDEX resource_size (size=?)"),
        (
            Store.originalsOfStem,
            "SEARCH resource USING INDEX sqlite_autoindex_resource_1 (path>? AND path<?)"
        ),
        (Store.nextFilesystem, "SEARCH job_file USING INDEX job_file_version (drop_name=? AND filesystem>?)"),
        (
            Store.sameOnFilesystem,
            "SEARCH job_file USING INDEX job_file_version (drop_name=? AND filesystem=? AND path=? AND size=?)"
        ),
        (
            Store.shotFiles,
            "SEARCH job_file USING INDEX job_file_version (drop_name=? AND filesystem=? AND path>? AND path<?)"
        ),
        (
            Store.companionFiles,
            "SEARCH job_file USING INDEX job_file_version (drop_name=? AND filesystem=? AND path>? AND path<?)"
        ),
    ])
    func `uses an index for each of its questions`(sql: String, plan: String) throws {
        let scene = try Scene()
        let steps = try scene.raw().with { connection in
            try connection.rows(
                "EXPLAIN QUERY PLAN " + sql, Array(repeating: .null, count: sql.count { $0 == "?" })
            ) { row throws(SQLiteError) in try row.text(3) }
        }
        // Whatever comes behind the first step looks up one row by its number.
        #expect(steps.dropFirst().allSatisfy { $0.hasPrefix("SEARCH job USING INTEGER PRIMARY KEY") }, "\(steps)")
        #expect(steps.first?.hasPrefix(plan) == true, "\(steps)")
    }
}

@Suite("A job that was in flight when the daemon crashed") struct SuspectTests {
    @Test func `runs last and alone, and nothing beside it`() throws {
        let scene = try Scene()
        let ids = try scene.enqueue("/card/1", "/card/2", "/card/3")
        _ = try scene.claim("1")
        #expect(try scene.store.giveBack(interrupted: ids[0], crashed: true, at: Scene.start) == .queued)
        #expect(try scene.store.job(ids[0])?.crashes == 1)
        let second = try #require(try scene.claim("2"))
        let third = try #require(try scene.claim("3"))
        #expect([second.job.id, third.job.id] == [ids[1], ids[2]])
        #expect(try scene.claim("4") == nil)
        try scene.store.giveBack(third)
        try scene.store.finish(second, as: .duplicate, problem: nil, asset: nil, disposition: .keep, at: Scene.start)
        // Something else is ready: that goes first.
        let again = try #require(try scene.claim("5"))
        #expect(again.job.id == ids[2])
        try scene.store.finish(again, as: .duplicate, problem: nil, asset: nil, disposition: .keep, at: Scene.start)
        #expect(try scene.claim("6", blocked: ["card"]) == nil)
        let alone = try #require(try scene.claim("6"))
        #expect(alone.job.id == ids[0])
        try scene.enqueue("/card/4")
        #expect(try scene.claim("7") == nil)
        try scene.store.giveBack(alone)
        #expect(try scene.claim("8") != nil)
    }

    @Test func `fails as poison at the third crash, and a person can let it try again`() throws {
        let scene = try Scene()
        let ids = try scene.enqueue("/card/1")
        var states: [JobState] = []
        for crash in 1...3 {
            _ = try #require(try scene.claim("\(crash)"))
            states.append(try scene.store.giveBack(interrupted: ids[0], crashed: true, at: Scene.start))
        }
        #expect(states == [.queued, .queued, .failed])
        #expect(try scene.store.job(ids[0])?.problem?.code == .poison)
        #expect(try scene.claim("4") == nil)
        try scene.store.retry(ids[0], at: Scene.start)
        let again = try #require(try scene.claim("5"))
        #expect(again.job.attempts == 1)
        #expect(again.job.crashes == 1)  // still alone
        try scene.expectTrueCounts()
    }

    @Test func `is no suspect when the process was ended from outside`() throws {
        let scene = try Scene()
        let ids = try scene.enqueue("/card/1")
        for attempt in 1...5 {
            _ = try #require(try scene.claim("\(attempt)"))
            #expect(try scene.store.giveBack(interrupted: ids[0], crashed: false, at: Scene.start) == .queued)
        }
        let job = try #require(try scene.store.job(ids[0]))
        #expect([job.attempts, job.crashes] == [0, 0])
        #expect(
            code { _ = try scene.store.giveBack(interrupted: ids[0], crashed: true, at: Scene.start) } == .conflict)
    }

    @Test func `is cleared by success`() throws {
        let scene = try Scene()
        let ids = try scene.enqueue("/card/1")
        _ = try scene.claim("1")
        _ = try scene.store.giveBack(interrupted: ids[0], crashed: true, at: Scene.start)
        try scene.importNext(asset: "a", hash: 1, path: Path("1.JPG"))
        #expect(try scene.store.job(ids[0])?.crashes == 0)
    }
}
