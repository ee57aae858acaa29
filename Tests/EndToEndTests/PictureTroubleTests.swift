import ControlAPI
import Foundation
import TestSupport
import Testing

/// The real daemon, on pictures that are none, hang, are too large, too new, or not what they say.
@Suite("A picture that makes trouble", .tags(.harmsNobody, .neverLost, .saysWhatIsWrong)) struct PictureTroubleTests {
    @Test(.timeLimit(.minutes(2))) func `D01 that is empty waits, is then reported, and holds up nobody`() async throws
    {
        let installation = try Installation()
        try await installation.start()
        let empty = installation.drop.appending(path: "a.jpg")
        try Data().write(to: empty)
        for number in 1...3 {
            try Samples.small(number).write(to: installation.drop.appending(path: "b\(number).jpg"))
        }
        try await installation.wait(for: "the others") { try installation.status().queue.imported == 3 }
        // Half a minute without a byte has not gone by: it may still be coming.
        let jobs = try installation.jobs()
        #expect(jobs.allSatisfy { $0.state == "imported" } && jobs.count == 3, "\(jobs)")
        #expect(try installation.status().drops[0].candidates == 1)
        try await installation.wait(for: "the report") { try installation.status().queue.failed == 1 }
        let failed = try #require(try installation.jobs("&state=failed").first)
        #expect(failed.error?.code == "E_EMPTY" && failed.files[0].path == empty.path)
        try await installation.waitUntilIdle()
        #expect(try Data(contentsOf: empty).isEmpty)
        #expect(try installation.visibleFiles().count == 3 && installation.assets().count == 3)
        #expect(installation.stop() == 0)
    }

    @Test(.timeLimit(.minutes(2)))
    func `D03 cut at 60 % is imported as it is, its preview is said to be partial, and the next goes on`() async throws
    {
        let installation = try Installation()
        let whole = try Data(contentsOf: Samples.photo)
        let cut = whole.prefix(whole.count * 6 / 10)
        let url = installation.drop.appending(path: "IMG_1.JPG")
        try cut.write(to: url)
        // One that was touched a moment ago may still be arriving.
        _ = try Programs.run("/usr/bin/touch", ["-d", "2026-05-18", url.path])
        try Samples.small(2).write(to: installation.drop.appending(path: "IMG_2.JPG"))
        try await installation.start()
        try await installation.wait(for: "both") { try installation.status().queue.imported == 2 }
        let assets = try installation.assets()
        let asset = try #require(assets.first { $0.resources[0].path.hasSuffix("IMG_1.JPG") })
        #expect(asset.preview.state == "partial" && asset.preview.code == "E_TRUNCATED")
        #expect(asset.preview.width == 1200 && asset.preview.height == 800)
        let original = installation.library.appending(path: asset.resources[0].path)
        #expect(try Data(contentsOf: original) == cut)
        #expect(assets.first { $0.id != asset.id }?.preview.state == "ok")
        #expect(try Data(contentsOf: url) == cut)
        #expect(installation.stop() == 0)
    }

    /// 24 megapixels in a thousand scans more than a camera makes; some 100 kB.
    @Test(.timeLimit(.minutes(2))) func `D09 of a thousand scans is imported, told of, and holds up nobody`()
        async throws
    {
        let installation = try Installation(more: "[import]\nworkers = 1\n")
        let path = installation.folder.path + "/a.jpg"
        let made = try Programs.run(
            "/bin/sh",
            ["-c", "convert -size 6000x4000 xc:gray50 ppm:- | cjpeg -progressive -outfile \"$0\"", path])
        try #require(made.status == 0, "\(made.errors)")
        let jpeg = Array(try Data(contentsOf: URL(filePath: path)))
        let last = try #require(jpeg.indices.dropLast().last { jpeg[$0] == 0xff && jpeg[$0 + 1] == 0xda })
        var bomb = Array(jpeg.dropLast(2))
        for _ in 0..<1000 { bomb += jpeg[last..<jpeg.count - 2] }
        try Data(bomb + [0xff, 0xd9]).write(to: installation.drop.appending(path: "IMG_1.JPG"))
        for number in 2...4 {
            try Samples.small(number).write(to: installation.drop.appending(path: "IMG_\(number).JPG"))
        }
        try await installation.start()
        try await installation.wait(for: "all four") { try installation.status().queue.imported == 4 }
        let assets = try installation.assets()
        let asset = try #require(assets.first { $0.resources[0].path.hasSuffix("IMG_1.JPG") })
        #expect(asset.preview.state == "failed" && asset.preview.code == "E_TOO_LARGE")
        #expect(assets.count { $0.preview.state == "ok" } == 3)
        #expect(try installation.status().queue.failed == 0)
        #expect(installation.stop() == 0)
    }

    /// With a decoder in the place of the real one that never answers for one file. The service manager listens.
    @Test(.timeLimit(.minutes(2))) func `D06 whose decoder never returns ends at the deadline, and alone`() async throws
    {
        let installation = try Installation(more: "[import]\nworkers = 2\ndeadline = \"1s\"")
        let programs = installation.folder.url.appending(path: "programs")
        try FileManager.default.createDirectory(at: programs, withIntermediateDirectories: true)
        for (name, double) in [("photospoold", "photospoold"), ("photospool-decoder", "decoder-double")] {
            try FileManager.default.copyItem(
                at: URL(filePath: Programs.path(double)), to: programs.appending(path: name))
        }
        installation.program = programs.appending(path: "photospoold").path
        let manager = try ServiceManager(at: installation.folder.path + "/n")
        try Data("spin without end".utf8).write(to: installation.drop.appending(path: "IMG_1.JPG"))
        for number in 2...6 {
            try Data("answer \(number)".utf8).write(to: installation.drop.appending(path: "IMG_\(number).JPG"))
        }
        try await installation.start(environment: [
            "NOTIFY_SOCKET": installation.folder.path + "/n", "WATCHDOG_USEC": "2000000",
        ])
        try await installation.wait(for: "all six") {
            let queue = try installation.status().queue
            return queue.imported + queue.failed == 6
        }
        let previews = Dictionary(
            uniqueKeysWithValues: try installation.assets().map {
                ($0.resources[0].path.split(separator: "/").last.map(String.init) ?? "", $0.preview)
            })
        #expect(previews["IMG_1.JPG"]?.state == "failed" && previews["IMG_1.JPG"]?.code == "E_DECODE_TIMEOUT")
        for number in 2...6 { #expect(previews["IMG_\(number).JPG"]?.state == "ok") }
        #expect(try await manager.isPinged(within: 20))
        // Killed, not left to keep a core busy: none that is there has used a second of it since.
        let daemon = try #require(installation.daemon).processIdentifier
        let busy = try Programs.run(
            "/bin/sh", ["-c", "ps --ppid \(daemon) -o stat= | grep -c R || true"]
        ).output
        #expect(busy == "0\n")
        #expect(installation.stop() == 0)
    }

    @Test(.timeLimit(.minutes(2)))
    func `D12 of more pixels than the limit is imported, and says why it has no preview`()
        async throws
    {
        let installation = try Installation(more: "[preview]\nmax_pixels = \"1MP\"")
        try installation.place(Samples.photo, as: "IMG_1.JPG")
        try installation.place(Samples.heic, as: "IMG_2.HEIC")
        try await installation.start()
        try await installation.waitUntilIdle()
        let assets = try installation.assets()
        #expect(assets.count == 2 && assets.allSatisfy { $0.preview.state == "failed" })
        #expect(assets.allSatisfy { $0.preview.code == "E_TOO_LARGE" })
        #expect(try installation.status().queue.failed == 0)
        #expect(installation.stop() == 0)
    }

    /// A HEIC of a coding that no decoder here knows, and one that the decoder before this did not know.
    @Test(.timeLimit(.minutes(2))) func `E09 that is too new is imported, and its preview made by a later decoder`()
        async throws
    {
        let installation = try Installation()
        var bytes = Array(try Data(contentsOf: Samples.heic))
        // The kind of every picture inside: in infe, behind id and protection.
        for at in bytes.indices.dropLast(4) where bytes[at...].starts(with: "hvc1".utf8) {
            bytes[at] = UInt8(ascii: "z")
        }
        try Data(bytes).write(to: installation.drop.appending(path: "IMG_1.HEIC"))
        try installation.place(Samples.heic, as: "IMG_2.HEIC")
        try await installation.start()
        try await installation.waitUntilIdle()
        func preview(_ name: String) throws -> PreviewBody {
            try #require(try installation.assets().first { $0.resources[0].path.hasSuffix(name) }).preview
        }
        #expect(try preview("IMG_1.HEIC").state == "failed" && preview("IMG_1.HEIC").code == "E_UNSUPPORTED")
        #expect(try preview("IMG_2.HEIC").state == "ok")
        let original = try #require(try installation.visibleFiles().first { $0.hasSuffix("IMG_1.HEIC") })
        #expect(try Data(contentsOf: installation.library.appending(path: original)) == Data(bytes))
        #expect(installation.stop() == 0)
        let changes = """
            UPDATE setting SET value = 'another' WHERE key = 'decoder.version';
            UPDATE asset SET preview_state = 'failed', preview_code = 'E_UNSUPPORTED', preview_title = 'x',
                preview_recovery = 'y', preview_path = NULL WHERE preview_state = 'ok';
            """
        let changed = try Programs.run("/usr/bin/env", ["sqlite3", installation.state.path + "/spool.db", changes])
        #expect(changed.status == 0, "\(changed.errors)")
        try await installation.start()
        try await installation.wait(for: "the preview") { try preview("IMG_2.HEIC").state == "ok" }
        #expect(try preview("IMG_1.HEIC").state == "failed")
        #expect(installation.stop() == 0)
    }

    @Test(.timeLimit(.minutes(2)))
    func `E25 a JPEG named HEIC is shown by its content, keeps its name, and is told of`()
        async throws
    {
        let installation = try Installation()
        try installation.place(Samples.photo, as: "IMG_1.HEIC")
        try installation.place(Samples.heic, as: "IMG_2.HEIC")
        try await installation.start()
        try await installation.waitUntilIdle()
        let assets = try installation.assets()
        let asset = try #require(assets.first { $0.resources[0].path.hasSuffix("/IMG_1.HEIC") })
        #expect(asset.resources[0].mediaType == "image/jpeg" && assets.count == 2)
        #expect(asset.preview.state == "ok" && asset.preview.width == 1200 && asset.preview.height == 800)
        #expect(asset.capturedAt == "2026-05-17T09:04:31.87")
        let told = installation.logText.split(separator: "\n").filter { $0.contains("not what its name says") }
        #expect(told.count == 1 && told[0].contains("IMG_1.HEIC") && told[0].contains("image/jpeg"), "\(told)")
        #expect(installation.stop() == 0)
    }

    @Test(.timeLimit(.minutes(2))) func `E11 whose colour profile is damaged is imported, shown, and told of`()
        async throws
    {
        let installation = try Installation()
        var bytes = Array(try Data(contentsOf: Samples.photo))
        let profile = Array("ICC_PROFILE\0\u{1}\u{1}no profile at all".utf8)
        bytes.replaceSubrange(2..<2, with: [0xFF, 0xE2, 0, UInt8(profile.count + 2)] + profile)
        try Data(bytes).write(to: installation.drop.appending(path: "IMG_1.JPG"))
        try await installation.start()
        try await installation.waitUntilIdle()
        #expect(try installation.assets().map(\.preview.state) == ["ok"])
        let job = try #require(try installation.jobs().first)
        let line = installation.logText.split(separator: "\n").first { $0.contains("not quite sound") }
        #expect(line?.contains("the colour profile is damaged and was ignored") == true, "\(installation.logText)")
        #expect(line?.contains("JOB_ID=\(job.id)") == true && line?.contains("IMG_1.JPG") == true)
        #expect(installation.stop() == 0)
    }
}
