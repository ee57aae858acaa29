import ControlAPI
import Foundation
import TestSupport
import Testing

/// What was done is not done again, and what failed is not remembered as done.
@Suite("An import that goes on", .tags(.neverLost, .exactlyOnce)) struct GoingOnTests {
    private func stored(_ installation: Installation) throws -> Set<Data> {
        Set(
            try installation.visibleFiles().map { try Data(contentsOf: installation.library.appending(path: $0)) })
    }

    @Test(.timeLimit(.minutes(3)), arguments: ["make", "rename"])
    func `H07 takes up the six that could not be filed, and only them`(call: String) async throws {
        guard try Faults.arePossible(for: "H07 photos that cannot be filed") else { return }
        // Each photo in a folder of its own, so that one of them can refuse.
        let installation = try Installation(libraryKeys: "template = \"{stem}/{stem}{ext}\"")
        let photos = try (1...9).map { try Samples.variant($0) }
        for (number, photo) in photos.enumerated() {
            try photo.write(to: installation.drop.appending(path: "IMG_\(number).JPG"))
        }
        let folders = (0..<6).map { installation.library.appending(path: "IMG_\($0)").path }
        let rule = "\(call):EACCES:1+@\(folders.joined(separator: ","))"
        #expect(try installation.runOnce(environment: try Faults.environment([rule])) == 75)
        #expect(try stored(installation) == Set(photos[6...]))
        #expect(try installation.stagedEntries().isEmpty)

        try await installation.start()
        _ = try installation.post("/v1/retry")
        try await installation.wait(for: "the six") { try installation.status().queue.imported == 9 }
        #expect(try stored(installation) == Set(photos))
        #expect(try installation.visibleFiles().count == 9)
        // Once tried and once more for the six, once for the others.
        #expect(try installation.jobs().map(\.attempts).sorted() == [1, 1, 1, 2, 2, 2, 2, 2, 2])
        #expect(installation.stop() == 0)
    }

    @Test(.timeLimit(.minutes(5)), .tags(.stopsAnywhere))
    func `I10 reads after a kill in its middle what was not imported, and nothing else`() async throws {
        guard try Faults.arePossible(for: "I10 a kill at the hundredth of two hundred photos") else { return }
        let installation = try Installation(more: "[import]\nworkers = 2")
        let count = 200
        for number in 1...count {
            try Samples.small(number).write(to: installation.drop.appending(path: "IMG_\(number).JPG"))
        }
        // Two renames a photo: its preview's and its own.
        try installation.launch(
            environment: try Faults.environment(["rename:KILL:\(count)@\(installation.library.path)"]))
        try await installation.wait(for: "the kill") { installation.daemon?.isRunning == false }
        installation.kill()
        let database = installation.state.path + "/spool.db"
        let asked = try Programs.run(
            "/usr/bin/sqlite3",
            [database, "SELECT CAST(path AS TEXT) FROM job JOIN job_file ON id = job_id WHERE state = 'imported'"])
        let done = Set(asked.output.split(separator: "\n").map(String.init))
        #expect((90...100).contains(done.count), "\(done.count)")

        let trace = installation.folder.url.appending(path: "trace")
        try await installation.start(environment: try Faults.environment(trace: trace, root: installation.drop))
        try await installation.wait(for: "the rest") { try installation.status().queue.imported == count }
        try await installation.waitUntilIdle()
        #expect(installation.stop() == 0)
        #expect(try installation.visibleFiles().count == count)
        let read = Set(
            try String(contentsOf: trace, encoding: .utf8).split(separator: "\n")
                .filter { $0.hasPrefix("read ok ") }.map { String($0.dropFirst("read ok ".count)) })
        #expect(read.isDisjoint(with: done))
        // What stood in the library already when the kill came, and was only to be recorded, is not read again either.
        #expect(read.count <= count - done.count)
        // Of each lane one at most.
        #expect(read.count >= count - done.count - 4)
    }

    @Test(.timeLimit(.minutes(2)), .tags(.harmsNobody))
    func `J04 goes to another decoder when one is stopped, and is committed once when that wakes`() async throws {
        let installation = try Installation(more: "[import]\nworkers = 1\ndeadline = \"1s\"")
        try Samples.variant(1).write(to: installation.drop.appending(path: "IMG_1.JPG"))
        try await installation.start()
        try await installation.wait(for: "the first photo") { try installation.status().queue.imported == 1 }
        let daemon = try #require(installation.daemon).processIdentifier
        let children =
            try String(contentsOf: URL(filePath: "/proc/\(daemon)/task/\(daemon)/children"), encoding: .utf8)
            + FileManager.default.contentsOfDirectory(atPath: "/proc/\(daemon)/task").map {
                try String(contentsOf: URL(filePath: "/proc/\(daemon)/task/\($0)/children"), encoding: .utf8)
            }.joined()
        let decoders = Set(children.split(separator: " ").compactMap { pid_t($0) })
        // That of photos, and that of videos where it is installed.
        #expect((1...2).contains(decoders.count))
        for decoder in decoders { #expect(kill(decoder, SIGSTOP) == 0) }
        try Samples.variant(2).write(to: installation.drop.appending(path: "IMG_2.JPG"))
        try await installation.wait(for: "the second photo") { try installation.status().queue.imported == 2 }
        for decoder in decoders { kill(decoder, SIGCONT) }
        try await installation.waitUntilIdle()
        #expect(try installation.assets().map(\.preview.state) == ["ok", "ok"])
        #expect(try installation.assets().map(\.dateSource) == ["exif_original", "exif_original"])
        #expect(try installation.visibleFiles().count == 2)
        #expect(try installation.jobs().map(\.attempts) == [1, 1])
        #expect(installation.logText.contains("somebody stopped it"))
        #expect(installation.stop() == 0)
    }
}
