import ControlAPI
import Foundation
import HTTPClient
import TestSupport
import Testing

@Suite("A drop folder", .tags(.neverLost, .saysWhatIsWrong)) struct DropTests {
    @Test(.timeLimit(.minutes(2)))
    func `A17 that goes away takes its queued photos with it, loses none, and goes on when it is back`() async throws {
        let installation = try Installation()
        try await installation.start()
        #expect(try installation.post("/v1/pause").status == 200)
        for number in 1...3 {
            try Samples.variant(number).write(to: installation.drop.appending(path: "IMG_\(number).JPG"))
        }
        try await installation.wait(for: "the queue") { try installation.status().queue.queued == 3 }

        let away = installation.folder.url.appending(path: "away")
        try FileManager.default.moveItem(at: installation.drop, to: away)
        #expect(try installation.post("/v1/resume").status == 200)
        try await installation.wait(for: "the daemon to notice") {
            installation.logText.contains("A card or share is away")
        }
        // Nothing to do but wait for somebody to bring the folder back.
        try await installation.wait(for: "idle") { try installation.status().idle }
        var status = try installation.status()
        #expect(status.queue.queued == 3)
        #expect(status.queue.retrying == 3)
        #expect(status.queue.vanished == 0)
        #expect(status.drops.map(\.health) == ["waiting"])
        #expect(try installation.jobs().allSatisfy { $0.attempts == 0 })

        try FileManager.default.moveItem(at: away, to: installation.drop)
        try await installation.wait(for: "the imports") { try installation.status().queue.imported == 3 }
        status = try installation.status()
        #expect(status.queue.queued == 0)
        #expect(try installation.jobs().count == 3)
        #expect(installation.stop() == 0)
    }

    @Test(.timeLimit(.minutes(2)))
    func `J06 whose files were removed before their turn ends their jobs as vanished, once each`() async throws {
        let installation = try Installation()
        try await installation.start()
        _ = try installation.post("/v1/pause")
        for number in 1...10 {
            try Samples.variant(number).write(to: installation.drop.appending(path: "IMG_\(number).JPG"))
        }
        try await installation.wait(for: "the queue") { try installation.status().queue.queued == 10 }
        for number in 1...6 {
            try FileManager.default.removeItem(at: installation.drop.appending(path: "IMG_\(number).JPG"))
        }
        _ = try installation.post("/v1/resume")
        try await installation.waitUntilIdle()
        let status = try installation.status()
        #expect(status.queue.imported == 4)
        #expect(status.queue.vanished == 6)
        #expect(try installation.jobs("&state=vanished").allSatisfy { $0.error?.code == "E_SOURCE_VANISHED" })
        installation.stop()
    }

    @Test(.timeLimit(.minutes(2)))
    func `that everybody may write to is named in the status when its sources are to be deleted`() async throws {
        let installation = try Installation(dropKeys: "after_import = \"delete\"")
        try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: installation.drop.path)
        try await installation.start()
        try await installation.wait(for: "the warning") {
            try installation.status().reasons.contains { $0.code == "W_DROP_OPEN" }
        }
        installation.stop()
    }

    @Test(.timeLimit(.minutes(2)))
    func `stays paused over a restart, and imports nothing meanwhile`() async throws {
        let installation = try Installation()
        try await installation.start()
        _ = try installation.post("/v1/pause")
        installation.stop()
        try installation.place(Samples.photo, as: "IMG_0001.JPG")
        try await installation.start()
        try await installation.wait(for: "the queue") { try installation.status().queue.queued == 1 }
        #expect(try installation.status().state == "paused")
        #expect(try installation.visibleFiles().isEmpty)
        _ = try installation.post("/v1/resume")
        try await installation.waitUntilIdle()
        #expect(try installation.visibleFiles().count == 1)
        installation.stop()
    }

    @Test(.timeLimit(.minutes(2)))
    func `keeps its old rules when the configuration it is reloaded from is faulty, and takes good ones`() async throws
    {
        let installation = try Installation()
        try await installation.start()
        let good = try String(contentsOf: installation.configuration, encoding: .utf8)
        try (good + "\n[nonsense]\n").write(to: installation.configuration, atomically: true, encoding: .utf8)
        let refused = try installation.post("/v1/reload")
        #expect(refused.status == 422)
        #expect(String(decoding: refused.body, as: UTF8.self).contains("nonsense"))
        try installation.place(Samples.photo, as: "IMG_0001.JPG")
        try await installation.waitUntilIdle()
        #expect(try installation.visibleFiles() == ["2026/2026-05-17/IMG_0001.JPG"])

        try good.replacing("name = \"test\"", with: "name = \"test\"\ntemplate = \"{drop}/{stem}{ext}\"").write(
            to: installation.configuration, atomically: true, encoding: .utf8)
        #expect(try installation.post("/v1/reload").status == 200)
        try Samples.variant(2).write(to: installation.drop.appending(path: "IMG_0002.JPG"))
        try await installation.wait(for: "the second photo") { try installation.status().queue.imported == 2 }
        #expect(try installation.visibleFiles() == ["2026/2026-05-17/IMG_0001.JPG", "test/IMG_0002.JPG"])
        installation.stop()
    }
}
