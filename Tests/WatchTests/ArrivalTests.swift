import Files
import Glibc
import PhotoModel
import Synchronization
import Testing

@testable import Watch

@Suite("Files that arrive", .timeLimit(.minutes(1))) struct ArrivalTests {
    @Test func `A01 are all found when events were lost, each once, and the loss is said once`() async throws {
        guard let queue = await ShortEventQueue() else {
            print("skipped: A01 overflow (needs root, to lower fs.inotify.max_queued_events)")
            return
        }
        let scene = try Scene()
        defer { scene.end() }
        try await scene.waitForFirstScan()  // the watcher has its queue by now
        queue.end()
        try make(scene.drop / "a")
        for number in 0..<500 { try write("photo \(number)", to: scene.drop / "a/IMG_\(number).jpg") }
        let files = try await scene.files(500)
        try await scene.fence()
        #expect(Set(files).count == 500)
        #expect(scene.queue.names.count == 500)
        #expect(scene.queue.lines(with: "Events were lost") == 1)
    }

    @Test func `A04 are found in a folder made an instant before`() async throws {
        let scene = try Scene()
        defer { scene.end() }
        try await scene.waitForFirstScan()
        for number in 0..<500 {
            try make(scene.drop / "\(number)")
            try write("photo", to: scene.drop / "\(number)/IMG_\(number).jpg")
        }
        let files = try await scene.files(500)
        try await scene.fence()
        #expect(Set(files).count == 500)
        #expect(scene.queue.names.count == 500)
        #expect(scene.health.watches == 501)
    }

    @Test func `A06 are found in a tree that was moved in`() async throws {
        let scene = try Scene()
        defer { scene.end() }
        try await scene.waitForFirstScan()
        let tree = scene.base / "tree"
        for folder in ["", "/b", "/b/c"] {
            try make(tree / folder)
            for number in 0..<10 { try write("photo", to: tree / "\(folder)/IMG\(folder.count)_\(number).jpg") }
        }
        try move(tree, to: scene.drop / "tree")
        let files = try await scene.files(30)
        try await scene.fence()
        #expect(Set(files).count == 30)
        #expect(scene.queue.names.count == 30)
        #expect(scene.queue.files.contains { $0.path == scene.drop / "tree/b/c/IMG4_3.jpg" })
    }

    @Test func `A08 are found in a folder that was removed and made again`() async throws {
        let scene = try Scene()
        defer { scene.end() }
        try await scene.waitForFirstScan()
        for number in 0..<50 {
            try make(scene.drop / "cam")
            try write("photo \(number)", to: scene.drop / "cam/IMG_\(number).jpg")
            _ = try await scene.files(number + 1)
            try remove(file: scene.drop / "cam/IMG_\(number).jpg")
            try remove(folder: scene.drop / "cam")
        }
        try await scene.until("one watch") { scene.health.watches == 1 }
        #expect(scene.queue.names.count == 50)
    }

    @Test func `A09 are found by polling where the limit of watches is used up`() async throws {
        var tuning = Scene.quick()
        tuning.watchLimit = 3
        let scene = try Scene(
            tuning: tuning,
            prepare: { drop in for number in 0..<10 { try make(drop / "\(number)") } })
        defer { scene.end() }
        try await scene.waitForFirstScan()
        #expect(scene.health.mode == "mixed")
        #expect(scene.health.health == .degraded)
        #expect(scene.health.watches == 3)
        let reason = scene.health.reasons.first { $0.code == .watchLimit }
        #expect(reason?.whatHappened.contains("fs.inotify.max_user_watches") == true)
        for number in 0..<10 { try write("photo", to: scene.drop / "\(number)/IMG_\(number).jpg") }
        #expect(try await scene.files(10).count == 10)
        #expect(scene.queue.lines(with: "cannot be watched") == 1)
    }

    @Test func `A14 are found when they came before the start`() async throws {
        let scene = try Scene(prepare: { drop in
            try make(drop / "a")
            for number in 0..<20 { try write("photo", to: drop / "a/IMG_\(number).jpg") }
        })
        defer { scene.end() }
        #expect(try await scene.files(20).count == 20)
    }

    @Test func `A17 wait while the drop folder is away, and known ones are not handed over again`() async throws {
        let scene = try Scene(isPresent: false)
        defer { scene.end() }
        try await scene.until("waiting") { scene.health.health == .waiting }
        try make(scene.drop)
        try write("photo", to: scene.drop / "IMG_1.jpg")
        _ = try await scene.files(1)
        try move(scene.drop, to: scene.base / "away")
        try await scene.until("waiting") { scene.health.health == .waiting }
        try write("photo 2", to: scene.base / "away/IMG_2.jpg")
        try move(scene.base / "away", to: scene.drop)
        #expect(try await scene.files(2) == ["IMG_1.jpg", "IMG_2.jpg"])
        try await scene.fence()
        #expect(scene.queue.names.count == 2)
    }

    @Test func `A20 are found once although links lead back to them`() async throws {
        let scene = try Scene(prepare: { drop in
            try make(drop / "a")
            try link(drop / "a/loop", to: drop)
            try link(drop / "one", to: drop / "two")
            try link(drop / "two", to: drop / "one")
            try write("photo", to: drop / "a/IMG_1.jpg")
            try link(drop / "IMG_2.jpg", to: drop / "a/IMG_1.jpg")
        })
        defer { scene.end() }
        _ = try await scene.files(1)
        // The same while it is watched.
        try link(scene.drop / "IMG_3.jpg", to: scene.drop / "a/IMG_1.jpg")
        try link(scene.drop / "up", to: scene.base)
        try make(scene.drop / "b")
        try link(scene.drop / "b/three", to: scene.drop / "a/four")
        try link(scene.drop / "a/four", to: scene.drop / "b/three")
        try await scene.until("a watch on the new folder") { scene.health.watches == 3 }
        try await scene.fence()
        #expect(scene.queue.names == ["IMG_1.jpg"])
        #expect(scene.health.watches == 3)
    }

    @Test func `are found by polling when asked for`() async throws {
        let scene = try Scene(settings: { $0.watch = .poll }, prepare: { try make($0 / "a") })
        defer { scene.end() }
        try await scene.waitForFirstScan()
        try write("photo", to: scene.drop / "a/IMG_1.jpg")
        try make(scene.drop / "b")
        try write("photo", to: scene.drop / "b/IMG_2.jpg")
        #expect(try await scene.files(2) == ["IMG_1.jpg", "IMG_2.jpg"])
        #expect(scene.health.mode == "poll")
        #expect(scene.health.watches == 0)
    }

    @Test func `are found in a folder that was renamed`() async throws {
        let scene = try Scene(prepare: { drop in
            try make(drop / "a")
            try make(drop / "a/b")
        })
        defer { scene.end() }
        try await scene.waitForFirstScan()
        try move(scene.drop / "a", to: scene.drop / "c")
        try write("photo", to: scene.drop / "c/b/IMG_1.jpg")
        _ = try await scene.files(1)
        #expect(scene.queue.files[0].path == scene.drop / "c/b/IMG_1.jpg")
        #expect(scene.health.watches == 3)
    }

    @Test func `are handed over in transactions of limited size, and again when the queue refused them`() async throws {
        var tuning = Scene.quick()
        tuning.batch = 7
        let scene = try Scene(tuning: tuning)
        defer { scene.end() }
        scene.queue.state.withLock { $0.problem = Problem(.stateIO, "The disk is full.") }
        for number in 0..<30 { try write("photo", to: scene.drop / "IMG_\(number).jpg") }
        try await scene.until("two refusals") { scene.queue.state.withLock { $0.calls.count } >= 2 }
        #expect(scene.queue.names.isEmpty)
        try await scene.until("a reason") { scene.health.reasons.contains { $0.code == .stateIO } }
        scene.queue.state.withLock { $0.problem = nil }
        #expect(try await scene.files(30).count == 30)
        try await scene.until("none left") { scene.health.candidates == 0 && scene.health.reasons.isEmpty }
        #expect(scene.queue.state.withLock { $0.calls.max() } == 7)
        #expect(scene.queue.lines(with: "The disk is full.") == 1)
    }

    @Test func `that are known cost one look-up at a rescan and are forgotten`() async throws {
        let scene = try Scene(prepare: { drop in
            for number in 0..<100 { try write("photo", to: drop / "IMG_\(number).jpg") }
        })
        defer { scene.end() }
        _ = try await scene.files(100)
        try await scene.until("idle") { scene.health.candidates == 0 }
        let before = scene.queue.state.withLock { $0.lookups }
        scene.rescan()
        try await scene.until("a rescan") { scene.queue.state.withLock { $0.lookups } >= before + 100 }
        try await scene.fence()
        // The fence itself is asked for by its event, and by the scan when that comes late.
        #expect(scene.queue.state.withLock { $0.lookups } <= before + 103)
        #expect(scene.health.candidates == 0)
        #expect(scene.queue.names.count == 100)
    }

    @Test func `settle anew when asked to, although they are known`() async throws {
        let scene = try Scene()
        defer { scene.end() }
        try write("photo", to: scene.drop / "IMG_1.jpg")
        _ = try await scene.files(1)
        scene.recheck(scene.drop / "IMG_1.jpg")
        #expect(try await scene.files(2) == ["IMG_1.jpg", "IMG_1.jpg"])
    }

    @Test func `are followed into drop folders that are configured later`() async throws {
        let scene = try Scene()
        defer { scene.end() }
        try await scene.waitForFirstScan()
        let other = scene.base / "other"
        try make(other)
        try write("photo", to: other / "IMG_9.jpg")
        var settings = DropFolder(name: "other", path: other)
        settings.settle = .milliseconds(60)
        settings.groupWait = .milliseconds(60)
        scene.replaceDrops([settings])
        #expect(try await scene.files(1) == ["IMG_9.jpg"])
        #expect(scene.queue.groups[0].drop == "other")
    }
}
