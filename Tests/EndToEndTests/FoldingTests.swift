import ControlAPI
import Foundation
import TestSupport
import Testing

/// A library on a disk that takes names for one that others keep apart. Nothing asks what the disk is called.
@Suite("A library that folds case", .tags(.neverOverwritten, .neverLost)) struct FoldingTests {
    /// Two cards' files that such a disk cannot hold under their own names: cases of photos, of sidecars of one photo, of
    /// folders, and of an accent that is one character or two.
    private func fill(_ installation: Installation) throws -> [Data] {
        let sidecar = { (text: String) in Data("<x:xmpmeta xmlns:x=\"adobe:ns:meta/\"/><!-- \(text) -->".utf8) }
        let files: [(String, Data)] = [
            ("IMG_1.JPG", try Samples.variant(1)), ("img_1.jpg", try Samples.variant(2)),
            ("IMG_2.JPG", try Samples.variant(3)), ("IMG_2.xmp", sidecar("one")), ("IMG_2.XMP", sidecar("other")),
            ("\u{E9}t\u{E9}.JPG", try Samples.variant(4)), ("e\u{301}te\u{301}.JPG", try Samples.variant(5)),
        ]
        for (name, data) in files {
            try data.write(to: URL(filePath: installation.drop.path + "/" + name))
        }
        return files.map(\.1)
    }

    private func check(_ installation: Installation, _ all: [Data], shots: Int) async throws {
        try await installation.start()
        try await installation.wait(for: "all of it") {
            let queue = try installation.status().queue
            return queue.imported + queue.failed == shots
        }
        try await installation.waitUntilIdle()
        #expect(try installation.jobs("&state=failed").map(\.error?.detail) == [])
        let paths = try installation.visibleFiles()
        let stored = try paths.map { try Data(contentsOf: installation.library.appending(path: $0)) }
        #expect(Set(stored) == Set(all) && stored.count == all.count, "\(paths)")
        #expect(try installation.stagedEntries().isEmpty)
        // The catalog knows each by a path that leads to it.
        for resource in try installation.assets().flatMap(\.resources) {
            let found = try Data(contentsOf: installation.library.appending(path: resource.path))
            #expect(try found == Data(contentsOf: URL(filePath: resource.sourcePath)), "\(resource.path)")
        }
        let verified = try Programs.run(
            Programs.path("photospool"), ["--socket", installation.socket, "verify"])
        #expect(verified.status == 0, "\(verified.output) \(verified.errors)")
        installation.stop()
    }

    @Test(.timeLimit(.minutes(2)))
    func `keeps all of what differs in case or accents only, each under a name of its own`() async throws {
        guard try Eventless.isPossible(for: "a library that folds case") else { return }
        let installation = try Installation()
        let all = try fill(installation)
        let disk = try await Eventless(
            installation.folder.url.appending(path: "back"), at: installation.library, foldsCase: true)
        defer { disk.end() }
        try "x".write(toFile: disk.back.path + "/probe", atomically: false, encoding: .utf8)
        try #require(FileManager.default.fileExists(atPath: installation.library.path + "/PROBE"))
        try FileManager.default.removeItem(atPath: disk.back.path + "/probe")
        try await check(installation, all, shots: 5)
    }

    @Test(.timeLimit(.minutes(2)), arguments: ["ext4", "vfat"])
    func `does so on a real disk`(type: String) async throws {
        guard try Mount.isPossible(for: "a disk that folds case") else { return }
        let installation = try Installation()
        let all = try fill(installation)
        guard let disk = try Mount.foldingDisk(type, at: installation.library, for: "a library that folds case")
        else { return }
        try await check(installation, all, shots: 5)
        try disk.end()
    }

    /// The second camera's folder is the first one's, by another way of writing it.
    @Test(.timeLimit(.minutes(2)))
    func `takes a folder that is written in two ways for one, and finds nothing foreign in it`() async throws {
        guard try Eventless.isPossible(for: "folders in a library that folds case") else { return }
        let installation = try Installation(libraryKeys: "template = \"{model}/{stem}{ext}\"")
        var all: [Data] = []
        for (number, model) in ["Eos 5", "EOS 5", "eos 5"].enumerated() {
            let stage = installation.folder.url.appending(path: "\(number).JPG")
            try Samples.variant(number).write(to: stage)
            let named = try Programs.run(
                "/usr/bin/env", ["exiftool", "-q", "-overwrite_original", "-Model=\(model)", stage.path])
            #expect(named.status == 0, "\(named.errors)")
            all.append(try Data(contentsOf: stage))
            try FileManager.default.copyItem(at: stage, to: installation.drop.appending(path: "IMG_\(number).JPG"))
        }
        let disk = try await Eventless(
            installation.folder.url.appending(path: "back"), at: installation.library, foldsCase: true)
        defer { disk.end() }
        try await check(installation, all, shots: 3)
        #expect(try FileManager.default.contentsOfDirectory(atPath: disk.back.path).count == 2)
    }

    @Test(.timeLimit(.minutes(2)))
    func `is known as such to a dry run`() async throws {
        guard try Eventless.isPossible(for: "a dry run for a library that folds case") else { return }
        let installation = try Installation()
        let all = try fill(installation)
        let slow = try String(contentsOf: installation.configuration, encoding: .utf8).replacing(
            "settle = \"100ms\"", with: "settle = \"1h\"")
        try slow.write(to: installation.configuration, atomically: true, encoding: .utf8)
        _ = try Programs.run(
            "/bin/sh", ["-c", "find \"$0\" -type f -exec touch -d '2026-05-01 12:00' {} +", installation.drop.path])
        let disk = try await Eventless(
            installation.folder.url.appending(path: "back"), at: installation.library, foldsCase: true)
        defer { disk.end() }
        try await installation.start()
        let outcome = try Programs.run(
            Programs.path("photospool"),
            ["--socket", installation.socket, "--json", "import", "-n", installation.drop.path])
        let body = try JSON.decode(ImportBody.self, from: Array(outcome.output.utf8))
        let foretold = body.groups.flatMap(\.files).compactMap(\.libraryPath)
        #expect(foretold.count == all.count)
        // By the rule of Unicode that such disks have.
        let python =
            "import sys, unicodedata as u; print(len({u.normalize('NFD', n).casefold() for n in sys.argv[1:]}))"
        let distinct = try Programs.run("/usr/bin/python3", ["-c", python] + foretold)
        #expect(distinct.output == "\(all.count)\n", "\(foretold)")
        installation.stop()
    }
}
