import ControlAPI
import Foundation
import HTTPClient
import TestSupport
import Testing

@Suite("A mirror through its life", .tags(.neverLost)) struct MirrorLifeTests {
    @Test(.timeLimit(.minutes(3)), arguments: [true, false])
    func `makes a library when the library is lost, with a new state or the old one`(isNewState: Bool) async throws {
        let scene = try Mirrored(dropKeys: "after_import = \"delete\"")
        let installation = scene.installation
        try scene.drop(1...5)
        try installation.place(Samples.heic, as: "IMG_0100.HEIC")
        #expect(try installation.runOnce() == 0)
        try await installation.start()
        try await scene.waitUntilEven()
        let before = try installation.assets().sorted { $0.id < $1.id }
        #expect(before.count == 6)
        let account = try scene.account(of: installation.library)
        installation.stop()

        try FileManager.default.removeItem(at: installation.library)
        if isNewState {
            try FileManager.default.removeItem(at: installation.state)
            try FileManager.default.createDirectory(at: installation.state, withIntermediateDirectories: true)
        }
        // As docs/recovery.md says.
        try scene.move(
            scene.mirror.appending(path: ".photospool/mirror.json"),
            to: scene.mirror.appending(path: ".photospool/library.json"))
        let text = try String(contentsOf: installation.configuration, encoding: .utf8)
        try text.replacing("mirror = \"\(scene.mirror.path)\"\n", with: "")
            .replacing("path = \"\(installation.library.path)\"", with: "path = \"\(scene.mirror.path)\"")
            .write(to: installation.configuration, atomically: true, encoding: .utf8)
        try await installation.start()
        if isNewState {
            _ = try await scene.waitForReason("E_STATE_STALE")
            let rebuilt = try await scene.perform(#"{"kind": "rebuild"}"#)
            #expect(rebuilt.state == "done" && rebuilt.findingsCount == 0)
        }
        try await installation.wait(for: "peace") { try installation.status().reasons.isEmpty }
        let after = try installation.assets().sorted { $0.id < $1.id }
        #expect(after.map(\.id) == before.map(\.id))
        #expect(after.map { $0.resources.map(\.sha256) } == before.map { $0.resources.map(\.sha256) })
        #expect(after.map { $0.resources.map(\.path) } == before.map { $0.resources.map(\.path) })
        #expect(try scene.account(of: scene.mirror) == account)
        #expect(try await scene.perform(#"{"kind": "verify"}"#).findingsCount == 0)
        // It goes on as a library.
        try scene.drop([7])
        try await installation.wait(for: "the next photo") { try scene.visible().count == 7 }
        #expect(installation.stop() == 0)
    }

    @Test(.timeLimit(.minutes(2)), .tags(.neverOverwritten, .saysWhatIsWrong))
    func `keeps its copy of the journal where the library's is another`() throws {
        let scene = try Mirrored()
        let installation = scene.installation
        try scene.drop([1])
        #expect(try installation.runOnce() == 0)
        let folder = scene.mirror.appending(path: ".photospool/journal")
        let name = try #require(try FileManager.default.contentsOfDirectory(atPath: folder.path).first)
        let original = installation.library.appending(path: ".photospool/journal/\(name)")
        let good = try Data(contentsOf: original)
        #expect(try Data(contentsOf: folder.appending(path: name)) == good)
        // A bit of the library's goes; what is added to it since is well.
        let handle = try FileHandle(forUpdating: original)
        try handle.seek(toOffset: UInt64(good.count / 2))
        try handle.write(contentsOf: Data([good[good.count / 2] ^ 1]))
        try handle.close()
        try scene.drop([2])
        #expect(try installation.runOnce() == 0)
        try scene.expectSame(2)
        #expect(try Data(contentsOf: folder.appending(path: name)) == good)
        #expect(installation.logText.contains("holds other lines than the library's journal"))
    }

    @Test(.timeLimit(.minutes(2)), .tags(.saysWhatIsWrong))
    func `is refused where it and the library or a drop folder lie inside each other`() async throws {
        let scene = try Mirrored(isConfigured: false)
        let installation = scene.installation
        try scene.drop([1])
        try await installation.start()
        try await installation.waitUntilIdle()
        let link = installation.folder.url.appending(path: "link")
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: installation.drop)
        let text = try String(contentsOf: installation.configuration, encoding: .utf8)
        for path in [
            installation.library.path, installation.library.path + "/second", installation.drop.path + "/second",
            installation.folder.path, link.path,
        ] {
            try text.write(to: installation.configuration, atomically: true, encoding: .utf8)
            try scene.configure("mirror = \"\(path)\"")
            let check = try Programs.run(
                Programs.path("photospoold"),
                ["--config", installation.configuration.path, "--state-dir", installation.state.path, "--check-config"])
            #expect(check.status == 78, "\(path)")
            #expect(check.errors.contains("E_OVERLAP"), "\(path)")
            #expect(try installation.post("/v1/reload").status != 200)
            #expect(try installation.status().mirror == nil)
        }
        #expect(installation.stop() == 0)
        #expect(try installation.runOnce() == 78)
    }

    @Test(.timeLimit(.minutes(2)))
    func `is not looked into as a drop folder`() async throws {
        let scene = try Mirrored(dropKeys: "after_import = \"delete\"")
        let installation = scene.installation
        let copy = installation.drop.appending(path: "second")
        try FileManager.default.createDirectory(
            at: copy.appending(path: ".photospool"), withIntermediateDirectories: true)
        try Data("{}".utf8).write(to: copy.appending(path: ".photospool/mirror.json"))
        try Samples.variant(1).write(to: copy.appending(path: "IMG_1.JPG"))
        try scene.drop([2])
        try await installation.start()
        try await scene.waitUntilEven()
        #expect(try installation.visibleFiles() == ["2026/2026-05-17/IMG_2.JPG"])
        #expect(FileManager.default.fileExists(atPath: copy.path + "/IMG_1.JPG"))
        // Nor is the mirror itself, when the drop folder comes to lead there.
        try await installation.wait(for: "the source") {
            try installation.files(below: installation.drop).filter { !$0.contains("/") }.isEmpty
        }
        let aside = installation.folder.url.appending(path: "aside")
        try scene.move(installation.drop, to: aside)
        try FileManager.default.createSymbolicLink(
            at: installation.drop, withDestinationURL: scene.mirror.appending(path: "2026"))
        _ = try await scene.waitForReason("E_OVERLAP")
        #expect(try scene.visible() == ["2026/2026-05-17/IMG_2.JPG"])
        #expect(installation.stop() == 0)
    }

    @Test(.timeLimit(.minutes(2)))
    func `that is behind makes --once end with 75, and one that is even with 0`() async throws {
        let scene = try Mirrored(dropKeys: "after_import = \"delete\"", isThere: false)
        let installation = scene.installation
        #expect(try installation.runOnce() == 0)  // nothing is owed
        try scene.drop(1...3)
        #expect(try installation.runOnce() == 75)
        #expect(try installation.visibleFiles().count == 3)
        #expect(try installation.files(below: installation.drop).count == 3)
        try scene.make()
        #expect(try installation.runOnce() == 0)
        try scene.expectSame(3)
        #expect(try installation.files(below: installation.drop).isEmpty)
        // A job that failed comes first.
        try scene.move(scene.mirror, to: installation.folder.url.appending(path: "away"))
        try scene.drop([4])
        try Samples.damaged().write(to: installation.drop.appending(path: "IMG_5.JPG"))
        #expect(try installation.runOnce() == 1)
    }

    @Test(.timeLimit(.minutes(2)), .tags(.saysWhatIsWrong))
    func `is verified alike, and gets again what it lacks`() async throws {
        let scene = try Mirrored()
        let installation = scene.installation
        try scene.drop(1...5)
        try await installation.start()
        try await scene.waitUntilEven()
        let order = #"{"kind": "verify", "arguments": {"mirror": "1"}}"#
        let clean = try await scene.perform(order)
        #expect(clean.state == "done" && clean.done == 5 && clean.total == 5 && clean.findingsCount == 0)
        let day = scene.mirror.appending(path: "2026/2026-05-17")
        var flipped = try Data(contentsOf: day.appending(path: "IMG_1.JPG"))
        flipped[1000] ^= 1
        try flipped.write(to: day.appending(path: "IMG_1.JPG"))
        try Data(try Samples.variant(2).prefix(100)).write(to: day.appending(path: "IMG_2.JPG"))
        try FileManager.default.removeItem(at: day.appending(path: "IMG_3.JPG"))
        try Data("x".utf8).write(to: day.appending(path: "stranger.jpg"))
        let found = try await scene.perform(order)
        let findings = (found.findings ?? []).map { "\($0.kind) \(($0.path ?? "").split(separator: "/").last ?? "")" }
        #expect(
            findings.sorted() == [
                "changed IMG_1.JPG", "foreign stranger.jpg", "missing IMG_3.JPG", "truncated IMG_2.JPG",
            ])
        // The library has nothing of it.
        #expect(try await scene.perform(#"{"kind": "verify"}"#).findingsCount == 0)
        try await installation.wait(for: "what was missing") {
            FileManager.default.fileExists(atPath: day.path + "/IMG_3.JPG")
        }
        _ = try await scene.waitForReason("E_CONFLICT")
        #expect(try Data(contentsOf: day.appending(path: "IMG_1.JPG")) == flipped)
        for name in ["IMG_1.JPG", "IMG_2.JPG", "stranger.jpg"] {
            try FileManager.default.removeItem(at: day.appending(path: name))
        }
        _ = try installation.post("/v1/reload")
        try await scene.waitUntilEven()
        try scene.expectSame(5)
        #expect(try await scene.perform(order).findingsCount == 0)
        #expect(installation.stop() == 0)
    }

    @Test(.timeLimit(.minutes(2)))
    func `may be another disk of the same library, which is brought up to date`() async throws {
        let scene = try Mirrored(dropKeys: "after_import = \"delete\"")
        let installation = scene.installation
        try scene.drop(1...3)
        try await installation.start()
        try await scene.waitUntilEven()
        let first = installation.folder.url.appending(path: "first")
        try scene.move(scene.mirror, to: first)
        try scene.make()
        try scene.drop([4])
        try await installation.wait(for: "the second disk") { try scene.visible().count == 4 }
        try await scene.waitUntilEven()
        try scene.expectSame(4)
        let second = installation.folder.url.appending(path: "second")
        try scene.move(scene.mirror, to: second)
        try scene.move(first, to: scene.mirror)
        try await installation.wait(for: "the first disk again") { try scene.visible().count == 4 }
        try await scene.waitUntilEven()
        try scene.expectSame(4)
        try await installation.wait(for: "the sources") {
            try installation.files(below: installation.drop).isEmpty
        }
        #expect(installation.stop() == 0)
    }
}
