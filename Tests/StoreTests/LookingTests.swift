import PhotoModel
import SQLite
import Store
import Testing

@Suite("Looking at the store") struct LookingTests {
    @Test func `pages jobs newest first, whatever is added meanwhile`() throws {
        let scene = try Scene()
        try scene.enqueue((1...5).map { Scene.group(Scene.file("/card/\($0)")) })
        let first = try scene.store.jobs(JobFilter(), limit: 2)
        #expect(first.items.map(\.id) == [5, 4])
        try scene.enqueue("/card/6")
        let second = try scene.store.jobs(JobFilter(), limit: 2, after: first.next)
        #expect(second.items.map(\.id) == [3, 2])
        let third = try scene.store.jobs(JobFilter(), limit: 2, after: second.next)
        #expect(third.items.map(\.id) == [1])
        #expect(third.next == nil)
        #expect(try scene.store.jobs(JobFilter(), limit: 6).next == nil)
    }

    @Test func `filters jobs by state, drop and batch`() throws {
        let scene = try Scene()
        try scene.enqueue(["a", "b"].map { Scene.group(Scene.file("/\($0)/1"), drop: $0) })
        try scene.enqueue([Scene.group(Scene.file("/a/2"), drop: "a")], at: 60)
        _ = try scene.store.cancel(1, at: Scene.start)
        func ids(_ filter: JobFilter) throws -> [Job.ID] { try scene.store.jobs(filter, limit: 50).items.map(\.id) }
        #expect(try ids(JobFilter(state: .queued)) == [3, 2])
        #expect(try ids(JobFilter(drop: "a")) == [3, 1])
        #expect(try ids(JobFilter(state: .cancelled, drop: "a", batch: 1)) == [1])
        #expect(try ids(JobFilter(batch: 3)) == [3])
        #expect(try ids(JobFilter(drop: "' OR 1=1 --")) == [])
    }

    @Test(arguments: [0, 201, -1]) func `refuses a limit outside 1 to 200`(limit: Int) throws {
        let scene = try Scene()
        #expect(code { _ = try scene.store.jobs(JobFilter(), limit: limit) } == .badRequest)
        #expect(code { _ = try scene.store.assets(AssetFilter(), limit: limit) } == .badRequest)
        #expect(code { _ = try scene.store.batches(limit: limit) } == .badRequest)
    }

    @Test(arguments: ["", "x", "zz", "3", "61", "+1", "313233343536373839303132333435363738393031323334"])
    func `refuses a cursor it did not make`(cursor: String) throws {
        let scene = try Scene()
        #expect(code { _ = try scene.store.jobs(JobFilter(), limit: 5, after: cursor) } == .badRequest)
        #expect(code { _ = try scene.store.assets(AssetFilter(), limit: 5, after: cursor) } == .badRequest)
    }

    @Test func `pages assets by capture time and filters them`() throws {
        let scene = try Scene()
        try scene.enqueue((1...5).map { Scene.group(Scene.file("/card/\($0)")) })
        let times: [(Int, String)] = [(3, ""), (1, ""), (3, "5"), (2, ""), (0, "")]
        for (index, (day, subseconds)) in times.enumerated() {
            var facts = Facts()
            if day > 0 { facts.capturedAt = WallTime(year: 2026, month: 5, day: day, subseconds: subseconds) }
            facts.make = index == 0 ? "Canon" : nil
            facts.model = index == 0 ? "EOS R5" : index == 1 ? "iPhone 13 Pro" : nil
            facts.contentIdentifier = index == 1 ? "LIVE" : nil
            try scene.importNext(asset: "asset-\(index)", hash: UInt8(index), path: Path("\(index)"), facts: facts)
        }
        func ids(_ filter: AssetFilter) throws -> [String] {
            var found: [String] = []
            var cursor: String?
            repeat {
                let page = try scene.store.assets(filter, limit: 2, after: cursor)
                found += page.items.map(\.id)
                cursor = page.next
            } while cursor != nil
            return found
        }
        #expect(try ids(AssetFilter()) == ["asset-2", "asset-0", "asset-3", "asset-1", "asset-4"])
        let second = WallTime(year: 2026, month: 5, day: 2)
        #expect(try ids(AssetFilter(from: second)) == ["asset-2", "asset-0", "asset-3"])
        #expect(try ids(AssetFilter(to: second)) == ["asset-1"])
        #expect(try ids(AssetFilter(camera: "canon eos")) == ["asset-0"])
        #expect(try ids(AssetFilter(camera: "IPHONE")) == ["asset-1"])
        #expect(try ids(AssetFilter(camera: "%")) == [])
        #expect(try scene.store.assets(withContentIdentifier: "LIVE").map(\.id) == ["asset-1"])
    }

    @Test func `knows the batch to show and how far it is`() throws {
        let scene = try Scene()
        #expect(try scene.store.currentBatch(at: Scene.start) == nil)
        try scene.enqueue("/card/1", "/card/2")
        try scene.enqueue("/card/3", at: 60)
        #expect(try scene.store.currentBatch(at: Scene.at(60))?.id == 1)
        try scene.importNext(asset: "a", hash: 1, path: Path("1"))
        let claim = try #require(try scene.claim())
        let current = try #require(try scene.store.currentBatch(at: Scene.at(60)))
        #expect([Int(current.id), current.done, current.total, current.failed] == [1, 1, 2, 0])
        try scene.store.finish(
            claim, as: .failed, problem: Problem(.corrupt, "Bad."), asset: nil, disposition: .keep, at: Scene.start)
        #expect(try scene.store.currentBatch(at: Scene.at(60))?.id == 2)
        let batch = try #require(try scene.store.batch(1))
        #expect([batch.done, batch.total, batch.failed] == [2, 2, 1])
        let last = try #require(try scene.claim())
        try scene.store.finish(last, as: .skipped, problem: nil, asset: nil, disposition: .keep, at: Scene.start)
        #expect(try scene.store.currentBatch(at: Scene.at(61))?.id == 2)
        #expect(try scene.store.currentBatch(at: Scene.at(70)) == nil)
    }

    /// Page by page through a million rows: each page by an index in the order of the page, nothing sorted, no OFFSET.
    @Test(arguments: [
        JobFilter(), JobFilter(state: .failed), JobFilter(drop: "card"), JobFilter(batch: 1),
        JobFilter(state: .failed, drop: "card"),
    ]) func `finds a page by index`(filter: JobFilter) throws {
        let scene = try Scene()
        for cursor in [false, true] {
            let (sql, values) = Store.jobPage(filter, before: cursor ? 7 : nil)
            let steps = try scene.raw().with { connection in
                try connection.rows("EXPLAIN QUERY PLAN " + sql, values + [10]) { row throws(SQLiteError) in
                    try row.text(3)
                }
            }
            #expect(steps.count == 1, "\(steps)")
            #expect(cursor || filter != JobFilter() ? steps[0].hasPrefix("SEARCH") : steps[0] == "SCAN job", "\(steps)")
        }
    }

    @Test func `remembers settings, numbers and tombstones across a restart`() throws {
        let scene = try Scene()
        #expect(try scene.store.setting("library") == nil)
        try scene.store.set("library", to: "abc")
        try scene.store.set("library", to: "def")
        #expect(try (1...3).map { _ in try scene.store.takeNumber(of: "seq") } == [1, 2, 3])
        try scene.store.addTombstone(Scene.digest(9), asset: "a", path: Path("x"), at: Scene.start)
        let reopened = try Store(directory: scene.directory, log: { _ in }, now: Scene.start)
        #expect(try reopened.setting("library") == "def")
        #expect(try reopened.takeNumber(of: "seq") == 4)
        #expect(try reopened.isTombstoned(Scene.digest(9)))
        #expect(try !reopened.isTombstoned(Scene.digest(8)))
        try reopened.set("library", to: nil)
        #expect(try reopened.setting("library") == nil)
    }
}
