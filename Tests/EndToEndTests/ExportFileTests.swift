import ControlAPI
import Foundation
import HTTPClient
import TestSupport
import Testing

/// What an export says of a damaged original, and the file that the client makes of it; curl and stat are the witnesses.
@Suite("A file that was exported", .tags(.neverPartial, .saysWhatIsWrong)) struct ExportFileTests {
    /// With an umask of its own; the words are the test's, so need no quoting.
    private func client(_ installation: Installation, umask: String = "022", _ words: String...) throws
        -> Programs.Outcome
    {
        try Programs.run(
            "/bin/sh",
            ["-c", "umask \(umask); exec \"$0\" \"$@\"", Programs.path("photospool"), "--socket", installation.socket]
                + words)
    }

    private func mode(_ file: String) throws -> String {
        try Programs.run("/usr/bin/env", ["stat", "-c", "%a", file]).output.trimmingCharacters(in: .newlines)
    }

    @Test(.timeLimit(.minutes(2)))
    func `says of a truncated photo that it shows a part, and of a whole one that it shows all`() async throws {
        guard let corpus = try Corpus.find(for: "an export of a truncated photo") else { return }
        let installation = try Installation()
        // As the manifest has it: partial decode.
        for name in ["synthetic/truncated-50.jpg", "broken/truncated.png", "jpeg/aarhus.jpg"] {
            let original = corpus.appending(path: name)
            try installation.place(original, as: original.lastPathComponent)
        }
        try await installation.start()
        try await installation.waitUntilIdle()
        let folder = try TemporaryFolder()
        let assets = try installation.assets()
        #expect(assets.count == 3)
        for asset in assets {
            let isWhole = asset.resources[0].path.hasSuffix("aarhus.jpg")
            #expect(asset.preview.state == (isWhole ? "ok" : "partial"))
            let heads = try Programs.run(
                "/usr/bin/env",
                [
                    "curl", "-s", "-o", "/dev/null", "-D", "-", "--unix-socket", installation.socket,
                    "http://localhost/v1/assets/\(asset.id)/export?format=png&max_size=200",
                ]
            ).output
            #expect(heads.contains("Photospool-Picture: \(isWhole ? "whole" : "partial")\r\n"), "\(heads)")
            for flags in [[], ["--quiet"], ["--json"]] {
                let file = folder.path + "/\(asset.id)\(flags.joined()).jpg"
                let outcome = try Programs.run(
                    Programs.path("photospool"),
                    ["--socket", installation.socket, "export", asset.id, "-o", file] + flags)
                #expect(outcome.status == 0)
                #expect(outcome.errors.contains("shows only a part of the picture") == !isWhole, "\(outcome.errors)")
                #expect(!outcome.output.contains("part of the picture"))
                #expect(FileManager.default.fileExists(atPath: file))
            }
        }
        #expect(installation.stop() == 0)
    }

    @Test(.timeLimit(.minutes(2)))
    func `has the mode that umask leaves, and takes a name only where it may`() async throws {
        let installation = try Installation()
        try installation.place(Samples.turned, as: "IMG_0001.JPG")
        try await installation.start()
        try await installation.waitUntilIdle()
        let asset = try #require(try installation.assets().first)
        let folder = try TemporaryFolder()
        for (umask, mode) in [("022", "644"), ("077", "600"), ("002", "664"), ("000", "666")] {
            let file = folder.path + "/\(umask).jpg"
            let outcome = try client(installation, umask: umask, "export", asset.id, "-o", file, "--max-size", "64")
            #expect(outcome.status == 0, "\(outcome.errors)")
            #expect(try self.mode(file) == mode)
        }
        let mine = folder.path + "/mine.jpg"
        let link = folder.path + "/link.jpg"
        try Data("mine".utf8).write(to: URL(filePath: mine))
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: mine)
        let refused = try client(installation, "export", asset.id, "-o", link)
        #expect(refused.status == 1 && refused.errors.contains("E_CONFLICT"))
        #expect(try client(installation, "export", asset.id, "-o", link, "--force", "--max-size", "64").status == 0)
        // The link gave way, not the file behind it.
        #expect(try String(contentsOfFile: mine, encoding: .utf8) == "mine")
        #expect(try Data(contentsOf: URL(filePath: link)).starts(with: [0xFF, 0xD8]))
        #expect(try client(installation, "export", asset.id, "-o", mine, "-f", "--max-size", "64").status == 0)
        #expect(try Data(contentsOf: URL(filePath: mine)).starts(with: [0xFF, 0xD8]))
        // A refusal takes nothing away, and nothing half-done stays.
        let before = try Data(contentsOf: URL(filePath: mine))
        #expect(try client(installation, "export", asset.id, "-o", mine, "-f", "--max-bytes", "100").status == 1)
        #expect(try Data(contentsOf: URL(filePath: mine)) == before)
        #expect(try client(installation, "export", asset.id, "-o", folder.path, "-f", "--max-size", "64").status == 1)
        let left = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        #expect(left == ["000.jpg", "002.jpg", "022.jpg", "077.jpg", "link.jpg", "mine.jpg"])
        #expect(installation.stop() == 0)
    }

    @Test(.timeLimit(.minutes(3)))
    func `is a video's frame, a Live Photo's photo, and of what has no picture a code`() async throws {
        guard let corpus = try Corpus.find(for: "exports of videos") else { return }
        let installation = try Installation()
        let names = [
            "synthetic/rotated.mp4", "synthetic/LIVE_0001.HEIC", "synthetic/LIVE_0001.MOV", "heic/eco_kde_gray.avci",
        ]
        for name in names {
            let original = corpus.appending(path: name)
            try installation.place(original, as: original.lastPathComponent)
        }
        try await installation.start()
        try await installation.waitUntilIdle()
        let folder = try TemporaryFolder()
        let assets = try installation.assets()
        #expect(assets.count == 3)
        for asset in assets {
            for format in ["jpeg", "png", "heic"] {
                let file = folder.path + "/\(asset.id).\(format)"
                let outcome = try client(installation, "export", asset.id, "--format", format, "-o", file)
                let isPictureless = asset.resources.contains { $0.path.hasSuffix(".avci") }
                #expect(outcome.status == (isPictureless ? 1 : 0), "\(asset.resources[0].path): \(outcome.errors)")
                guard !isPictureless else {
                    #expect(asset.preview.path == nil && outcome.errors.contains("E_UNSUPPORTED"), "\(outcome.errors)")
                    let reply = try installation.request(.get, "/v1/assets/\(asset.id)/export?format=\(format)")
                    #expect(reply.status == 422 && reply.mediaType == "application/problem+json")
                    continue
                }
                let tags = try Programs.run(
                    "/usr/bin/env", ["exiftool", "-s3", "-FileType", "-ImageWidth", "-ImageHeight", file])
                // As exiftool has them of the originals, the first turned by 270 degrees.
                let isVideo = asset.resources.count == 1
                let size = isVideo ? ["96", "160"] : ["192", "128"]
                #expect(tags.output.split(separator: "\n").map(String.init) == [format.uppercased()] + size)
            }
        }
        #expect(installation.stop() == 0)
    }
}
