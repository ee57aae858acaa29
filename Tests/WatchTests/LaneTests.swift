import Files
import Glibc
import PhotoModel
import Synchronization
import Testing

@testable import Watch

private func mount(_ type: String, at point: Path) throws -> Mount {
    try #require(Mount(line: "36 35 0:5 / \(point.shown) rw - \(type) server:/x rw".utf8))
}

@Suite("Places that may not answer") struct RemotePlacesTests {
    @Test func `are found above, below, and through links, without touching them`() throws {
        let base = Path("/tmp") / "remote-\(lowercaseHex(randomBytes(8)))"
        try make(base)
        defer { try? Folder(opening: base.parent).removeTree(base.name) }
        try make(base / "local")
        try make(base / "share")
        try link(base / "direct", to: base / "share")
        try link(base / "relative", to: Path("share/photos"))
        try link(base / "up", to: Path("local/../share"))
        try link(base / "round", to: base / "round")
        let places = RemotePlaces([try mount("nfs4", at: base / "share")])
        for name in ["share", "share/photos", "direct", "direct/a/b", "relative", "up", "./share", ""] {
            #expect(places.areTouched(by: base / name), "\(name)")
        }
        for name in ["local", "shared", "local/share", "round"] {
            #expect(!places.areTouched(by: base / name), "\(name)")
        }
        // What was mounted over it later counts.
        let over = RemotePlaces([try mount("nfs4", at: base / "share"), try mount("ext4", at: base / "share")])
        #expect(!over.areTouched(by: base / "share"))
        #expect(RemotePlaces([try mount("virtiofs", at: Path("/"))]).areTouched(by: base / "local"))
    }
}

@Suite("A drop folder that does not answer", .timeLimit(.minutes(1))) struct LaneTests {
    /// Two drop folders, of which the second lies on a share that hangs when told to.
    @Test func `T13 keeps nobody else waiting, is reported, and goes on when it answers`() async throws {
        let hangs = Mutex(false)
        let other = Path("/tmp") / "share-\(lowercaseHex(randomBytes(8)))"
        try make(other)
        defer { try? Folder(opening: other.parent).removeTree(other.name) }
        let share = try mount("nfs4", at: other)
        let queue = Queue()
        var door = queue.door
        let areKnown = door.areKnown
        door.areKnown = { (drop, filesystem, files) throws(Problem) in
            while drop == "share", hangs.withLock({ $0 }) { usleep(2_000) }  // as a thread in the kernel does
            return try areKnown(drop, filesystem, files)
        }
        let local = Path("/tmp") / "local-\(lowercaseHex(randomBytes(8)))"
        try make(local)
        defer { try? Folder(opening: local.parent).removeTree(local.name) }
        let drops = [("local", local), ("share", other)].map { name, path in
            var drop = DropFolder(name: name, path: path)
            drop.settle = .milliseconds(60)
            drop.groupWait = .milliseconds(60)
            return drop
        }
        var tuning = Scene.quick()
        tuning.silence = .seconds(2)
        let watcher = Watcher(
            drops: drops, ownFolder: nil, door: door, tuning: tuning,
            remotePlaces: { RemotePlaces([share]) })
        let thread = WatcherThread(watcher)
        defer {
            hangs.withLock { $0 = false }
            watcher.stop()
            thread.join()
        }
        func until(_ what: String, _ holds: () -> Bool) async throws {
            let end = Moment.now + .seconds(20)
            while !holds() {
                guard Moment.now < end else { throw TimedOut(what: what, seen: "\(queue.names) \(watcher.health)") }
                await queue.somethingHappens()
            }
        }
        try await until("first scans") { watcher.health.allSatisfy(\.hasFinishedFirstScan) }
        hangs.withLock { $0 = true }
        try write("photo", to: other / "IMG_1.jpg")
        try await until("silence") { watcher.health[1].isSilent }
        #expect(watcher.health.map(\.health) == [.ok, .degraded])
        #expect(watcher.health[1].reasons.map(\.code) == [.sourceIO])
        let mark = watcher.progressMark
        try write("photo", to: local / "IMG_2.jpg")
        try await until("the local photo") { queue.names == ["IMG_2.jpg"] }
        #expect(watcher.progressMark > mark)
        try await until("the line that says so") { queue.lines(with: "does not answer") == 1 }
        hangs.withLock { $0 = false }
        try await until("the other photo") { queue.names.sorted() == ["IMG_1.jpg", "IMG_2.jpg"] }
        try await until("an answer") { !watcher.health[1].isSilent && watcher.health[1].health == .ok }
        try await until("the line that it answers") { queue.lines(with: "answers again") == 1 }
        // No longer on a share: the shared thread takes it over, and what came meanwhile is found.
        watcher.replaceDrops(Array(drops.dropLast()))
        try await until("one folder") { watcher.health.count == 1 }
        try write("photo", to: other / "IMG_3.jpg")
        watcher.replaceDrops(drops)
        try await until("the last photo") { queue.names.contains("IMG_3.jpg") }
        #expect(queue.names.count == 3)
    }
}
