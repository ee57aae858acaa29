import CSPNG
import Codecs
import PhotoModel
import Testing

/// Pictures by cwebp and webpmux.
@Suite("A preview of a WebP") struct WebPTests {
    /// cwebp's lossless coding keeps every pixel; its lossy one at 95 costs about as much as a JPEG at 95.
    @Test(arguments: [("-lossless", 40.0), ("-q 95", 36)])
    func `has its pixels, scaled and turned`(coding: String, likeness: Double) throws {
        let (shop, card) = (try Workshop(), Card.slopes(width: 319, height: 239))
        try shop.put(card.stored(orientation: 8), "a.ppm")
        let webp = try shop.make("cwebp -quiet \(coding) @a.ppm -o @a.webp")
        let whole = try Card(jpeg: try preview(webp, .webp, orientation: 8).jpeg)
        #expect(try #require(whole.likeness(to: card)) > likeness)
        let small = try Card(jpeg: try preview(webp, .webp, orientation: 8, spec: PreviewSpec(maxSize: 101)).jpeg)
        #expect(try #require(small.likeness(to: Card.slopes(width: 101, height: 76))) > likeness - 3)
    }

    @Test(arguments: 1...8) func `E20 is upright in all eight orientations`(orientation: Int) throws {
        let shop = try Workshop()
        try shop.put(Card.corners().stored(orientation: orientation), "a.ppm")
        let webp = try shop.make("cwebp -quiet -q 90 @a.ppm -o @a.webp")
        let result = try preview(webp, .webp, orientation: orientation)
        try #require(result.size == PixelSize(width: 192, height: 128))
        #expect(try Card(jpeg: result.jpeg).hasCornersInPlace)
    }

    @Test(arguments: ["-lossless -exact", "-q 100"])
    func `E23 lies on white where it is transparent`(coding: String) throws {
        // Left: invisible black. Right: half visible red, 128 of 255.
        var samples: [UInt8] = []
        for _ in 0..<64 { for x in 0..<64 { samples += x < 32 ? [0, 0, 0, 0] : [255, 0, 0, 128] } }
        let shop = try Workshop()
        try shop.put(
            PNGTests.encode(samples, width: 64, height: 64, colourType: SPNG_COLOR_TYPE_TRUECOLOR_ALPHA), "a.png")
        let card = try Card(
            jpeg: try preview(try shop.make("cwebp -quiet \(coding) @a.png -o @a.webp"), .webp).jpeg)
        #expect(card[8, 32].0 >= 252 && card[8, 32].1 >= 252 && card[8, 32].2 >= 252)
        let (red, green, blue) = card[56, 32]
        #expect(red >= 250 && abs(green - 127) < 6 && abs(blue - 127) < 6, "\(red) \(green) \(blue)")
    }

    @Test func `of an animation shows the first frame, at its place on the canvas`() throws {
        let shop = try Workshop()
        try shop.put(Card(width: 40, height: 30) { _, _ in (0, 0, 255) }, "first.ppm")
        try shop.put(Card(width: 120, height: 90) { _, _ in (255, 0, 0) }, "second.ppm")
        try shop.run("cwebp -quiet -q 95 @first.ppm -o @first.webp")
        try shop.run("cwebp -quiet -q 95 @second.ppm -o @second.webp")
        // A canvas is as large as what is placed on it.
        let webp = try shop.make(
            "webpmux -frame @first.webp +100+60+20+1 -frame @second.webp +100+0+0+1 -bgcolor 255,0,0,0 -o @a.webp")
        let result = try preview(webp, .webp)
        try #require(result.size == PixelSize(width: 120, height: 90))
        let card = try Card(jpeg: result.jpeg)
        #expect(card[10, 10].0 >= 252 && card[10, 10].1 >= 252 && card[10, 10].2 >= 252)
        #expect(card[80, 35].2 > 240 && card[80, 35].0 < 15, "\(card[80, 35])")
        #expect(card[80, 70].1 >= 250)
    }

    /// (200, 100, 60) of Display P3 is (214.9, 92.6, 46.9) of sRGB, as in ColourTests.
    @Test func `E11 Display P3 is converted to sRGB`() throws {
        let shop = try Workshop()
        try shop.put(Card(width: 64, height: 64) { _, _ in (200, 100, 60) }, "a.ppm")
        try shop.put(try ColourTests.profile(isP3: true), "p3.icc")
        try shop.run("cwebp -quiet -lossless @a.ppm -o @plain.webp")
        let webp = try shop.make("webpmux -set icc @p3.icc @plain.webp -o @a.webp")
        let (red, green, blue) = try Card(jpeg: try preview(webp, .webp, spec: PreviewSpec(quality: 100)).jpeg)[32, 32]
        #expect(abs(red - 215) <= 2 && abs(green - 93) <= 2 && abs(blue - 47) <= 2, "\(red) \(green) \(blue)")
    }

    @Test(arguments: ["-lossless", "-q 95"])
    func `D03 cut in the middle shows its upper part on white`(coding: String) throws {
        let card = Card(width: 200, height: 200) { x, y in
            (UInt8(x * 37 & 255), UInt8(y * 91 & 255), UInt8((x ^ y) & 255))
        }
        let shop = try Workshop()
        try shop.put(card, "a.ppm")
        let webp = try shop.make("cwebp -quiet \(coding) @a.ppm -o @a.webp")
        let result = try preview(Array(webp.prefix(webp.count * 6 / 10)), .webp)
        try #require(result.isPartial && result.size == PixelSize(width: 200, height: 200))
        #expect(result.warning == "the WebP ends early")
        let (cut, whole) = (try Card(jpeg: result.jpeg), try Card(jpeg: try preview(webp, .webp).jpeg))
        #expect(cut.rgb.prefix(200 * 3 * 30) == whole.rgb.prefix(200 * 3 * 30))
        #expect(cut[100, 198].0 >= 252 && cut[100, 198].1 >= 252)
        #expect(failure(Array(webp.prefix(40)), .webp) == .truncated)
    }

    @Test func `is refused by the header when there are too many pixels`() throws {
        let shop = try Workshop()
        try shop.put(Card.corners(), "a.ppm")
        var webp = try shop.make("cwebp -quiet -q 90 @a.ppm -o @a.webp")
        let spec = PreviewSpec(maxPixels: Pixels(1 << 20))
        // Width and height of VP8 (RFC 6386, 9.1), 14 bits each.
        webp.replaceSubrange(26..<30, with: [0xff, 0x3f, 0xff, 0x3f])
        #expect(failure(webp, .webp, spec: spec) == .tooLarge)
        webp[23] = 0  // of the start code 9d 01 2a
        #expect(failure(webp, .webp) == .corrupt)
    }

    /// More than the 32 megapixels from which libwebp is made to scale; both ways of its output.
    @Test(arguments: ["-lossless -z 0", "-m 0 -q 80"])
    func `of many pixels comes out the same size and sides`(coding: String) throws {
        let shop = try Workshop()
        try shop.put(Card.corners(width: 96, height: 64), "a.ppm")
        try shop.run("convert @a.ppm -scale 7201x4801! @large.ppm")
        let webp = try shop.make("cwebp -quiet \(coding) @large.ppm -o @a.webp")
        let result = try preview(webp, .webp)
        try #require(result.size == PixelSize(width: 1200, height: 800))
        #expect(try Card(jpeg: result.jpeg).hasCornersInPlace)
    }
}
