import ControlAPI
import Foundation
import TestSupport
import Testing

/// The real daemon and decoder, on pictures by ImageMagick, cwebp and cjxl.
@Suite("A photo of any format, end to end") struct FormatTests {
    /// HEIC, AVIF by either library, PNG, WebP, TIFF, GIF, JPEG XL and MP4, each named .JPG.
    @Test(.timeLimit(.minutes(2)))
    func `E26 is decoded by its content, behind the sandbox, whatever it is called`() async throws {
        let installation = try Installation()
        let workshop = try TemporaryFolder()
        func run(_ words: String...) throws {
            let outcome = try Programs.run("/usr/bin/env", words.map { $0.replacing("@", with: workshop.path + "/") })
            let complaint = outcome.errors
            try #require(outcome.status == 0, "\(words): \(complaint)")
        }
        try run("convert", "-seed", "1", "-size", "1500x900", "plasma:fractal", "-depth", "8", "@a.png")
        try run("cwebp", "-quiet", "@a.png", "-o", "@a.webp")
        try run("convert", "@a.png", "-compress", "lzw", "@a.tif")
        try run("convert", "@a.png", "-colors", "64", "@a.gif")
        try run("cjxl", "--quiet", "-e", "1", "@a.png", "@a.jxl")
        try run("heif-enc", "-q", "90", "@a.png", "-o", "@a.heic")
        try run("avifenc", "-s", "10", "@a.png", "@a.avif")
        // Under a name that any coding may have it is libheif that reads AV1, as of AVIF that libavif does not know.
        var heif = try Data(contentsOf: URL(filePath: workshop.path + "/a.avif"))
        while let brand = heif.prefix(32).range(of: Data("avif".utf8)) {
            heif.replaceSubrange(brand, with: Data("mif1".utf8))
        }
        try heif.write(to: URL(filePath: workshop.path + "/a.heif"))
        var types = [
            "png": "image/png", "webp": "image/webp", "tif": "image/tiff", "gif": "image/gif", "jxl": "image/jxl",
            "heic": "image/heic", "avif": "image/avif", "heif": "image/heif",
        ]
        if Programs.tool("ffmpeg") == nil {
            print("skipped: a movie named .JPG (ffmpeg is not installed)")
        } else {
            try run(
                "ffmpeg", "-v", "error", "-loop", "1", "-i", "@a.png", "-t", "1", "-r", "5", "-pix_fmt", "yuv420p",
                "-c:v", "libx264", "@a.mp4")
            types["mp4"] = "video/mp4"
        }
        for kind in types.keys {
            try installation.place(URL(filePath: workshop.path + "/a.\(kind)"), as: "IMG_\(kind).JPG")
        }
        try await installation.start()
        try await installation.waitUntilIdle()
        let assets = try installation.assets()
        #expect(assets.count == types.count)
        for asset in assets {
            let photo = asset.resources[0]
            let kind = types.keys.first { photo.path.hasSuffix("IMG_\($0).JPG") }
            #expect(photo.mediaType == types[try #require(kind)], "\(photo.path)")
            #expect(asset.width == 1500 && asset.height == 900, "\(photo.path)")
            #expect(asset.preview.state == "ok", "\(photo.path): \(asset.preview.code ?? "")")
            #expect(asset.preview.width == 1200 && asset.preview.height == 720, "\(photo.path)")
        }
        #expect(installation.stop() == 0)
    }
}
