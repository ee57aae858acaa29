import ControlAPI
import Foundation
import TestSupport
import Testing

@Suite("A library that is not what it should be", .tags(.neverLost, .saysWhatIsWrong)) struct LibraryTests {
    @Test(.timeLimit(.minutes(2)))
    func `A18 is not written to while its marker is missing, and is used again once it is back`() async throws {
        let installation = try Installation()
        try installation.place(Samples.photo, as: "IMG_0001.JPG")
        try await installation.start()
        try await installation.waitUntilIdle()
        installation.stop()

        // The disk is not mounted: what is left is the bare mount point.
        let away = installation.folder.url.appending(path: "away")
        try FileManager.default.moveItem(at: installation.library, to: away)
        try FileManager.default.createDirectory(at: installation.library, withIntermediateDirectories: true)
        try Samples.variant(2).write(to: installation.drop.appending(path: "IMG_0002.JPG"))
        try await installation.start()
        try await installation.wait(for: "the outage") {
            try installation.status().reasons.contains { $0.code == "E_MARKER" }
        }
        try await installation.wait(for: "the photo to be queued") { try installation.status().queue.queued == 1 }
        #expect(try installation.status().state == "degraded")
        #expect(try installation.files(below: installation.library).isEmpty)

        try FileManager.default.removeItem(at: installation.library)
        try FileManager.default.moveItem(at: away, to: installation.library)
        try await installation.wait(for: "work to go on") { try installation.status().queue.imported == 2 }
        #expect(try installation.status().reasons.isEmpty)
        #expect(try installation.visibleFiles().count == 2)
        installation.stop()
    }

    @Test(.timeLimit(.minutes(2)))
    func `is refused when it belongs to another state`() async throws {
        let first = try Installation()
        try await first.start()
        first.stop()
        let second = try Installation()
        try await second.start()
        second.stop()
        try FileManager.default.removeItem(at: second.library)
        try FileManager.default.copyItem(at: first.library, to: second.library)
        try second.place(Samples.photo, as: "IMG_0001.JPG")
        try await second.start()
        try await second.wait(for: "the refusal") { try second.status().reasons.contains { $0.code == "E_MARKER" } }
        #expect(try second.visibleFiles().isEmpty)
        second.stop()
    }

    @Test(.timeLimit(.minutes(1)))
    func `H10 and its drop folder inside each other are refused at start, both ways and by a link`() throws {
        for (drop, library) in [("L/in", "L"), ("D", "D/lib"), ("link", "L")] {
            let folder = try TemporaryFolder()
            for name in ["L/in", "D/lib"] {
                try FileManager.default.createDirectory(
                    at: folder.url.appending(path: name), withIntermediateDirectories: true)
            }
            try FileManager.default.createSymbolicLink(
                at: folder.url.appending(path: "link"), withDestinationURL: folder.url.appending(path: "L/in"))
            let configuration = folder.url.appending(path: "c.toml")
            try """
            [library]
            path = "\(folder.path)/\(library)"
            [[drop]]
            name = "d"
            path = "\(folder.path)/\(drop)"
            after_import = "delete"
            """.write(to: configuration, atomically: true, encoding: .utf8)
            let outcome = try Programs.run(
                Programs.path("photospoold"), ["--config", configuration.path, "--state-dir", folder.path + "/state"])
            #expect(outcome.status == 78)
            #expect(outcome.errors.contains("E_OVERLAP"))
        }
    }

    @Test(.timeLimit(.minutes(1)))
    func `and every other fault of the configuration is named at once`() throws {
        let folder = try TemporaryFolder()
        let configuration = folder.url.appending(path: "c.toml")
        try """
        [library]
        path = "relative"
        tempalte = "{stem}{ext}"
        [[drop]]
        name = "d"
        path = "/srv/drop"
        settle = "soon"
        """.write(to: configuration, atomically: true, encoding: .utf8)
        let outcome = try Programs.run(
            Programs.path("photospoold"), ["--config", configuration.path, "--check-config"])
        #expect(outcome.status == 78)
        for line in ["c.toml:2:", "c.toml:3:", "c.toml:7:", "template"] { #expect(outcome.errors.contains(line)) }
    }
}
