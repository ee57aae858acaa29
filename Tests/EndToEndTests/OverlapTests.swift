import ControlAPI
import Foundation
import TestSupport
import Testing

/// A drop folder that comes to lead into the library while the daemon runs: by a link that is turned, or a mount.
@Suite("The library in a drop folder", .tags(.neverLost, .saysWhatIsWrong)) struct OverlapTests {
    /// With the first import done, makes the drop path lead to `target` of the library, and looks that nothing goes.
    private func lead(afterImport: String, to target: String) async throws {
        let installation = try Installation(dropKeys: "after_import = \"\(afterImport)\"\nrescan_interval = \"1s\"")
        for number in 1...3 {
            try Samples.variant(number).write(to: installation.drop.appending(path: "IMG_\(number).JPG"))
        }
        try await installation.start()
        try await installation.waitUntilIdle()
        try await installation.wait(for: "the sources to go") {
            try installation.jobs().allSatisfy { $0.disposition.state != "pending" }
        }
        let before = try installation.visibleFiles()
        #expect(before.count == 3)
        let aside = installation.drop.deletingLastPathComponent().appending(path: "aside")
        try FileManager.default.moveItem(at: installation.drop, to: aside)
        try FileManager.default.createSymbolicLink(
            at: installation.drop, withDestinationURL: installation.library.appending(path: target))
        try await installation.wait(for: "the objection") {
            try installation.status().reasons.contains { $0.code == "E_OVERLAP" }
        }
        let status = try installation.status()
        #expect(status.state == "degraded")
        #expect(status.drops.first?.health == "degraded")
        #expect(try installation.jobs().count == 3)
        #expect(try installation.visibleFiles() == before)
        // Put right, it goes on by itself.
        try FileManager.default.removeItem(at: installation.drop)
        try FileManager.default.moveItem(at: aside, to: installation.drop)
        try Samples.variant(4).write(to: installation.drop.appending(path: "IMG_4.JPG"))
        try await installation.wait(for: "the fourth photo") { try installation.visibleFiles().count == 4 }
        #expect(installation.stop() == 0)
    }

    @Test(.timeLimit(.minutes(2)), arguments: ["delete", "move"])
    func `is not taken for sources when a link is turned to it`(afterImport: String) async throws {
        try await lead(afterImport: afterImport, to: "")
    }

    @Test(.timeLimit(.minutes(2)))
    func `is not taken for sources when a link is turned to a folder of it`() async throws {
        try await lead(afterImport: "delete", to: "2026")
    }

    @Test(.timeLimit(.minutes(2)))
    func `is not looked into below a drop folder, nor is another library`() async throws {
        let installation = try Installation(dropKeys: "after_import = \"delete\"")
        // A copy of a library, marker and all, as a backup brings it.
        let copy = installation.drop.appending(path: "backup")
        try FileManager.default.createDirectory(
            at: copy.appending(path: ".photospool"), withIntermediateDirectories: true)
        try Data("{}".utf8).write(to: copy.appending(path: ".photospool/library.json"))
        try Samples.variant(1).write(to: copy.appending(path: "IMG_1.JPG"))
        try Samples.variant(2).write(to: installation.drop.appending(path: "IMG_2.JPG"))
        try await installation.start()
        try await installation.waitUntilIdle()
        #expect(try installation.visibleFiles().count == 1)
        #expect(FileManager.default.fileExists(atPath: copy.path + "/IMG_1.JPG"))
        #expect(try installation.status().reasons.map(\.code) == ["E_OVERLAP"])
        #expect(installation.stop() == 0)
    }

    @Test(.timeLimit(.minutes(2)))
    func `keeps its original when that very file comes in by another name`() async throws {
        let installation = try Installation(dropKeys: "after_import = \"delete\"")
        try Samples.variant(1).write(to: installation.drop.appending(path: "IMG_1.JPG"))
        try await installation.start()
        try await installation.waitUntilIdle()
        let original = installation.library.appending(path: try #require(try installation.visibleFiles().first))
        let link = installation.drop.appending(path: "LINK.JPG")
        try FileManager.default.linkItem(at: original, to: link)
        try await installation.wait(for: "the disposition") {
            try installation.jobs().contains { $0.state == "duplicate" && $0.disposition.state == "kept" }
        }
        #expect(try installation.jobs().first { $0.state == "duplicate" }?.disposition.code == "E_DISPOSITION")
        #expect(FileManager.default.fileExists(atPath: link.path))
        #expect(FileManager.default.fileExists(atPath: original.path))
        #expect(installation.stop() == 0)
    }
}
