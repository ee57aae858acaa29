import Foundation
import Metadata
import PhotoModel
import TestSupport
import Testing

/// Files by ImageMagick, tiffset and cjxl.
@Suite("An inspection of a still") struct StillTests {
    private static func run(_ words: String..., in folder: TemporaryFolder) throws {
        let here = words.map { $0.replacing("@", with: folder.path + "/") }
        let outcome = try Programs.run("/usr/bin/env", here)
        try #require(outcome.status == 0)
    }

    private static func inspect(_ name: String, in folder: TemporaryFolder) throws -> Inspection {
        Inspector.inspect(ByteSource(Array(try Data(contentsOf: URL(filePath: folder.path + "/" + name)))))
    }

    @Test func `of a TIFF tells the page that is the picture, and that page's orientation`() throws {
        let folder = try TemporaryFolder()
        try Self.run("convert", "-size", "16x12", "xc:red", "-size", "64x48", "xc:blue", "@a.tif", in: folder)
        #expect(try Self.inspect("a.tif", in: folder).facts.size == PixelSize(width: 16, height: 12))
        try Self.run("tiffset", "-d", "0", "-s", "SubfileType", "1", "@a.tif", in: folder)
        try Self.run("tiffset", "-d", "1", "-s", "Orientation", "6", "@a.tif", in: folder)
        let inspection = try Self.inspect("a.tif", in: folder)
        #expect(inspection.mediaType == .tiff)
        #expect(inspection.facts.size == PixelSize(width: 48, height: 64))
        #expect(inspection.facts.orientation == 6)
    }

    /// Sizes with each of the header's ratios (ISO/IEC 18181-1, table of SizeHeader), divisible by 8 and not, large and
    /// small; cjxl chooses the shortest.
    @Test(arguments: [
        (64, 64), (72, 60), (64, 48), (96, 64), (160, 90), (100, 80), (128, 64), (256, 40), (61, 47), (3000, 7),
        (9000, 1),
    ])
    func `of a JPEG XL tells its size`(width: Int, height: Int) throws {
        let folder = try TemporaryFolder()
        try Self.run("convert", "-size", "\(width)x\(height)", "xc:red", "@a.png", in: folder)
        for container in 0...1 {
            try Self.run("cjxl", "-e", "1", "--container=\(container)", "@a.png", "@a.jxl", in: folder)
            let inspection = try Self.inspect("a.jxl", in: folder)
            #expect(inspection.mediaType == .jpegXL)
            #expect(inspection.facts.size == PixelSize(width: width, height: height))
        }
    }

    /// Once: the codestream turns, and the EXIF that came along says the same.
    @Test(arguments: 1...8) func `E20 of a JPEG XL tells the size as shown, and its EXIF`(orientation: Int) throws {
        let folder = try TemporaryFolder()
        try Self.run("convert", "-size", "60x20", "xc:red", "@a.jpg", in: folder)
        try Self.run("exiftool", "-q", "-n", "-overwrite_original", "-Orientation=\(orientation)", "@a.jpg", in: folder)
        try Self.run("cjxl", "@a.jpg", "@a.jxl", in: folder)
        try Self.run(
            "exiftool", "-q", "-n", "-overwrite_original", "-EXIF:Orientation=\(orientation)", "-EXIF:Make=Nikon",
            "-EXIF:Model=Z 9", "-EXIF:DateTimeOriginal=2026:05:17 09:04:31", "-EXIF:OffsetTimeOriginal=+02:00",
            "@a.jxl", in: folder)
        let inspection = try Self.inspect("a.jxl", in: folder)
        let isTurned = orientation >= 5
        #expect(inspection.facts.size == PixelSize(width: isTurned ? 20 : 60, height: isTurned ? 60 : 20))
        #expect(inspection.facts.orientation == 1)
        #expect(inspection.facts.make == "Nikon" && inspection.facts.model == "Z 9")
        #expect(
            inspection.dates.first?.time.text == "2026-05-17T09:04:31" && inspection.dates.first?.offset == "+02:00")
    }

    /// cjxl compresses the EXIF and XMP of a JPEG. What they say is what exiftool put in, and finds there.
    @Test func `of a JPEG XL reads EXIF and XMP that are compressed`() throws {
        let folder = try TemporaryFolder()
        try Self.run("convert", "-size", "60x20", "xc:red", "@a.jpg", in: folder)
        try Self.run(
            "exiftool", "-q", "-n", "-overwrite_original", "-Make=Nikon", "-GPSLatitude=47.3769", "-GPSLatitudeRef=N",
            "-GPSLongitude=8.5417", "-GPSLongitudeRef=W", "-XMP:CreateDate=2026:05:17 09:04:31+02:00", "@a.jpg",
            in: folder)
        try Self.run("cjxl", "@a.jpg", "@a.jxl", in: folder)
        var bytes = Array(try Data(contentsOf: URL(filePath: folder.path + "/a.jxl")))
        let boxes = bytes.indices.filter { bytes[$0...].starts(with: "brob".utf8) }
        try #require(boxes.count == 2 && !String(decoding: bytes, as: UTF8.self).contains("Nikon"))
        let inspection = try Self.inspect("a.jxl", in: folder)
        #expect(inspection.facts.make == "Nikon")
        #expect(abs((inspection.facts.latitude ?? 0) - 47.3769) < 1e-4)
        #expect(abs((inspection.facts.longitude ?? 0) + 8.5417) < 1e-4)
        #expect(inspection.dates.contains { $0.source == .xmp && $0.time.text == "2026-05-17T09:04:31" })
        // Any byte may be another, in the boxes' heads and streams: what is still said is a fact or none.
        for at in 0..<min(bytes.count, 800) {
            for value in [UInt8(0), 0xFF, bytes[at] ^ 1] {
                var changed = bytes
                changed[at] = value
                let seen = Inspector.inspect(ByteSource(changed)).facts
                #expect((-90...90).contains(seen.latitude ?? 0) && (1...8).contains(seen.orientation))
            }
        }
        // Damaged, they say nothing, and the rest still does.
        for box in boxes { for at in box + 8..<box + 24 { bytes[at] ^= 0x55 } }
        let damaged = Inspector.inspect(ByteSource(bytes))
        #expect(damaged.facts.make == nil && damaged.facts.size == PixelSize(width: 60, height: 20))
    }
}

/// JPEGs by cjpeg and jpegtran, PNGs by ImageMagick.
@Suite("What decoding a still has to hold") struct CodingTests {
    private static func coding(_ commands: [[String]], _ name: String) throws -> PictureCoding {
        let folder = try TemporaryFolder()
        for words in commands {
            let outcome = try Programs.run("/usr/bin/env", words.map { $0.replacing("@", with: folder.path + "/") })
            try #require(outcome.status == 0)
        }
        let bytes = Array(try Data(contentsOf: URL(filePath: folder.path + "/" + name)))
        return Inspector.inspect(ByteSource(bytes)).coding
    }

    private static let source = ["convert", "-size", "64x48", "gradient:red-blue", "@a.ppm"]

    /// Coefficients a pixel: 4:2:0 has 1.5, 4:4:4 has 3, of two bytes each; the baseline has none to hold.
    @Test(arguments: [
        (["-sample", "2x2", "-progressive"], 300), (["-sample", "1x1", "-progressive"], 600),
        (["-sample", "2x2", "-baseline"], 0), (["-grayscale", "-progressive"], 200),
    ])
    func `of a JPEG is its coefficients, when it comes in several scans`(options: [String], held: Int) throws {
        let coding = try Self.coding([Self.source, ["cjpeg"] + options + ["-outfile", "@a.jpg", "@a.ppm"]], "a.jpg")
        #expect(coding.heldPerHundred == held)
        #expect(coding.stored == PixelSize(width: 64, height: 48))
    }

    @Test func `of a baseline JPEG with a scan for each component is that, too`() throws {
        let folder = try TemporaryFolder()
        try Data("0;\n1;\n2;\n".utf8).write(to: URL(filePath: folder.path + "/scans"))
        let coding = try Self.coding(
            [
                Self.source,
                ["cjpeg", "-sample", "2x2", "-scans", folder.path + "/scans", "-outfile", "@a.jpg", "@a.ppm"],
            ], "a.jpg")
        #expect(coding.heldPerHundred == 300)
    }

    @Test(arguments: [("none", 0), ("PNG", 400)])
    func `of a PNG is all of it when it is interlaced`(way: String, held: Int) throws {
        let coding = try Self.coding(
            [["convert", "-size", "64x48", "gradient:", "-interlace", way, "@a.png"]], "a.png")
        #expect(coding.heldPerHundred == held)
    }
}
