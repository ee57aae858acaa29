import CSPNG
import Codecs
import Foundation
import PhotoModel
import Testing

/// Pictures by cjxl.
@Suite("A preview of a JPEG XL") struct JPEGXLTests {
    @Test(arguments: [("-d 0", 40.0), ("-d 0.5", 37), ("-d 0 --container=1", 40), ("-d 0.5 -p", 37)])
    func `has its pixels, scaled`(coding: String, likeness: Double) throws {
        let (shop, card) = (try Workshop(), Card.slopes(width: 319, height: 239))
        try shop.put(card, "a.ppm")
        let jxl = try shop.make("cjxl --quiet @a.ppm @a.jxl \(coding)", "a.jxl")
        let whole = try Card(jpeg: try preview(jxl, .jpegXL).jpeg)
        #expect(try #require(whole.likeness(to: card)) > likeness)
        let small = try Card(jpeg: try preview(jxl, .jpegXL, spec: PreviewSpec(maxSize: 101)).jpeg)
        #expect(try #require(small.likeness(to: Card.slopes(width: 101, height: 76))) > likeness - 3)
    }

    /// cjxl takes the orientation of a JPEG's EXIF into the codestream, and keeps the EXIF: once is enough.
    @Test(arguments: 1...8) func `E20 is upright in all eight orientations`(orientation: Int) throws {
        let shop = try Workshop()
        try shop.put(try Card.corners().stored(orientation: orientation).jpeg(), "a.jpg")
        try shop.run("exiftool -q -overwrite_original -n -Orientation=\(orientation) @a.jpg")
        let jxl = try shop.make("cjxl --quiet @a.jpg @a.jxl", "a.jxl")
        let result = try preview(jxl, .jpegXL, orientation: orientation)
        try #require(result.size == PixelSize(width: 192, height: 128))
        #expect(try Card(jpeg: result.jpeg).hasCornersInPlace)
    }

    @Test(arguments: ["-d 0", "-d 0.3"]) func `E23 lies on white where it is transparent`(coding: String) throws {
        // Left: invisible black. Right: half visible red, 128 of 255.
        var samples: [UInt8] = []
        for _ in 0..<64 { for x in 0..<64 { samples += x < 32 ? [0, 0, 0, 0] : [255, 0, 0, 128] } }
        let shop = try Workshop()
        try shop.put(
            PNGTests.encode(samples, width: 64, height: 64, colourType: SPNG_COLOR_TYPE_TRUECOLOR_ALPHA), "a.png")
        let card = try Card(
            jpeg: try preview(try shop.make("cjxl --quiet @a.png @a.jxl \(coding)", "a.jxl"), .jpegXL).jpeg)
        #expect(card[8, 32].0 >= 252 && card[8, 32].1 >= 252 && card[8, 32].2 >= 252)
        let (red, green, blue) = card[56, 32]
        #expect(red >= 248 && abs(green - 127) < 8 && abs(blue - 127) < 8, "\(red) \(green) \(blue)")
    }

    @Test func `of 16-bit grey is grey`() throws {
        var samples: [UInt8] = []
        for at in 0..<64 * 64 { samples += [UInt8(at % 64 * 4), 0] }
        let shop = try Workshop()
        try shop.put(
            PNGTests.encode(samples, width: 64, height: 64, colourType: SPNG_COLOR_TYPE_GRAYSCALE, depth: 16), "a.png")
        let card = try Card(jpeg: try preview(try shop.make("cjxl --quiet @a.png @a.jxl -d 0", "a.jxl"), .jpegXL).jpeg)
        for x in [4, 20, 40, 60] {
            let (red, green, blue) = card[x, 30]
            #expect(abs(red - 4 * x) <= 3 && red == green && green == blue)
        }
    }

    /// (200, 100, 60) of Display P3 is (214.9, 92.6, 46.9) of sRGB, as in ColourTests. Lossless keeps the profile, lossy
    /// names the space.
    @Test(arguments: ["-d 0", "-d 0.1"]) func `E11 Display P3 is converted to sRGB`(coding: String) throws {
        let shop = try Workshop()
        try shop.put(Card(width: 64, height: 64) { _, _ in (200, 100, 60) }, "a.ppm")
        try shop.put(try ColourTests.profile(isP3: true), "p3.icc")
        try shop.run("convert @a.ppm -profile @p3.icc @a.png")
        let jxl = try shop.make("cjxl --quiet @a.png @a.jxl \(coding)", "a.jxl")
        let (red, green, blue) = try Card(jpeg: try preview(jxl, .jpegXL, spec: PreviewSpec(quality: 100)).jpeg)[32, 32]
        #expect(abs(red - 215) <= 3 && abs(green - 93) <= 3 && abs(blue - 47) <= 3, "\(red) \(green) \(blue)")
    }

    @Test func `of an animation shows the first frame`() throws {
        let shop = try Workshop()
        try shop.put(Card.corners(), "first.ppm")
        try shop.put(Card(width: 192, height: 128) { _, _ in (0, 0, 0) }, "second.ppm")
        try shop.run("convert -delay 10 @first.ppm @second.ppm @a.gif")
        let jxl = try shop.make("cjxl --quiet @a.gif @a.jxl", "a.jxl")
        #expect(try Card(jpeg: try preview(jxl, .jpegXL).jpeg).hasCornersInPlace)
    }

    @Test func `D03 cut shows what has come, or says that nothing has`() throws {
        // Smooth with a little noise: of this much each group has some data.
        let card = Card(width: 600, height: 600) { x, y in
            (UInt8(x * 255 / 600), UInt8(y * 255 / 600), UInt8((x * 7 ^ y * 13) & 63))
        }
        let shop = try Workshop()
        try shop.put(card, "a.ppm")
        let jxl = try shop.make("cjxl --quiet @a.ppm @a.jxl -d 1", "a.jxl")
        let result = try preview(Array(jxl.prefix(jxl.count * 8 / 10)), .jpegXL)
        #expect(result.isPartial && result.warning == "the JPEG XL ends early")
        try #require(result.size == PixelSize(width: 600, height: 600))
        #expect(failure(Array(jxl.prefix(30)), .jpegXL) == .truncated)
        #expect(failure([0xff, 0x0a] + [UInt8](repeating: 0xee, count: 200), .jpegXL) != nil)
    }

    /// A bare codestream of so many pixels to the square, up to its picture (ISO/IEC 18181-1, SizeHeader).
    private static func header(side: Int) -> [UInt8] {
        // not small; selector 3 and 30 bits of height - 1; ratio 1; all default.
        var bits: [Int] = [0, 1, 1]
        for place in 0..<30 { bits.append((side - 1) >> place & 1) }
        bits += [1, 0, 0, 1]
        var bytes: [UInt8] = [0xff, 0x0a]
        for at in stride(from: 0, to: bits.count, by: 8) {
            var byte = 0
            for place in 0..<8 where at + place < bits.count { byte |= bits[at + place] << place }
            bytes.append(UInt8(byte))
        }
        return bytes + [UInt8](repeating: 0, count: 100)
    }

    /// 7,400 to the square are 54.8 megapixels, within the limit of pixels, and more than a decoder has memory for; of 6,900
    /// to the square, 47.6 megapixels, the picture is asked for, and is not there.
    @Test func `of more than 48 megapixels is refused by the header`() {
        #expect(failure(Self.header(side: 7400), .jpegXL) == .tooLarge)
        #expect([.corrupt, .truncated].contains(failure(Self.header(side: 6900), .jpegXL)))
    }

    /// 1,000,000 x 1,000,000 pixels, and a container without any.
    @Test func `is refused by the header when there are too many pixels, or none`() {
        #expect(failure(Self.header(side: 1_000_000), .jpegXL) == .tooLarge)
        let signature: [UInt8] = [0, 0, 0, 12] + Array("JXL ".utf8) + [0x0d, 0x0a, 0x87, 0x0a]
        let type: [UInt8] = [0, 0, 0, 20] + Array("ftypjxl \0\0\0\0jxl ".utf8)
        #expect(failure(signature + type + [0, 0, 0, 10] + Array("xml ".utf8) + [1, 2], .jpegXL) == .unsupported)
    }
}
