import ControlAPI
import Foundation
import TestSupport
import Testing

/// The real daemon, decoder and socket, on the project's own pictures.
@Suite("An import, end to end") struct ImportTests {
    @Test(.timeLimit(.minutes(2)))
    func `puts each sample in its place, upright, once, and says what was wrong with the bad one`() async throws {
        let installation = try Installation()
        try await installation.start()
        for name in try FileManager.default.contentsOfDirectory(atPath: Samples.folder.path) {
            try installation.place(Samples.folder.appending(path: name), as: name)
        }
        try await installation.waitUntilIdle()

        // Which of the two equal files comes first is the queue's to decide.
        let files = try installation.visibleFiles().map { $0.replacing(" copy", with: "") }
        #expect(
            files == [
                "2026/2026-05-17/IMG_0001.JPG", "2026/2026-05-17/IMG_0002.JPG", "2026/2026-05-17/IMG_0003.HEIC",
                "2026/2026-05-18/Screenshot 2026-05-18 at 12.30.05.PNG",
            ])
        #expect(try installation.stagedEntries().isEmpty)
        let states = try installation.jobs().map(\.state).sorted()
        #expect(states == ["duplicate", "failed", "imported", "imported", "imported", "imported"])
        let failed = try #require(try installation.jobs("&state=failed").first)
        #expect(failed.error?.code == "E_CORRUPT")
        #expect(failed.error?.recovery.isEmpty == false)

        let assets = try installation.assets()
        let turned = try #require(assets.first { $0.resources[0].path.hasSuffix("IMG_0002.JPG") })
        // exiftool: stored 1067 x 1600, orientation 6; so 1600 x 1067 as shown, and 1200 x 800 at most 1200.
        #expect(turned.width == 1600)
        #expect(turned.height == 1067)
        #expect(turned.preview.width == 1200)
        #expect(turned.preview.height == 800)
        let photo = try #require(assets.first { $0.latitude != nil })
        #expect(photo.capturedAt == "2026-05-17T09:04:31.87")
        #expect(photo.capturedOffset == "+02:00")
        #expect(photo.dateSource == "exif_original")
        #expect(abs((photo.latitude ?? 0) - 47.5596) < 1e-6)
        #expect(photo.make == "photospool")
        #expect(installation.stop() == 0)
    }

    @Test(.timeLimit(.minutes(2)), .tags(.untouched))
    func `H13 leaves the source as it was: bytes, times and attributes`() async throws {
        let installation = try Installation()
        try installation.place(Samples.photo, as: "IMG_0001.JPG")
        let source = installation.drop.appending(path: "IMG_0001.JPG").path
        func look() throws -> String {
            // Access, modification and status change time; none of them may move.
            try Programs.run("/usr/bin/stat", ["-c", "%i %s %x %y %z %a %U", source]).output
        }
        let before = try (look(), Data(contentsOf: Samples.photo))
        try await installation.start()
        try await installation.waitUntilIdle()
        let after = try look()
        #expect(try installation.assets().count == 1)
        #expect(after == before.0)
        #expect(try Data(contentsOf: URL(filePath: source)) == before.1)
        installation.stop()
    }

    @Test(.timeLimit(.minutes(2)), .tags(.neverOverwritten))
    func `G02 keeps both of two different photos of one name, with the right bytes`() async throws {
        let installation = try Installation()
        let bytes = try [Samples.variant(1), Samples.variant(2)]
        for (number, data) in bytes.enumerated() {
            let folder = installation.drop.appending(path: "10\(number)ND")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            try data.write(to: folder.appending(path: "DSC_0001.JPG"))
        }
        try await installation.start()
        try await installation.waitUntilIdle()
        let files = try installation.visibleFiles()
        #expect(files.count == 2)
        let stored = try files.map { try Data(contentsOf: installation.library.appending(path: $0)) }
        #expect(Set(stored) == Set(bytes))
        installation.stop()
    }

    @Test(.timeLimit(.minutes(2)), .tags(.exactlyOnce))
    func `I07 records a byte-equal copy once as a duplicate, also over a restart`() async throws {
        let installation = try Installation()
        try installation.place(Samples.photo, as: "a/IMG_0001.JPG")
        try await installation.start()
        try await installation.waitUntilIdle()
        try installation.place(Samples.photo, as: "b/IMG_0001.JPG")
        try await installation.waitUntilIdle()
        installation.stop()
        try await installation.start()
        try await installation.waitUntilIdle()
        #expect(try installation.jobs().map(\.state).sorted() == ["duplicate", "imported"])
        #expect(try installation.visibleFiles().count == 1)
        installation.stop()
    }

    @Test(.timeLimit(.minutes(2)), .tags(.exactlyOnce))
    func `I13 imports nothing anew when permissions change`() async throws {
        let installation = try Installation()
        try installation.place(Samples.photo, as: "IMG_0001.JPG")
        try await installation.start()
        try await installation.waitUntilIdle()
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o600], ofItemAtPath: installation.drop.appending(path: "IMG_0001.JPG").path)
        _ = try installation.post("/v1/rescan")
        try await installation.waitUntilIdle()
        #expect(try installation.jobs().count == 1)
        installation.stop()
    }

    @Test(.timeLimit(.minutes(2)), .tags(.harmsNobody))
    func `D05 imports the other nineteen when the third of twenty is garbage`() async throws {
        let installation = try Installation()
        for number in 1...20 {
            let data =
                number == 3 ? Data((0..<5000).map { UInt8(truncatingIfNeeded: $0 &* 37) }) : try Samples.variant(number)
            try data.write(to: installation.drop.appending(path: "IMG_\(100 + number).JPG"))
        }
        try await installation.start()
        try await installation.waitUntilIdle()
        #expect(try installation.status().queue.imported == 19)
        #expect(try installation.status().queue.failed == 1)
        #expect(try installation.visibleFiles().count == 19)
        installation.stop()
    }

    @Test(.timeLimit(.minutes(2)))
    func `G19 keeps the modification time to the nanosecond`() async throws {
        let installation = try Installation()
        try installation.place(Samples.photo, as: "IMG_0001.JPG")
        let source = installation.drop.appending(path: "IMG_0001.JPG").path
        _ = try Programs.run("/usr/bin/touch", ["-d", "2019-03-04 05:06:07.123456789 UTC", source])
        try await installation.start()
        try await installation.waitUntilIdle()
        let stored = installation.library.appending(path: "2026/2026-05-17/IMG_0001.JPG").path
        let times = try Programs.run("/usr/bin/stat", ["-c", "%Y %y", stored]).output
        #expect(times.contains("1551675967"))
        #expect(times.contains(".123456789"))
        installation.stop()
    }

    @Test(.timeLimit(.minutes(2)))
    func `G09 imports a name that is not UTF-8 and answers in valid UTF-8`() async throws {
        let installation = try Installation()
        let name = Array("/IMG_".utf8) + [0xF1] + Array(".JPG".utf8) + [0]
        let path = Array(installation.drop.path.utf8) + name
        let data = try Data(contentsOf: Samples.photo)
        let descriptor = unsafe path.withUnsafeBufferPointer { bytes in
            unsafe bytes.withMemoryRebound(to: CChar.self) { unsafe open($0.baseAddress!, O_WRONLY | O_CREAT, 0o644) }
        }
        try #require(descriptor >= 0)
        try FileHandle(fileDescriptor: descriptor, closeOnDealloc: true).write(contentsOf: data)
        try await installation.start()
        try await installation.waitUntilIdle()
        let job = try #require(try installation.jobs().first)
        #expect(job.state == "imported")
        #expect(job.files[0].path.contains("\u{FFFD}"))
        #expect(job.files[0].pathBytes == Data(path.dropLast()).base64EncodedString())
        installation.stop()
    }

    @Test(.timeLimit(.minutes(2)), .tags(.exactlyOnce))
    func `I09 imports a file once, without a failure, that is touched in every way at once`() async throws {
        let installation = try Installation(more: "[import]\nworkers = 4")
        try await installation.start()
        try await installation.waitUntilIdle()
        let url = installation.drop.appending(path: "IMG_0001.JPG")
        let photo = try Samples.variant(1)
        let script = """
            import os, sys
            path, data = sys.argv[1], sys.stdin.buffer.read()
            for round in range(40):
                with open(path, 'wb') as file:
                    for at in range(0, len(data), 30_000): file.write(data[at:at + 30_000]); file.flush()
                os.chmod(path, 0o600 + round % 2 * 0o44); os.utime(path)
                open(path, 'ab').close(); open(path, 'rb').read()
                os.rename(path, path + '.bak.JPG'); os.rename(path + '.bak.JPG', path)
            """
        let data = installation.folder.url.appending(path: "photo")
        try photo.write(to: data)
        let burst = try Programs.run(
            "/bin/sh", ["-c", "exec python3 -c \"$0\" \"$1\" < \"$2\"", script, url.path, data.path])
        #expect(burst.status == 0, "\(burst.errors)")
        try await installation.wait(for: "the import") { try installation.status().queue.imported == 1 }
        try await installation.waitUntilIdle()
        let jobs = try installation.jobs()
        #expect(jobs.map(\.state) == ["imported"])
        #expect(jobs.map(\.attempts) == [1])
        #expect(try Data(contentsOf: installation.library.appending(path: "2026/2026-05-17/IMG_0001.JPG")) == photo)
        #expect(try installation.visibleFiles().count == 1)
        #expect(!installation.logText.contains("E_"))
        installation.stop()
    }

    @Test(.timeLimit(.minutes(2)), .tags(.neverLost))
    func `I14 takes a source whose orientation was rewritten in its place for a new photo, and shows it so`()
        async throws
    {
        let installation = try Installation()
        let url = installation.drop.appending(path: "IMG_0001.JPG")
        try installation.place(Samples.photo, as: "IMG_0001.JPG")
        try await installation.start()
        try await installation.wait(for: "the import") { try installation.status().queue.imported == 1 }
        let turned = try Programs.run(
            "/usr/bin/env", ["exiftool", "-q", "-n", "-Orientation=6", "-overwrite_original_in_place", url.path])
        #expect(turned.status == 0, "\(turned.errors)")
        try await installation.wait(for: "the new version") { try installation.status().queue.imported == 2 }
        try await installation.waitUntilIdle()
        // The rule of docs/operations.md: other bytes are another photo; what was imported stays as it was.
        let stored = installation.library.appending(path: "2026/2026-05-17")
        #expect(try Data(contentsOf: stored.appending(path: "IMG_0001.JPG")) == Data(contentsOf: Samples.photo))
        #expect(try Data(contentsOf: stored.appending(path: "IMG_0001_1.JPG")) == Data(contentsOf: url))
        let previews = try installation.files(below: installation.library.appending(path: ".photospool/previews"))
        let said = try Programs.run(
            "/usr/bin/env",
            ["identify", "-format", "%wx%h "]
                + previews.map { installation.library.appending(path: ".photospool/previews/\($0)").path })
        // 1600 x 1067 to 1200: 800.25 to nearest.
        #expect(Set(said.output.split(separator: " ")) == ["1200x800", "800x1200"])
        installation.stop()
    }

    @Test(.timeLimit(.minutes(2)), .tags(.harmsNobody, .saysWhatIsWrong))
    func `J08 puts garbage aside with its reason when it comes first, and goes on at once`() async throws {
        let installation = try Installation(more: "[import]\nworkers = 1")
        try Data((0..<50_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }).write(
            to: installation.drop.appending(path: "A_0000.JPG"))
        for number in 1...5 {
            try Samples.variant(number).write(to: installation.drop.appending(path: "IMG_\(number).JPG"))
        }
        try await installation.start()
        try await installation.waitUntilIdle()
        let jobs = try installation.jobs().sorted { $0.sequence < $1.sequence }
        #expect(jobs.map(\.state) == ["failed"] + [String](repeating: "imported", count: 5))
        let reason = try #require(jobs.first?.error)
        #expect(reason.code == "E_CORRUPT" && !reason.transient)
        #expect(!reason.title.isEmpty && !reason.recovery.isEmpty)
        #expect(jobs.first?.attempts == 1)
        #expect(FileManager.default.fileExists(atPath: installation.drop.appending(path: "A_0000.JPG").path))
        #expect(try installation.visibleFiles().count == 5)
        installation.stop()
    }
}
