import Codecs
import Foundation
import PhotoModel
import TestSupport
import Testing

@Suite("A preview of a RAW file") struct RAWTests {
    /// Without a picture inside: the mosaic is developed, and the file's orientation applied once (E20).
    @Test(arguments: 1...8) func `E20 is developed upright in all eight orientations`(orientation: Int) throws {
        let dng = DNG(card: Card.corners().stored(orientation: orientation), orientation: orientation)
        let result = try preview(dng.bytes, .raw, orientation: orientation)
        #expect(result.size == PixelSize(width: 192, height: 128))
        #expect(!result.isPartial)
        let card = try Card(jpeg: result.jpeg)
        // Brightness is the developer's choice; which channel rules where is not.
        let (red, green, blue) = (card[48, 32], card[144, 32], card[48, 96])
        #expect(red.0 > 150 && red.1 < 90 && red.2 < 90, "\(red)")
        #expect(green.1 > 150 && green.0 < 90 && green.2 < 90, "\(green)")
        #expect(blue.2 > 150 && blue.0 < 90 && blue.1 < 90, "\(blue)")
        #expect(card[144, 96].0 > 240 && card[144, 96].1 > 240 && card[144, 96].2 > 240)
    }

    /// Against dcraw_emu: the camera's white balance (-w), sRGB's curve (-g), its own turning. Half size (-h) where that is
    /// enough. What differs is our JPEG of quality 95 and, at half size, nothing else.
    @Test(arguments: [(300, ["-h"]), (600, [])])
    func `is developed as dcraw_emu does it`(side: Int, options: [String]) throws {
        guard let tool = Programs.tool("dcraw_emu") else { return print("skipped: dcraw_emu is not installed") }
        let folder = try TemporaryFolder()
        let dng = DNG(card: .slopes(width: 600, height: 400), orientation: 6)
        let path = folder.path + "/card.dng"
        try Data(dng.bytes).write(to: URL(filePath: path))
        let outcome = try Programs.run(tool, ["-w", "-g", "2.4", "12.92"] + options + [path])
        #expect(outcome.status == 0)
        let expected = try Card(ppm: Array(try Data(contentsOf: URL(filePath: path + ".ppm"))))
        let result = try preview(dng.bytes, .raw, orientation: 6, spec: PreviewSpec(maxSize: side, quality: 95))
        let card = try Card(jpeg: result.jpeg)
        #expect((card.width, card.height) == (expected.width, expected.height))
        #expect(try #require(card.likeness(to: expected)) > 38)
    }

    /// What exiftool takes out of the file, turned as the RAW file says, is the preview, byte for byte; what the JPEG's own
    /// EXIF says of its orientation counts for nothing.
    @Test(arguments: [1, 6, 8]) func `E01 is the embedded one, turned once`(orientation: Int) throws {
        let folder = try TemporaryFolder()
        let (jpegPath, path) = (folder.path + "/inside.jpg", folder.path + "/card.dng")
        try Data(try Card.corners(width: 320, height: 240).stored(orientation: orientation).jpeg()).write(
            to: URL(filePath: jpegPath))
        #expect(
            try Programs.run(
                "/usr/bin/env",
                ["exiftool", "-q", "-overwrite_original", "-n", "-Orientation=\(orientation)", jpegPath]
            ).status == 0)
        let inside = Array(try Data(contentsOf: URL(filePath: jpegPath)))
        let grey = Card(width: 320, height: 240) { _, _ in (90, 90, 90) }.stored(orientation: orientation)
        let dng = DNG(card: grey, orientation: orientation, preview: inside).bytes
        try Data(dng).write(to: URL(filePath: path))
        let taken = try Programs.run(
            "/bin/sh", ["-c", "exiftool -b -PreviewImage \"$1\" | cmp - \"$2\"", "sh", path, jpegPath])
        #expect(taken.status == 0, "\(taken.output)\(taken.errors)")
        let result = try preview(dng, .raw, orientation: orientation)
        #expect(result.jpeg == (try preview(inside, .jpeg, orientation: orientation)).jpeg)
        #expect(try Card(jpeg: result.jpeg).hasCornersInPlace)
    }

    private static let plain = (150, 130, 110)
    /// By transicc, of Debian's profiles.
    private static let (adobe, proPhoto) = ((159, 131, 109), (187, 144, 125))

    /// The pictures that a camera makes are in the colours it was set to, which EXIF tells; those in a DNG say it
    /// themselves, for they may be a raw converter's.
    @Test(
        arguments: [
            (true, 3, "", adobe), (true, 4, "", proPhoto), (true, 2, "-ColorSpace=65535 -InteropIndex=R03", plain),
            (true, nil, "-ColorSpace=65535 -InteropIndex=R03", plain),
            (false, nil, "-ColorSpace=65535 -InteropIndex=R03", adobe), (false, nil, "-ColorSpace=1", plain),
        ] as [(Bool, Int?, String, (Int, Int, Int))])
    func `E11 has the colours of the picture inside`(
        isDNG: Bool, stated: Int?, tags: String, wanted: (Int, Int, Int)
    ) throws {
        let shop = try Workshop()
        let inside = try Card(width: 64, height: 64) { _, _ in (150, 130, 110) }.jpeg(quality: 100)
        let grey = Card(width: 64, height: 64) { _, _ in (90, 90, 90) }
        try shop.put(
            DNG(card: grey, preview: inside, hasVersion: isDNG, previewColours: stated).bytes, "a.dng")
        if !tags.isEmpty { try shop.run("exiftool -q -m -overwrite_original -n \(tags) @a.dng") }
        let result = try preview(try shop.bytes("a.dng"), .raw, spec: PreviewSpec(quality: 100))
        let (red, green, blue) = try Card(jpeg: result.jpeg)[32, 32]
        #expect(
            abs(red - wanted.0) <= 3 && abs(green - wanted.1) <= 3 && abs(blue - wanted.2) <= 3,
            "\(red) \(green) \(blue)")
    }

    /// Too small for the preview, and the sensor has more: developed.
    @Test func `is not the embedded one where that is too small`() throws {
        let small = try Card.corners(width: 96, height: 64).jpeg()
        let dng = DNG(card: Card(width: 384, height: 256) { _, _ in (200, 40, 40) }, preview: small).bytes
        #expect(try preview(dng, .raw).size == PixelSize(width: 384, height: 256))
        // And it is, where a smaller preview is asked for.
        let tiny = try preview(dng, .raw, spec: PreviewSpec(maxSize: 96))
        #expect(tiny.jpeg == (try preview(small, spec: PreviewSpec(maxSize: 96))).jpeg)
    }

    /// Cut in the sensor's data (D03): whatever whole picture there is inside, and said to be partial.
    @Test func `D03 of a file that is cut is the whole picture inside, and partial`() throws {
        let small = try Card.corners(width: 96, height: 64).jpeg()
        let card = Card(width: 384, height: 256) { _, _ in (200, 40, 40) }
        let whole = DNG(card: card, preview: small).bytes
        let cut = try preview(Array(whole.prefix(whole.count / 3)), .raw)
        #expect(cut.isPartial)
        #expect(cut.size == PixelSize(width: 96, height: 64))
        let thumbnail = [UInt8](repeating: 77, count: 192)
        let other = DNG(card: card, bitmap: thumbnail).bytes
        let plain = try preview(Array(other.prefix(other.count - 1000)), .raw)
        #expect(plain.isPartial && plain.size == PixelSize(width: 8, height: 8))
        #expect(try Card(jpeg: plain.jpeg)[4, 4].0 == 77)
        // Next to nothing of the mosaic is there, and no picture: noise is not shown.
        let bare = DNG(card: card).bytes
        #expect(failure(Array(bare.prefix(3000)), .raw) == .truncated)
    }

    @Test func `respects the limit of pixels before it takes memory`() throws {
        let dng = DNG(card: Card(width: 400, height: 300) { _, _ in (10, 20, 30) }).bytes
        #expect(failure(dng, .raw, spec: PreviewSpec(maxPixels: Pixels(100_000))) == .tooLarge)
    }

    /// A camera's boxes, one of which is given a long length of zero: LibRaw 0.20 (`raw-identify`) never comes back from it.
    @Test(.timeLimit(.minutes(1))) func `D06 of a CR3 that leads LibRaw in a circle ends`() throws {
        for row in try Corpus.rows(for: "CR3 that are bent") where row["format"] == "CR3" {
            let whole = try row.contents()
            let boxes = ["mvhd", "mdat", "CMT4", "co64"]
            for box in boxes {
                var bent = whole
                let name = try #require(whole.indices.first { whole[$0...].starts(with: box.utf8) }, "\(box)")
                bent.replaceSubrange(name - 4..<name, with: [0, 0, 0, 1])
                bent.replaceSubrange(name + 4..<name + 12, with: [UInt8](repeating: 0, count: 8))
                // The one of the two that has a picture inside of it is shown by that: its box is not bent.
                let hasPicture = row.path == "raw/canon-r6.cr3"
                #expect(failure(bent, .raw) == (hasPicture ? nil : .corrupt), "\(row.path), \(box)")
            }
            // Cut among its boxes it is no worse than any other file that is cut.
            if row.path == "raw/CanonRaw.cr3" { #expect(failure(Array(whole.prefix(9000)), .raw) == .truncated) }
        }
        // Made by hand: nothing but a header and such a box.
        let made = HEIC.box("ftyp", Array("crx \0\0\0\u{1}crx isom".utf8)) + [0, 0, 0, 1] + Array("free".utf8)
        #expect(failure(made + [UInt8](repeating: 0, count: 64), .raw) == .corrupt)
    }

    /// The largest JPEG that exiftool finds, where it is large enough: ours is made of the same one.
    @Test func `of real cameras is made of the JPEG that exiftool finds`() throws {
        let tags = [
            "raw/Canon EOS D30.CRW": "JpgFromRaw", "raw/canon-r6.cr3": "PreviewImage",
            "raw/Canon EOS-1Ds Mark III (leading part).CR2": "PreviewImage",
            "raw/Sony SLT-A55V (leading part).ARW": "PreviewImage", "raw/Panasonic.rw2": "JpgFromRaw",
            "raw/FujiFilm.raf": "PreviewImage",
        ]
        let folder = try TemporaryFolder()
        for row in try Corpus.rows(for: "previews inside RAW files") {
            guard let tag = tags[row.path] else { continue }
            let path = folder.path + "/inside.jpg"
            _ = try Programs.run(
                "/bin/sh", ["-c", "exiftool -b -\(tag) \"$1\" > \"$2\"", "sh", row.absolutePath, path])
            let inside = Array(try Data(contentsOf: URL(filePath: path)))
            let ours = try Card(jpeg: try preview(try row.contents(), .raw).jpeg)
            let expected = try Card(jpeg: try preview(inside).jpeg)
            // Sony's is 1616 x 1080 for a picture of 4928 x 3280: three of the preview's rows less.
            #expect(ours.width == expected.width && abs(ours.height - expected.height) <= 3, "\(row.path)")
            if ours.height == expected.height {
                #expect(try #require(ours.likeness(to: expected)) > 45, "\(row.path)")
            }
        }
    }
}

extension Card {
    /// Portable pixmap, binary, 8 bits.
    init(ppm: [UInt8]) throws {
        var fields: [Int] = []
        var position = 2
        while fields.count < 3 {
            while ppm[position] <= 0x20 { position += 1 }
            var value = 0
            while ppm[position] > 0x20 {
                value = value * 10 + Int(ppm[position]) - 48
                position += 1
            }
            fields.append(value)
        }
        try #require(ppm.starts(with: "P6".utf8) && ppm.count - position - 1 == 3 * fields[0] * fields[1])
        self.init(width: 0, height: 0) { _, _ in (0, 0, 0) }
        (width, height, rgb) = (fields[0], fields[1], Array(ppm[(position + 1)...]))
    }
}
