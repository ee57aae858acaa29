import ControlAPI
import Foundation
import TestSupport
import Testing

@Suite("A drop folder on a share", .tags(.neverLost, .exactlyOnce, .saysWhatIsWrong)) struct EventlessTests {
    /// A daemon with two drop folders: `test` is a share, `local` is none.
    private struct Scene {
        let local: TemporaryFolder
        let installation: Installation
        let share: Eventless

        init(keys: String = "") async throws {
            local = try TemporaryFolder()
            installation = try Installation(
                dropKeys: "poll_interval = \"1s\"\n\(keys)",
                more: """
                    [[drop]]
                    name = "local"
                    path = "\(local.path)"
                    settle = "100ms"
                    group_wait = "200ms"
                    """)
            share = try await Eventless(installation.folder.url.appending(path: "back"), at: installation.drop)
            try await installation.start()
        }
    }

    private func stored(_ installation: Installation) throws -> [Data] {
        try installation.visibleFiles().map { try Data(contentsOf: installation.library.appending(path: $0)) }
    }

    @Test(.timeLimit(.minutes(2)))
    func `A12 R12 is polled, says so, and misses nothing that is written on the server`() async throws {
        guard try Eventless.isPossible(for: "A12 a filesystem that tells of nothing") else { return }
        let scene = try await Scene()
        let (installation, share) = (scene.installation, scene.share)
        defer { share.end() }
        try await installation.wait(for: "the first scan") { try installation.status().idle }
        let clock = ContinuousClock()
        let first = clock.now
        try Samples.variant(1).write(to: share.back.appending(path: "IMG_1.JPG"))
        let deep = share.back.appending(path: "DCIM/100CANON")
        try FileManager.default.createDirectory(at: deep, withIntermediateDirectories: true)
        try Samples.variant(2).write(to: deep.appending(path: "IMG_2.JPG"))
        // One whose second half comes late: the wait starts anew.
        let late = try Samples.variant(3)
        try late[..<50_000].write(to: share.back.appending(path: "IMG_3.JPG"))
        try await installation.wait(for: "all three to be seen") {
            try installation.status().drops.first { $0.name == "test" }?.candidates == 3
        }
        let handle = try FileHandle(forWritingTo: share.back.appending(path: "IMG_3.JPG"))
        try handle.seekToEnd()
        try handle.write(contentsOf: late[50_000...])
        try handle.close()
        let last = clock.now

        try await installation.wait(for: "two photos") { try installation.status().queue.imported >= 2 }
        // Settle is ten seconds where nobody can tell of a writer; poll_interval is one; the rest is the machine's.
        #expect(clock.now - first >= .seconds(10))
        #expect(clock.now - first <= .seconds(10 + 1 + 5))
        try await installation.wait(for: "the third") { try installation.status().queue.imported == 3 }
        #expect(clock.now - last >= .seconds(10))
        #expect(clock.now - last <= .seconds(10 + 1 + 5))
        #expect(Set(try stored(installation)) == [try Samples.variant(1), try Samples.variant(2), late])

        let status = try installation.status()
        let drop = try #require(status.drops.first { $0.name == "test" })
        #expect(drop.mode == "poll")
        #expect(drop.watches == 0)
        #expect(drop.health == "ok")
        #expect(status.reasons.map(\.code) == ["W_LEASE_UNKNOWN"])
        #expect(status.drops.first { $0.name == "local" }?.mode == "inotify")
        try await installation.waitUntilIdle()
        #expect(try installation.jobs().count == 3)
        #expect(installation.stop() == 0)
    }

    @Test(.timeLimit(.minutes(2)))
    func `A12 that is to be watched, whose events do not come, is noticed by a rescan and polled`() async throws {
        guard try Eventless.isPossible(for: "A12 a share that is watched all the same") else { return }
        let scene = try await Scene(keys: "watch = \"inotify\"\nrescan_interval = \"2s\"")
        let (installation, share) = (scene.installation, scene.share)
        defer { share.end() }
        func drop() throws -> DropBody? { try installation.status().drops.first { $0.name == "test" } }
        try await installation.wait(for: "the first scan") { try drop()?.health == "ok" && drop()?.watches == 1 }
        #expect(try drop()?.mode == "inotify")
        try Samples.variant(1).write(to: share.back.appending(path: "IMG_1.JPG"))
        try await installation.wait(for: "the deafness") { try drop()?.mode == "poll" }
        #expect(try drop()?.health == "degraded")
        #expect(try drop()?.reasons.map(\.code).contains("W_WATCH_LIMIT") == true)
        #expect(installation.logText.contains("A file appeared and no event told of it"))
        try await installation.wait(for: "the photo") { try installation.status().queue.imported == 1 }
        // The folder beside it hears as well as ever.
        #expect(try installation.status().drops.first { $0.name == "local" }?.mode == "inotify")
        try Samples.variant(2).write(to: scene.local.url.appending(path: "IMG_2.JPG"))
        try await installation.wait(for: "the local photo") { try installation.status().queue.imported == 2 }
        #expect(try installation.status().drops.first { $0.name == "local" }?.mode == "inotify")
        #expect(installation.stop() == 0)
    }

    @Test(.timeLimit(.minutes(3)))
    func `T13 takes up where it was after its server died and came back`() async throws {
        guard try Eventless.isPossible(for: "T13 a share whose server dies") else { return }
        let scene = try await Scene()
        let (installation, share) = (scene.installation, scene.share)
        defer { share.end() }
        try Samples.variant(1).write(to: share.back.appending(path: "IMG_1.JPG"))
        try await installation.wait(for: "the first photo") { try installation.status().queue.imported == 1 }
        share.die()
        try await installation.wait(for: "the trouble to be said") {
            try installation.status().drops.first { $0.name == "test" }?.health != "ok"
        }
        // Only itself: the folder beside it goes on.
        try Samples.variant(2).write(to: scene.local.url.appending(path: "IMG_2.JPG"))
        try await installation.wait(for: "the local photo") { try installation.status().queue.imported == 2 }
        try Samples.variant(3).write(to: share.back.appending(path: "IMG_3.JPG"))
        try await share.mountAgain()
        try await installation.wait(for: "the third photo") { try installation.status().queue.imported == 3 }
        try await installation.waitUntilIdle()
        #expect(try stored(installation).count == 3)
        #expect(try installation.assets().count == 3)
        #expect(try installation.status().drops.map(\.health) == ["ok", "ok"])
        #expect(try installation.status().state == "running")
        #expect(installation.stop() == 0)
    }

    @Test(.timeLimit(.minutes(3)))
    func `T13 that hangs holds up nobody but itself, and goes on when its server does`() async throws {
        guard try Eventless.isPossible(for: "T13 a share that hangs") else { return }
        let scene = try await Scene()
        let (installation, share) = (scene.installation, scene.share)
        defer { share.end() }
        try await installation.wait(for: "the first scan") { try installation.status().idle }
        try Samples.variant(1).write(to: share.back.appending(path: "IMG_1.JPG"))
        share.hang()
        // Before the end of two polls, every call on the share waits.
        try await Task.sleep(for: .seconds(2))
        try Samples.variant(2).write(to: scene.local.url.appending(path: "IMG_2.JPG"))
        try await installation.wait(for: "the local photo") { try installation.status().queue.imported == 1 }
        try await installation.wait(for: "the silence to be said") {
            let status = try installation.status()
            return status.drops.first { $0.name == "test" }?.reasons.map(\.code).contains("E_SOURCE_IO") == true
                && status.drops.first { $0.name == "local" }?.health == "ok"
        }
        share.goOn()
        try await installation.wait(for: "the photo on the share") { try installation.status().queue.imported == 2 }
        try await installation.waitUntilIdle()
        #expect(try stored(installation).count == 2)
        #expect(installation.stop() == 0)
    }
}
