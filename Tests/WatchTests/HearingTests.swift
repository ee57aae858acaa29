import Files
import Glibc
import PhotoModel
import Synchronization
import Testing

@testable import Watch

/// Lets a watcher become deaf while it runs.
private final class Ear: Sendable {
    private let lost = Mutex<Set<String>>([])
    private let isDeafForAll = Mutex(false)

    func stop() { isDeafForAll.withLock { $0 = true } }
    func recover() { isDeafForAll.withLock { $0 = false } }

    /// - Parameter hearsTests: loses the events of folders only.
    func tuning(hearsTests: Bool) -> WatchTuning {
        var tuning = Scene.quick()
        tuning.selfTestGap = .milliseconds(100)
        tuning.selfTestPatience = .milliseconds(100)
        tuning.loses = { [self] folder in
            if folder == nil && hearsTests { return false }
            return isDeafForAll.withLock { $0 }
        }
        return tuning
    }
}

@Suite("Events that do not arrive", .timeLimit(.minutes(1))) struct HearingTests {
    @Test func `A12 are noticed by the self-test: folders are polled, it is said once, and undone`() async throws {
        let ear = Ear()
        let scene = try Scene(tuning: ear.tuning(hearsTests: false), settings: { $0.rescanInterval = .seconds(3600) })
        defer { scene.end() }
        try await scene.waitForFirstScan()
        #expect(scene.health.mode == "inotify" && scene.health.health == .ok)
        ear.stop()
        try await scene.until("deafness") { scene.health.mode == "poll" }
        #expect(scene.health.health == .degraded)
        #expect(scene.health.reasons.map(\.code) == [.watchLimit])
        #expect(scene.health.watches == 0 && scene.health.polled == 1)
        try make(scene.drop / "a")
        try write("photo", to: scene.drop / "a/IMG_1.jpg")
        #expect(try await scene.files(1) == ["IMG_1.jpg"])
        #expect(scene.queue.lines(with: "The kernel does not tell of new files") == 1)
        ear.recover()
        try await scene.until("hearing") { scene.health.mode == "inotify" && scene.health.health == .ok }
        #expect(scene.health.watches == 2 && scene.health.polled == 0)
        try write("photo", to: scene.drop / "a/IMG_2.jpg")
        #expect(try await scene.files(2) == ["IMG_1.jpg", "IMG_2.jpg"])
    }

    @Test func `A12 of one filesystem are noticed by the photo that a rescan finds`() async throws {
        let ear = Ear()
        let scene = try Scene(
            tuning: ear.tuning(hearsTests: true), settings: { $0.rescanInterval = .milliseconds(300) })
        defer { scene.end() }
        try await scene.waitForFirstScan()
        try write("photo", to: scene.drop / "IMG_1.jpg")
        _ = try await scene.files(1)
        ear.stop()
        try write("photo", to: scene.drop / "IMG_2.jpg")
        #expect(try await scene.files(2) == ["IMG_1.jpg", "IMG_2.jpg"])
        try await scene.until("polling") { scene.health.mode == "poll" }
        #expect(scene.health.health == .degraded)
        #expect(scene.queue.lines(with: "A file appeared and no event told of it.") == 1)
        // Found by polling now: ten times as fast as by that rescan.
        try write("photo", to: scene.drop / "IMG_3.jpg")
        _ = try await scene.files(3)
        ear.recover()
        scene.rescan()
        try await scene.until("watching") { scene.health.mode == "inotify" && scene.health.health == .ok }
    }

    @Test func `are not believed lost because of files that no event could tell of`() async throws {
        var tuning = Scene.quick()
        tuning.selfTestGap = .milliseconds(50)
        let scene = try Scene(
            tuning: tuning, settings: { $0.rescanInterval = .milliseconds(50) },
            prepare: { drop in for number in 0..<50 { try write("photo", to: drop / "IMG_\(number).jpg") } })
        defer { scene.end() }
        _ = try await scene.files(50)
        // A new time without opening the file: no event, and another version that a rescan finds.
        for number in 0..<50 {
            let times = [
                timespec(tv_sec: 1_000_000_000 + number, tv_nsec: 0),
                timespec(tv_sec: 1_000_000_000 + number, tv_nsec: 0),
            ]
            try check(
                unsafe (scene.drop / "IMG_\(number).jpg").withCString { unsafe utimensat(AT_FDCWD, $0, times, 0) },
                "utimensat")
        }
        _ = try await scene.files(100)
        // Files that come all the while, with rescans in between.
        for number in 0..<300 { try write("photo", to: scene.drop / "NEW_\(number).jpg") }
        _ = try await scene.files(400)
        #expect(scene.health.mode == "inotify" && scene.health.health == .ok)
        #expect(scene.queue.lines(with: "no event told") == 0)
    }

    @Test func `are not believed lost when the queue overflowed`() async throws {
        guard let queue = await ShortEventQueue() else {
            print("skipped: the self-test beside an overflow (needs root, to lower fs.inotify.max_queued_events)")
            return
        }
        var tuning = Scene.quick()
        tuning.selfTestGap = .milliseconds(5)
        tuning.selfTestPatience = .milliseconds(50)
        let scene = try Scene(tuning: tuning)
        defer { scene.end() }
        try await scene.waitForFirstScan()  // the watcher has its queue by now
        queue.end()
        for round in 0..<20 {
            for number in 0..<100 { try write("photo", to: scene.drop / "IMG_\(round)_\(number).jpg") }
        }
        _ = try await scene.files(2000)
        #expect(scene.health.rescans > 0)
        #expect(scene.queue.lines(with: "The kernel does not tell") == 0)
        #expect(scene.health.mode == "inotify")
    }
}
