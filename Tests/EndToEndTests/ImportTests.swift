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
}

extension Tag {
    /// Promises of the README, by their subject.
    @Tag static var neverLost: Self
    @Tag static var neverPartial: Self
    @Tag static var neverOverwritten: Self
    @Tag static var exactlyOnce: Self
    @Tag static var harmsNobody: Self
    @Tag static var saysWhatIsWrong: Self
    @Tag static var untouched: Self
    @Tag static var stopsAnywhere: Self
}
