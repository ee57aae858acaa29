import ControlAPI
import Foundation
import TestSupport
import Testing

/// What a shot's files tell of it besides the leading one.
@Suite("What a sidecar says") struct SidecarFactTests {
    private static let heicTime = "2026-05-17T21:11:40+0200"
    private static let rawTime = "2026:05:17 09:04:31"

    private func drop(_ files: [String: Data], in installation: Installation) throws {
        for (name, data) in files { try data.write(to: installation.drop.appending(path: name)) }
    }

    @Test(.timeLimit(.minutes(2)))
    func `Takeout tells time and place where its photo is silent`() async throws {
        let installation = try Installation(more: "[import]\ntime_zone = \"Asia/Kathmandu\"\n")
        let json = """
            {"title": "a.png", "photoTakenTime": {"timestamp": "1617923095"},
            "geoData": {"latitude": 33.5, "longitude": -118.25}}
            """
        let png = installation.folder.path + "/plain.png"
        try #require(
            try Programs.run("/usr/bin/env", ["convert", "-size", "8x8", "xc:red", "+set", "date:create", png]).status
                == 0)
        let plain = try Data(contentsOf: URL(filePath: png))
        try drop(
            [
                "a.png": plain, "a.png.supplemental-metad.json": Data(json.utf8),
                // What the photo says of itself counts.
                "b.jpg": try Data(contentsOf: Samples.photo), "b.jpg.json": Data(json.utf8),
                "c(1).png": plain + Data([1]), "c.png(1).json": Data((json + " ").utf8),
                "d.png": plain + Data([2]), "d.pn.json": Data((json + "  ").utf8),
            ], in: installation)
        #expect(try installation.runOnce() == 0, Comment(rawValue: installation.logText))
        try await installation.start()
        let assets: [String: AssetBody] = Dictionary(
            uniqueKeysWithValues: try installation.assets().map {
                (String($0.resources[0].sourcePath.split(separator: "/").last ?? ""), $0)
            })
        #expect(assets.count == 4)
        // TZ=Asia/Kathmandu date -d @1617923095: 2021-04-09 04:49:55 +0545.
        for name in ["a.png", "c(1).png", "d.png"] {
            let asset = try #require(assets[name])
            #expect(asset.capturedAt == "2021-04-09T04:49:55")
            #expect(asset.capturedOffset == "+05:45")
            #expect(asset.dateSource == "takeout")
            #expect(asset.latitude == 33.5)
            #expect(asset.longitude == -118.25)
            #expect(asset.resources.map(\.role) == ["photo", "sidecar"])
            #expect(asset.resources[0].path.hasPrefix("2021/2021-04-09/"))
        }
        let own = try #require(assets["b.jpg"])
        #expect(own.capturedAt == "2026-05-17T09:04:31.87")
        #expect(own.dateSource == "exif_original")
        #expect(abs((own.latitude ?? 0) - 47.5596) < 1e-6)
        installation.stop()
    }

    @Test(.timeLimit(.minutes(2)))
    func `F07 XMP tells what its photo does not, also when it comes late`() async throws {
        let installation = try Installation()
        let png = installation.folder.path + "/plain.png"
        _ = try Programs.run("/usr/bin/env", ["convert", "-size", "8x8", "xc:red", "+set", "date:create", png])
        try installation.place(URL(filePath: png), as: "a.png")
        try await installation.start()
        try await installation.waitUntilIdle()
        #expect(try installation.assets().map(\.dateSource) == ["mtime"])
        let xmp = """
            <x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:Description exif:DateTimeOriginal="2019-03-02T10:20:30+01:00"
            exif:GPSLatitude="34,30N" exif:GPSLongitude="134,15W" aux:Lens="a lens"/></x:xmpmeta>
            """
        try drop(["a.png.xmp": Data(xmp.utf8)], in: installation)
        try await installation.wait(for: "the sidecar") { try installation.assets()[0].resources.count == 2 }
        let asset = try installation.assets()[0]
        #expect(asset.capturedAt == "2019-03-02T10:20:30")
        #expect(asset.capturedOffset == "+01:00")
        #expect(asset.dateSource == "xmp")
        #expect(asset.latitude == 34.5)
        #expect(asset.longitude == -134.25)
        #expect(asset.lens == "a lens")
        installation.stop()
    }

    @Test(.timeLimit(.minutes(2)))
    func `a motion photo stays as it is, and its asset says that it moves`() async throws {
        let installation = try Installation()
        let movie = Samples.movie(at: Self.heicTime)
        let photo = try Samples.motionPhoto(
            "GCamera:MicroVideo=\"1\" GCamera:MicroVideoOffset=\"\(movie.count)\">", trailer: movie)
        try drop(["PXL_1.JPG": photo], in: installation)
        #expect(try installation.runOnce() == 0)
        try await installation.start()
        let asset = try #require(try installation.assets().first)
        #expect(asset.kind == "live_photo")
        #expect(asset.motion == "embedded")
        #expect(asset.resources.map(\.role) == ["photo"])
        #expect(try Data(contentsOf: installation.library.appending(path: asset.resources[0].path)) == photo)
        let shown = try Programs.run(
            Programs.path("photospool"), ["show", asset.id, "--socket", installation.socket])
        #expect(shown.output.contains("a motion photo, its video inside the picture's file"))
        // Its RAW comes; it still moves.
        try drop(["PXL_1.DNG": Samples.raw(at: Self.rawTime)], in: installation)
        try await installation.wait(for: "the RAW") { try installation.assets()[0].resources.count == 2 }
        #expect(try installation.assets().map(\.motion) == ["embedded"])
        installation.stop()
    }
}
