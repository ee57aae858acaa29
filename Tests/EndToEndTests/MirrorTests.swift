import ControlAPI
import Foundation
import HTTPClient
import TestSupport
import Testing

@Suite("A mirror", .tags(.neverLost)) struct MirrorTests {
    @Test(.timeLimit(.minutes(2)))
    func `gets every original, byte for byte, with its time and mode, and the journal`() async throws {
        let scene = try Mirrored()
        let installation = scene.installation
        try scene.drop(1...4)
        try installation.place(Samples.heic, as: "live/IMG_0100.HEIC")
        try Data("<x:xmpmeta xmlns:x=\"adobe:ns:meta/\"></x:xmpmeta>".utf8).write(
            to: installation.drop.appending(path: "IMG_1.xmp"))
        try await installation.start()
        try await scene.waitUntilEven()
        try scene.expectSame(6)
        let status = try installation.status()
        #expect(status.state == "running")
        #expect(status.mirror?.path == scene.mirror.path)
        #expect((status.mirror?.freeBytes ?? 0) > 0)
        // A late member comes by itself.
        try Samples.raw(at: "2026:05:17 09:04:31", number: 2).write(
            to: installation.drop.appending(path: "IMG_2.DNG"))
        try await installation.wait(for: "the raw") { try installation.status().queue.imported == 6 }
        try await scene.waitUntilEven()
        try scene.expectSame(7)
        #expect(installation.stop() == 0)
        // The journal as a whole, by cmp(1), once a run has ended in peace.
        #expect(try installation.runOnce() == 0)
        let journal = ".photospool/journal"
        for name in try FileManager.default.contentsOfDirectory(
            atPath: installation.library.appending(path: journal).path)
        {
            let pair = [installation.library, scene.mirror].map { $0.appending(path: "\(journal)/\(name)").path }
            #expect(try Programs.run("/usr/bin/env", ["cmp"] + pair).status == 0)
        }
    }

    @Test(.timeLimit(.minutes(3)), .tags(.saysWhatIsWrong), arguments: ["delete", "move"])
    func `that is away degrades, stops no import, holds sources, and catches up`(afterImport: String) async throws {
        let scene = try Mirrored(dropKeys: "after_import = \"\(afterImport)\"")
        let installation = scene.installation
        func sources() throws -> [String] {
            try installation.files(below: installation.drop).filter { !$0.hasPrefix(".") }
        }
        try scene.drop([1])
        try await installation.start()
        try await installation.wait(for: "the first source") { try sources().isEmpty }
        try scene.expectSame(1)

        let away = installation.folder.url.appending(path: "away")
        try scene.move(scene.mirror, to: away)
        try scene.drop(2...4)
        try await installation.wait(for: "the imports") { try installation.status().queue.imported == 4 }
        let reason = try await scene.waitForReason("E_LIBRARY_OFFLINE")
        try await installation.waitUntilIdle()
        #expect(reason.detail.contains(scene.mirror.path))
        let status = try installation.status()
        #expect(status.state == "degraded")
        #expect(status.mirror?.behind == 3)
        #expect(status.mirror?.freeBytes == nil)
        #expect(try await scene.waitForReason("E_LIBRARY_OFFLINE").detail.contains("3 files behind"))
        #expect(try installation.request(.get, "/readyz").status == 200)
        #expect(try sources() == ["IMG_2.JPG", "IMG_3.JPG", "IMG_4.JPG"])
        #expect(try installation.jobs().map(\.disposition.state).filter { $0 == "pending" }.count == 3)
        // A duplicate of something that is not there yet waits as well; one of something that is does not.
        try Samples.variant(2).write(to: installation.drop.appending(path: "TWO.JPG"))
        try Samples.variant(1).write(to: installation.drop.appending(path: "ONE.JPG"))
        try await installation.wait(for: "the duplicates") { try installation.status().queue.duplicate == 2 }
        try await installation.wait(for: "the duplicate's source") { try !sources().contains("ONE.JPG") }
        // Nor does a restart bring anything about.
        installation.stop()
        try await installation.start()
        _ = try await scene.waitForReason("E_LIBRARY_OFFLINE")
        try await installation.waitUntilIdle()
        #expect(try sources() == ["IMG_2.JPG", "IMG_3.JPG", "IMG_4.JPG", "TWO.JPG"])

        try scene.move(away, to: scene.mirror)
        try await installation.wait(for: "the sources") { try sources().isEmpty }
        try scene.expectSame(4)
        #expect(try installation.status().state == "running")
        #expect(try installation.status().mirror?.behind == 0)
        #expect(installation.stop() == 0)
    }

    @Test(.timeLimit(.minutes(2)), .tags(.saysWhatIsWrong))
    func `is not made of the bare mount point of a known one`() async throws {
        let scene = try Mirrored()
        let installation = scene.installation
        try scene.drop([1])
        try await installation.start()
        try await scene.waitUntilEven()
        let disk = installation.folder.url.appending(path: "disk")
        try scene.move(scene.mirror, to: disk)
        try FileManager.default.createDirectory(at: scene.mirror, withIntermediateDirectories: true)
        try scene.drop([2])
        try await installation.wait(for: "the import") { try installation.status().queue.imported == 2 }
        let reason = try await scene.waitForReason("E_MARKER")
        #expect(reason.recovery.contains("photospool init --mirror"))
        try await installation.waitUntilIdle()
        #expect(try scene.everything(below: scene.mirror) == [])
        installation.stop()
        try await installation.start()
        _ = try await scene.waitForReason("E_MARKER")
        #expect(try scene.everything(below: scene.mirror) == [])
        try FileManager.default.removeItem(at: scene.mirror)
        try scene.move(disk, to: scene.mirror)
        try await scene.waitUntilEven()
        try scene.expectSame(2)
        #expect(installation.stop() == 0)
    }

    @Test(.timeLimit(.minutes(2)), .tags(.saysWhatIsWrong))
    func `is not made of the mount point of a disk that has never been there, but of the disk`() async throws {
        let scene = try Mirrored(dropKeys: "after_import = \"delete\"", isThere: false)
        let installation = scene.installation
        try FileManager.default.createDirectory(at: scene.mirror, withIntermediateDirectories: true)
        try scene.drop([1, 2])
        try await installation.start()
        try await installation.wait(for: "the imports") { try installation.status().queue.imported == 2 }
        #expect(try await scene.waitForReason("E_MARKER").recovery.contains("photospool init --mirror"))
        try await installation.waitUntilIdle()
        #expect(try scene.everything(below: scene.mirror) == [])
        #expect(try installation.files(below: installation.drop).count == 2)
        guard try Mount.isPossible(for: "a mirror that is a disk") else {
            // A person may say so.
            try scene.make()
            return try await scene.waitUntilEven()
        }
        let disk = try Mount(at: scene.mirror, bytes: 64 << 20)
        try await scene.waitUntilEven()
        try scene.expectSame(2)
        #expect(installation.logText.contains("An empty disk was made the mirror of the library."))
        try await installation.wait(for: "the sources") { try installation.files(below: installation.drop).isEmpty }
        #expect(installation.stop() == 0)
        try disk.end()
        #expect(try scene.everything(below: scene.mirror) == [])
    }

    @Test(.timeLimit(.minutes(2)), .tags(.saysWhatIsWrong))
    func `of another library is not written to`() async throws {
        let other = try Mirrored()
        #expect(try other.installation.runOnce() == 0)
        let scene = try Mirrored(isThere: false)
        try scene.move(other.mirror, to: scene.mirror)
        let before = try scene.everything(below: scene.mirror)
        try scene.drop([1])
        try await scene.installation.start()
        #expect(try await scene.waitForReason("E_MARKER").detail.contains("another library"))
        try await scene.installation.waitUntilIdle()
        #expect(try scene.everything(below: scene.mirror) == before)
        #expect(scene.installation.stop() == 0)
    }

    @Test(.timeLimit(.minutes(2)))
    func `that is configured later gets what the library holds already`() async throws {
        let scene = try Mirrored(isConfigured: false)
        let installation = scene.installation
        try scene.drop(1...8)
        try await installation.start()
        try await installation.waitUntilIdle()
        #expect(try installation.status().mirror == nil)
        try scene.configure("mirror = \"\(scene.mirror.path)\"")
        #expect(try installation.post("/v1/reload").status == 200)
        try await scene.waitUntilEven()
        try scene.expectSame(8)
        #expect(installation.stop() == 0)
    }
}
