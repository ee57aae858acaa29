import Codecs
import Foundation
import PhotoModel
import TestSupport
import Testing

/// exiftool is the witness, for what goes in and for what comes out.
@Suite("What a preview tells of a photo's owner") struct PrivacyTests {
    private struct Kind: Sendable, CustomStringConvertible {
        var name: String
        var type: MediaType
        /// Out of a PNG; nil when `@a.NAME` is there already.
        var command: String?
        var description: String { name }
    }

    private static let kinds = [
        Kind(name: "jpg", type: .jpeg, command: "convert @a.png -quality 90 @a.jpg"),
        Kind(name: "png", type: .png), Kind(name: "tif", type: .tiff, command: "convert @a.png @a.tif"),
        Kind(name: "webp", type: .webp, command: "cwebp -quiet -metadata icc @a.png -o @a.webp"),
        Kind(name: "gif", type: .gif, command: "convert @a.png @a.gif"),
        Kind(name: "jxl", type: .jpegXL, command: "cjxl --quiet --container=1 @a.png @a.jxl"),
        Kind(name: "heic", type: .heic, command: "heif-enc -q 90 -t 32 @a.png -o @a.heic"),
        Kind(name: "avif", type: .avif, command: "avifenc -s 10 @a.png @a.avif"), Kind(name: "dng", type: .raw),
    ]

    /// Everything that exiftool can put in: place, camera, author, comment, IPTC, a thumbnail, and a maker's note goes
    /// along in EXIF. What a format has no room for is left out, but the place.
    private static let tags = """
        -GPSLatitude=47.3769 -GPSLatitudeRef=N -GPSLongitude=8.5417 -GPSLongitudeRef=E -XMP:GPSLatitude=47.3769 \
        -XMP:GPSLongitude=8.5417 -Make=Owner -Model=Owner -SerialNumber=Owner -Artist=Owner -Comment=Owner \
        -IPTC:By-line=Owner -XMP:Creator=Owner -UserComment=Owner
        """

    @Test(arguments: kinds, [PreviewSpec.Colour.srgb, .keep])
    private func `is nothing, of any format`(kind: Kind, colour: PreviewSpec.Colour) throws {
        let shop = try Workshop()
        try shop.put(Card.slopes(width: 160, height: 120), "a.ppm")
        try shop.put(try ColourTests.profile(isP3: true), "p3.icc")
        try shop.run("convert @a.ppm -profile @p3.icc -define png:color-type=2 -set comment Owner @a.png")
        if kind.name == "dng" {
            let inside = try Card.slopes(width: 160, height: 120).jpeg()
            try shop.put(DNG(card: .slopes(width: 160, height: 120), preview: inside).bytes, "a.dng")
        }
        if let command = kind.command { try shop.run(command) }
        let path = shop.path("a.\(kind.name)")
        var words = Self.tags.split(separator: " ").map(String.init)
        if kind.name == "jpg" {
            try shop.put(try Card.slopes(width: 32, height: 24).jpeg(), "thumb.jpg")
            words.append("-ThumbnailImage<=\(shop.path("thumb.jpg"))")
        }
        let written = try Programs.run("/usr/bin/env", ["exiftool", "-m", "-overwrite_original"] + words + [path])
        #expect(written.status == 0, "\(written.errors)")
        let before = try Programs.run("/usr/bin/env", ["exiftool", "-n", "-a", "-G1", "-s", path]).output
        try #require(before.contains("47.3769") && before.contains("Owner"), "\(before)")

        let result = try preview(try shop.bytes("a.\(kind.name)"), kind.type, spec: PreviewSpec(colour: colour))
        try shop.put(result.jpeg, "preview.jpg")
        let after = try Programs.run(
            "/usr/bin/env", ["exiftool", "-n", "-a", "-u", "-G1", "-s", shop.path("preview.jpg")])
        #expect(after.status == 0)
        let groups = Set(after.output.split(separator: "\n").map { $0.split(separator: "]")[0].dropFirst() })
        // Of the file itself, and of the profile where it is kept.
        #expect(
            groups.allSatisfy {
                ["ExifTool", "System", "File", "JFIF", "Composite"].contains($0) || $0.hasPrefix("ICC")
            }, "\(groups)")
        #expect(groups.contains("JFIF") && (colour == .keep || !groups.contains { $0.hasPrefix("ICC") }))
        #expect(!after.output.contains("[File]          Comment") && !after.output.contains("47.3769"))
        let bytes = String(decoding: result.jpeg, as: UTF8.self)
        #expect(!bytes.contains("Owner") && !bytes.contains("Exif") && !bytes.contains("xpacket"))
        // Nothing but the picture between its marks: JFIF, ICC, tables, one frame, one scan, and the end at the end.
        var segments: Set<UInt8> = []
        var offset = 2
        while offset + 3 < result.jpeg.count, result.jpeg[offset + 1] != 0xDA {
            segments.insert(result.jpeg[offset + 1])
            offset += 2 + (Int(result.jpeg[offset + 2]) << 8 | Int(result.jpeg[offset + 3]))
        }
        #expect(segments.subtracting([0xE2]) == [0xE0, 0xDB, 0xC0, 0xC4] && result.jpeg.suffix(2) == [0xFF, 0xD9])
    }
}
