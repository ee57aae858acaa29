import ControlAPI
import Foundation
import HTTPClient
import PhotoModel
import TestSupport
import Testing

@Suite("Renditions", .tags(.neverPartial, .stopsAnywhere)) struct RenditionTests {
    private static let thumb = "[[preview.rendition]]\nname = \"thumb\"\nmax_size = 200\ncrop = \"square\"\n"
    private static let grid = "[[preview.rendition]]\nname = \"grid\"\nmax_size = 640\n"

    private func order(_ installation: Installation, _ body: String) async throws -> OperationBody {
        let reply = try installation.post("/v1/operations", body: body)
        let id = try JSON.decode(OperationBody.self, from: reply.body).id
        try await installation.wait(for: "the operation") {
            try installation.get("/v1/operations/\(id)", as: OperationBody.self).isOver
        }
        return try installation.get("/v1/operations/\(id)?limit=200")
    }

    private func run(_ words: String...) throws -> String {
        let outcome = try Programs.run("/usr/bin/env", words)
        let complaint = outcome.errors
        try #require(outcome.status == 0, "\(words): \(complaint)")
        return outcome.output
    }

    private func previews(_ installation: Installation) throws -> [String] {
        try installation.files(below: installation.library.appending(path: ".photospool/previews"))
    }

    private func inode(_ installation: Installation, _ path: String) throws -> Int? {
        let file = installation.library.appending(path: path).path
        return try FileManager.default.attributesOfItem(atPath: file)[.systemFileNumber] as? Int
    }

    /// Where the preview is to stand there is a folder, which nothing replaces.
    @Test(.timeLimit(.minutes(2))) func `are taken back where the preview cannot be named, and made when it can`()
        async throws
    {
        let installation = try Installation(more: "[preview]\nmax_pixels = \"1MP\"\n" + Self.thumb + Self.grid)
        try installation.place(Samples.photo, as: "IMG_1.JPG")
        try await installation.start()
        try await installation.waitUntilIdle()
        let asset = try #require(try installation.assets().first)
        try #require(asset.preview.code == "E_TOO_LARGE" && asset.renditions.isEmpty)
        installation.stop()
        let text = try String(contentsOf: installation.configuration, encoding: .utf8)
        try text.replacing("max_pixels = \"1MP\"\n", with: "").write(
            to: installation.configuration, atomically: true, encoding: .utf8)
        let end = String(asset.id.suffix(2)) + "/" + asset.id
        let obstacle = installation.library.appending(path: ".photospool/previews/\(end).jpg")
        try FileManager.default.createDirectory(
            at: obstacle.appending(path: "in the way"), withIntermediateDirectories: true)
        try await installation.start()
        let failed = try await order(installation, #"{"kind": "previews"}"#)
        #expect(failed.state == "failed" || failed.findingsCount == 1, "\(failed)")
        #expect(try previews(installation) == [])
        #expect(try installation.assets().first?.preview.path == nil)
        #expect(try installation.stagedEntries().isEmpty)
        try FileManager.default.removeItem(at: obstacle)
        #expect(try await order(installation, #"{"kind": "previews"}"#).state == "done")
        #expect(try previews(installation) == [".grid.jpg", ".jpg", ".thumb.jpg"].map { end + $0 })
        #expect(try installation.assets().first?.preview.state == "ok")
        installation.stop()
    }

    /// A photo, one that lies on its side, and a HEIC. ImageMagick turns, crops and scales the originals by itself; a mean
    /// difference of 1.5 % is what two Lanczos filters and two JPEGs leave between them, and a crop that is off by a pixel in
    /// a hundred does not pass.
    @Test(.timeLimit(.minutes(2)))
    func `are made of the same decode, upright, of the right part, and are gone with the asset`() async throws {
        let installation = try Installation(more: "[preview]\n" + Self.thumb + Self.grid)
        let sources = [Samples.photo, Samples.turned, Samples.heic]
        for source in sources { try installation.place(source, as: source.lastPathComponent) }
        try await installation.start()
        try await installation.waitUntilIdle()
        let assets = try installation.assets()
        #expect(assets.count == 3)
        for asset in assets {
            let (width, height) = (try #require(asset.width), try #require(asset.height))
            let scale = 640.0 / Double(max(width, height))
            let (wide, high) = (Int((Double(width) * scale).rounded()), Int((Double(height) * scale).rounded()))
            #expect(asset.renditions.map(\.name) == ["thumb", "grid"])
            #expect(asset.renditions.map(\.width) == [200, wide])
            #expect(asset.renditions.map(\.height) == [200, high])
            for rendition in asset.renditions {
                let file = installation.library.appending(path: rendition.path).path
                #expect(
                    try run("identify", "-format", "%m %w %h", file) == "JPEG \(rendition.width) \(rendition.height)")
                let told = try run("exiftool", "-s", "-EXIF:all", "-XMP:all", "-GPS:all", "-MakerNotes:all", file)
                #expect(told.isEmpty, "\(told)")
            }
            guard !asset.resources[0].path.hasSuffix("HEIC") else { continue }  // this ImageMagick may know none
            let thumb = installation.library.appending(path: asset.renditions[0].path).path
            let original = installation.library.appending(path: asset.resources[0].path).path
            let compared = try Programs.run(
                "/usr/bin/env",
                [
                    "convert", original, "-auto-orient", "-gravity", "center", "-filter", "Lanczos", "-resize",
                    "200x200^", "-extent", "200x200", thumb, "-metric", "MAE", "-compare", "-format",
                    "%[distortion]", "info:",
                ])
            #expect(try #require(Double(compared.output)) < 0.015, "\(asset.resources[0].path): \(compared.errors)")
        }
        #expect(try previews(installation).count == 9)
        let gone = assets[0]
        #expect(try installation.request(.delete, "/v1/assets/\(gone.id)").status == 200)
        #expect(try previews(installation).count == 6)
        let trash = try installation.files(below: installation.library.appending(path: ".photospool/trash/\(gone.id)"))
        #expect(trash.filter { !$0.hasPrefix("originals/") } == ["grid.jpg", "preview.jpg", "thumb.jpg"])
        for kind in ["sweep", "verify"] {
            #expect(try await order(installation, #"{"kind": "\#(kind)"}"#).findings ?? [] == [])
        }
        #expect(try previews(installation).count == 6)
        #expect(installation.stop() == 0)
    }

    @Test(.timeLimit(.minutes(2)))
    func `that are configured later are made up for, and nothing else is touched`() async throws {
        let installation = try Installation()
        for source in [Samples.photo, Samples.turned] { try installation.place(source, as: source.lastPathComponent) }
        try await installation.start()
        try await installation.waitUntilIdle()
        let before = try installation.assets()
        #expect(before.allSatisfy { $0.renditions.isEmpty })
        let inodes = try before.map { try inode(installation, try #require($0.preview.path)) }
        let base = try String(contentsOf: installation.configuration, encoding: .utf8)
        func configure(_ text: String) throws {
            try (base + "\n[preview]\n" + text).write(to: installation.configuration, atomically: true, encoding: .utf8)
            #expect(try installation.post("/v1/reload").isSuccess)
        }
        try configure(Self.thumb)
        let made = try await order(installation, #"{"kind": "previews", "arguments": {"missing": "1"}}"#)
        #expect(made.results["made"] == "2")
        let after = try installation.assets()
        #expect(after.map(\.preview) == before.map(\.preview))
        #expect(try after.map { try inode(installation, try #require($0.preview.path)) } == inodes)
        #expect(after.map { $0.renditions.map(\.width) } == [[200], [200]])

        // Of another size under the same name: replaced. One that is gone: made again. Then there is nothing to do.
        try configure(Self.thumb.replacing("200", with: "120") + Self.grid)
        _ = try await order(installation, #"{"kind": "previews", "arguments": {"missing": "1"}}"#)
        let replaced = try installation.assets()
        #expect(replaced.map { $0.renditions.map(\.width).sorted() }.allSatisfy { $0.first == 120 && $0.count == 2 })
        for asset in replaced {
            for rendition in asset.renditions {
                let file = installation.library.appending(path: rendition.path).path
                #expect(try run("identify", "-format", "%w", file) == "\(rendition.width)")
            }
        }
        try FileManager.default.removeItem(at: installation.library.appending(path: replaced[0].renditions[0].path))
        let again = try await order(installation, #"{"kind": "previews", "arguments": {"missing": "1"}}"#)
        #expect(again.results["made"] == "1")
        let nothing = try await order(installation, #"{"kind": "previews", "arguments": {"missing": "1"}}"#)
        #expect(nothing.results["made"] == "0")
        #expect(try previews(installation).count == 6)

        // The journal tells of them: a rebuilt catalog is the same.
        let told = try installation.assets()
        #expect(installation.stop() == 0)
        for name in ["spool.db", "spool.db-wal", "spool.db-shm"] {
            // The last two may be gone already.
            try? FileManager.default.removeItem(at: installation.state.appending(path: name))
        }
        try await installation.start()
        _ = try await order(installation, #"{"kind": "rebuild"}"#)
        #expect(try installation.assets().map(\.renditions) == told.map(\.renditions))
        #expect(installation.stop() == 0)
    }

    /// Every rename into the previews' folder of one import with two renditions.
    @Test(.timeLimit(.minutes(5)), arguments: 1...3)
    func `I04 leaves nothing in part when it dies between preview and rendition`(death: Int) async throws {
        guard try Faults.arePossible(for: "killing the daemon between preview and rendition") else { return }
        let installation = try Installation(more: "[preview]\n" + Self.thumb + Self.grid)
        try installation.place(Samples.photo, as: "IMG_0001.JPG")
        let place = installation.library.appending(path: ".photospool/previews").path
        #expect(try installation.runOnce(environment: Faults.environment(["rename:KILL:\(death)@\(place)"])) == nil)
        #expect(try installation.runOnce() == 0, Comment(rawValue: installation.logText))
        #expect(try installation.stagedEntries().isEmpty)
        #expect(try installation.visibleFiles().count == 1)
        try await installation.start()
        try await installation.waitUntilIdle()
        let asset = try #require(try installation.assets().first)
        #expect(
            Set(try previews(installation).map { ".photospool/previews/" + $0 })
                == Set([try #require(asset.preview.path)] + asset.renditions.map(\.path)))
        #expect(asset.renditions.count == 2)
        #expect(installation.stop() == 0)
    }
}
