import CTurboJPEG
import Codecs
import PhotoModel
import Testing

/// Pictures by ImageMagick.
@Suite("A preview of a GIF") struct GIFTests {
    @Test(arguments: ["", "-interlace GIF"])
    func `has its pixels, scaled and turned`(coding: String) throws {
        let (shop, card) = (try Workshop(), Card.corners())
        try shop.put(card.stored(orientation: 6), "a.ppm")
        let gif = try shop.make("convert @a.ppm \(coding) @a.gif")
        let whole = try Card(jpeg: try preview(gif, .gif, orientation: 6, spec: PreviewSpec(quality: 100)).jpeg)
        #expect(whole.hasCornersInPlace)
        // Chroma of 4:2:0 is soft at edges: libjpeg-turbo's own JPEG of the card has the same.
        let wanted = try Card(jpeg: card.jpeg(TJSAMP_420, quality: 100))
        #expect(try #require(whole.likeness(to: wanted)) > 40)
        let small = try preview(gif, .gif, orientation: 6, spec: PreviewSpec(maxSize: 96))
        #expect(small.size == PixelSize(width: 96, height: 64))
        #expect(try Card(jpeg: small.jpeg).hasCornersInPlace)
    }

    @Test func `E23 of an animation is the first image at its place, and white around it`() throws {
        let shop = try Workshop()
        try shop.put(Card(width: 40, height: 30) { x, _ in x < 20 ? (0, 0, 255) : (0, 255, 0) }, "first.ppm")
        try shop.put(Card(width: 120, height: 90) { _, _ in (255, 0, 0) }, "second.ppm")
        let gif = try shop.make(
            "convert -delay 10 ( @first.ppm -transparent #00ff00 -repage 120x90+60+20 ) ( @second.ppm -repage 120x90+0+0 ) @a.gif"
        )
        let result = try preview(gif, .gif)
        try #require(result.size == PixelSize(width: 120, height: 90) && !result.isPartial)
        let card = try Card(jpeg: result.jpeg)
        #expect(card[10, 10].0 >= 252 && card[10, 10].1 >= 252 && card[10, 10].2 >= 252)
        #expect(card[70, 35].2 > 240 && card[70, 35].0 < 15, "\(card[70, 35])")
        #expect(card[90, 35].0 >= 250 && card[90, 35].1 >= 250 && card[90, 35].2 >= 250, "\(card[90, 35])")
    }

    @Test func `D03 cut in the middle shows its upper part on white`() throws {
        let card = Card(width: 200, height: 200) { x, y in (UInt8((x * 37 ^ y * 91) & 0xe0), UInt8(y & 0xc0), 0) }
        let shop = try Workshop()
        try shop.put(card, "a.ppm")
        let gif = try shop.make("convert @a.ppm @a.gif")
        let result = try preview(Array(gif.prefix(gif.count / 2)), .gif)
        try #require(result.isPartial && result.size == PixelSize(width: 200, height: 200))
        #expect(result.warning == "the GIF ends early")
        let (cut, whole) = (try Card(jpeg: result.jpeg), try Card(jpeg: try preview(gif, .gif).jpeg))
        #expect(cut.rgb.prefix(200 * 3 * 30) == whole.rgb.prefix(200 * 3 * 30))
        #expect(cut[100, 198].0 >= 252 && cut[100, 198].1 >= 252)
        #expect(failure(Array(gif.prefix(20)), .gif) == .truncated)
        #expect(failure(Array("GIF89a\u{1}\u{1}\u{1}\u{1}\u{1}\u{1}\u{1}nonsense".utf8), .gif) == .corrupt)
    }

    @Test func `cut on its way through an interlaced picture shows the whole of it, coarsely`() throws {
        let shop = try Workshop()
        try shop.put(Card.corners(width: 192, height: 128), "a.ppm")
        // Without compression to speak of, so that a third of the file is a third of the rows.
        try shop.run("convert @a.ppm -attenuate 0.02 -seed 1 +noise Uniform @noise.ppm")
        let gif = try shop.make("convert @noise.ppm -interlace GIF @a.gif")
        let result = try preview(Array(gif.prefix(gif.count / 2)), .gif)
        #expect(result.isPartial)
        let card = try Card(jpeg: result.jpeg)
        #expect(card[144, 32].1 > 200 && card[144, 32].0 < 80 && card[48, 96].2 > 200 && card[48, 96].0 < 80)
    }

    @Test func `is refused by the header when there are too many pixels`() throws {
        let shop = try Workshop()
        try shop.put(Card.corners(), "a.ppm")
        var gif = try shop.make("convert @a.ppm @a.gif")
        gif.replaceSubrange(6..<10, with: [0xff, 0xff, 0xff, 0xff])
        #expect(failure(gif, .gif) == .tooLarge)
    }
}
