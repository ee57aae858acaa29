import Codecs
import Foundation
import Metadata
import PhotoModel
import TestSupport
import Testing

/// The pixels of an export; ImageMagick, heif-convert and exiftool are the witnesses.
@Suite("The picture of an export") struct ExportPictureTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @discardableResult private func run(_ words: String...) throws -> String {
        let outcome = try Programs.run("/usr/bin/env", words)
        let complaint = outcome.errors
        try #require(outcome.status == 0, "\(words): \(complaint)")
        return outcome.output
    }

    private func path(_ name: String) -> String { folder.path + "/" + name }

    private func export(
        _ bytes: [UInt8], _ format: ExportSpec.Format, maxSize: Int = 65_535, maxBytes: Int64? = nil
    ) throws -> (file: String, size: PixelSize) {
        let inspection = Inspector.inspect(ByteSource(bytes))
        var spec = PreviewSpec(maxSize: maxSize, colour: .keep)
        spec.export = ExportSpec(format: format, maxBytes: maxBytes)
        let result = try StillDecoder.preview(
            of: unsafe bytes.span.bytes, type: inspection.mediaType, orientation: inspection.facts.orientation,
            spec: spec)
        if let maxBytes { #expect(Int64(result.jpeg.count) <= maxBytes) }
        let file = path("out." + format.fileExtension)
        try Data(result.jpeg).write(to: URL(filePath: file))
        return (file, result.size)
    }

    /// As another program shows it: upright, a PNG of 8 bits without a profile.
    private func shown(_ file: String, as name: String) throws -> String {
        let target = path(name + ".png")
        if ["heic", "heif", "hif", "avif"].contains(URL(filePath: file).pathExtension.lowercased()) {
            try run("heif-convert", file, path("heif.png"))
            try run("convert", path("heif.png"), "-strip", "-depth", "8", "PNG32:" + target)
        } else {
            try run("convert", file + "[0]", "-auto-orient", "-strip", "-depth", "8", "PNG32:" + target)
        }
        return target
    }

    /// Mean over all samples, 0 to 1.
    private func difference(_ one: String, _ other: String, _ options: [String]) throws -> Double {
        let words = ["convert", "(", one] + options + [")", "(", other] + options + [")"]
        let outcome = try Programs.run(
            "/usr/bin/env", words + ["-metric", "MAE", "-compare", "-format", "%[distortion]", "info:"])
        return try #require(Double(outcome.output), "\(outcome.errors)")
    }

    static let files = [
        "jpeg-orientation/Landscape_6.jpg", "jpeg-orientation/Landscape_7.jpg", "metadata/Iceland-P3.jpg",
        "synthetic/coding-gray.jpg", "png/exif.png", "png/Flag_of_the_Netherlands-16bit.png", "png/p3.png",
        "tiff/orientation-6.tiff", "tiff/rgb-3c-16b.tiff", "webp/hopper_orientation_6.webp", "webp/flower.webp",
        "heic/orientation6.heic", "heic/metadata.heic", "avif/rotated090.avif",
    ]

    @Test(.timeLimit(.minutes(5)), arguments: files)
    func `is the original's, upright, in every format`(name: String) throws {
        guard let corpus = try Corpus.find(for: "pictures of exports") else { return }
        let original = corpus.appending(path: name)
        let bytes = Array(try Data(contentsOf: original))
        let expected = try shown(original.path, as: "expected")
        for format in ExportSpec.Format.allCases {
            for side in [65_535, 101] {
                let (file, size) = try export(bytes, format, maxSize: side)
                let tags = try run("exiftool", "-n", "-s3", "-f", "-ImageWidth", "-ImageHeight", "-Orientation", file)
                    .split(separator: "\n")
                #expect(tags[0] == "\(size.width)" && tags[1] == "\(size.height)" && ["1", "-"].contains(tags[2]))
                let found = try shown(file, as: "found")
                let white = ["-background", "white", "-alpha", "remove", "-alpha", "off"]
                let same = white + ["-filter", "Lanczos", "-resize", "\(size.width)x\(size.height)!"]
                let distance = try difference(expected, found, same)
                #expect(distance < (format == .png ? 0.006 : side == 101 ? 0.03 : 0.02), "\(format) \(side)")
                let profile = try run("exiftool", "-s3", "-ICC_Profile:ProfileDescription", original.path)
                let kept = try run("exiftool", "-s3", "-ICC_Profile:ProfileDescription", file)
                // What is sRGB needs no profile to be it.
                #expect(kept == profile || kept.isEmpty && profile.contains("sRGB"), "\(format)")
            }
        }
    }

    @Test func `is a HEIC that names its colours`() throws {
        guard let corpus = try Corpus.find(for: "colours of a HEIC") else { return }
        let bytes = Array(try Data(contentsOf: corpus.appending(path: "synthetic/coding-444.jpg")))
        let file = try export(bytes, .heic, maxSize: 200).file
        // ISO/IEC 14496-12, 12.1.5, and ITU-T H.273: BT.709's primaries, sRGB's curve, BT.601's matrix, full range.
        let box: [UInt8] = Array("colrnclx".utf8) + [0, 1, 0, 13, 0, 6, 0x80]
        #expect(try Data(contentsOf: URL(filePath: file)).range(of: Data(box)) != nil)
        #expect(!(try run("heif-info", file)).contains("rotation"))
    }

    static let transparent = [
        "png/basn4a16.png", "png/basi6a16.png", "png/16-bit-grey-alpha.png", "webp/Alpha Lossless (1).webp",
        "heic/with-alpha-512x512.heic", "heic/RGBA_8__128x128.heif", "avif/abc_color_irot_alpha_irot.avif",
    ]

    @Test(.timeLimit(.minutes(5)), arguments: transparent)
    func `is as transparent as the original, as a PNG`(name: String) throws {
        guard let corpus = try Corpus.find(for: "transparent exports") else { return }
        let original = corpus.appending(path: name)
        try checkAlpha(Array(try Data(contentsOf: original)), try shown(original.path, as: "expected"), name)
    }

    @Test(arguments: ["tif", "gif", "webp", "jxl"])
    func `is as transparent as another program made it`(kind: String) throws {
        let (png, file) = (path("made.png"), path("made." + kind))
        // A hard edge for GIF, which knows no more, and a soft one for the others.
        try run(
            "convert", "-size", "90x60", "gradient:red-blue", "(", "-size", "90x60",
            kind == "gif" ? "xc:black" : "radial-gradient:white-black", "-fill", "white", "-draw",
            "rectangle 20,10 60,40",
            ")", "-alpha", "off", "-compose", "CopyOpacity", "-composite", "PNG32:" + png)
        switch kind {
        case "jxl": try run("cjxl", "-d", "0", png, file)
        case "webp": try run("cwebp", "-quiet", "-lossless", "-exact", png, "-o", file)
        default: try run("convert", png, file)
        }
        let expected = kind == "jxl" || kind == "webp" ? png : try shown(file, as: "expected")
        try checkAlpha(Array(try Data(contentsOf: URL(filePath: file))), expected, kind)
    }

    /// Alpha itself, and what is seen on black and on white, at full size and at a smaller one.
    private func checkAlpha(_ bytes: [UInt8], _ expected: String, _ name: String) throws {
        for side in [65_535, 40] {
            let (file, size) = try export(bytes, .png, maxSize: side)
            let shape = ["-filter", "Lanczos", "-resize", "\(size.width)x\(size.height)!"]
            #expect(try difference(expected, file, ["-alpha", "extract"] + shape) < 0.006, "\(name) \(side)")
            for ground in ["black", "white"] {
                let options = ["-strip", "-background", ground, "-alpha", "remove", "-alpha", "off"] + shape
                #expect(try difference(expected, file, options) < 0.01, "\(name) \(side) on \(ground)")
            }
        }
        // The others know no transparency, and lie on white. Numbers that are linear (gamma 1) are weighed as such by us, and
        // as sRGB by ImageMagick.
        guard name != "png/basi6a16.png" else { return }
        let jpeg = try export(bytes, .jpeg).file
        let white = ["-strip", "-background", "white", "-alpha", "remove", "-alpha", "off"]
        #expect(try difference(expected, jpeg, white) < 0.03, "\(name)")
    }

    @Test func `fits into both, a side and a number of bytes`() throws {
        guard let corpus = try Corpus.find(for: "limits of exports") else { return }
        let bytes = Array(try Data(contentsOf: corpus.appending(path: "jpeg-orientation/Landscape_6.jpg")))
        for format in ExportSpec.Format.allCases {
            for (side, most) in [(200, Int64(40_000)), (65_535, 25_000), (300, 15_000), (16, 20_000)] {
                let (file, size) = try export(bytes, format, maxSize: side, maxBytes: most)
                #expect(max(size.width, size.height) <= side)
                #expect(try run("exiftool", "-s3", "-ImageWidth", file) == "\(size.width)\n")
            }
            #expect(throws: CodecFailure.self) { try export(bytes, format, maxBytes: 1) }
        }
    }
}
