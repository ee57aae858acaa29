import CSPNG
import CZlib
import Codecs
import Glibc
import PhotoModel
import Testing

@Suite("A preview of a PNG") struct PNGTests {
    /// By libspng's encoder. `channels` is 1 (grey), 3 or 4; `depth` 8 or 16, the latter big-endian.
    static func encode(
        _ samples: [UInt8], width: Int, height: Int, colourType: spng_color_type, depth: UInt8 = 8, gamma: Double? = nil
    ) throws -> [UInt8] {
        let context = try unsafe #require(unsafe spng_ctx_new(Int32(SPNG_CTX_ENCODER.rawValue)))
        defer { unsafe spng_ctx_free(context) }
        var header = spng_ihdr(
            width: UInt32(width), height: UInt32(height), bit_depth: depth, color_type: UInt8(colourType.rawValue),
            compression_method: 0, filter_method: 0, interlace_method: 0)
        try #require(unsafe spng_set_option(context, SPNG_ENCODE_TO_BUFFER, 1) == 0)
        try #require(unsafe spng_set_ihdr(context, &header) == 0)
        if let gamma { try #require(unsafe spng_set_gama(context, gamma) == 0) }
        try #require(
            unsafe spng_encode_image(
                context, samples, samples.count, Int32(SPNG_FMT_RAW.rawValue), Int32(SPNG_ENCODE_FINALIZE.rawValue))
                == 0)
        var (count, error) = (0, Int32(0))
        let memory = unsafe spng_get_png_buffer(context, &count, &error)
        defer { unsafe free(memory) }
        return unsafe Array(UnsafeRawBufferPointer(start: try #require(unsafe memory), count: count))
    }

    static func png(_ card: Card) throws -> [UInt8] {
        try encode(card.rgb, width: card.width, height: card.height, colourType: SPNG_COLOR_TYPE_TRUECOLOR)
    }

    @Test func `has its pixels, scaled and turned`() throws {
        let card = Card.slopes(width: 319, height: 239)
        let png = try Self.png(card.stored(orientation: 8))
        #expect(try #require(try Card(jpeg: try preview(png, .png, orientation: 8).jpeg).likeness(to: card)) > 40)
        let small = try preview(png, .png, orientation: 8, spec: PreviewSpec(maxSize: 101))
        #expect(
            try #require(try Card(jpeg: small.jpeg).likeness(to: Card.slopes(width: 101, height: 76))) > 37)
    }

    @Test func `E23 lies on white where it is transparent`() throws {
        // Left: invisible black. Right: half visible red, 128 of 255.
        var samples: [UInt8] = []
        for _ in 0..<64 { for x in 0..<64 { samples += x < 32 ? [0, 0, 0, 0] : [255, 0, 0, 128] } }
        let png = try Self.encode(samples, width: 64, height: 64, colourType: SPNG_COLOR_TYPE_TRUECOLOR_ALPHA)
        let card = try Card(jpeg: try preview(png, .png).jpeg)
        #expect(card[8, 32].0 >= 253 && card[8, 32].1 >= 253 && card[8, 32].2 >= 253)
        let (red, green, blue) = card[56, 32]
        #expect(red >= 252 && abs(green - 127) < 4 && abs(blue - 127) < 4)
    }

    @Test func `of 16-bit grey is grey`() throws {
        var samples: [UInt8] = []
        for at in 0..<64 * 64 { samples += [UInt8(at % 64 * 4), 0] }
        let png = try Self.encode(samples, width: 64, height: 64, colourType: SPNG_COLOR_TYPE_GRAYSCALE, depth: 16)
        let card = try Card(jpeg: try preview(png, .png).jpeg)
        for x in [4, 20, 40, 60] {
            let (red, green, blue) = card[x, 30]
            #expect(abs(red - 4 * x) <= 3 && red == green && green == blue)
        }
    }

    /// Linear light: 50 of 255 is sRGB 122 (IEC 61966-2-1).
    @Test func `heeds gAMA`() throws {
        let samples = [UInt8](repeating: 50, count: 3 * 32 * 32)
        let linear = try Self.encode(samples, width: 32, height: 32, colourType: SPNG_COLOR_TYPE_TRUECOLOR, gamma: 1)
        let usual = try Self.encode(
            samples, width: 32, height: 32, colourType: SPNG_COLOR_TYPE_TRUECOLOR, gamma: 0.45455)
        #expect(abs(try Card(jpeg: try preview(linear, .png).jpeg)[16, 16].1 - 122) <= 2)
        #expect(abs(try Card(jpeg: try preview(usual, .png).jpeg)[16, 16].1 - 50) <= 1)
    }

    @Test func `cut in the middle shows its upper part on white`() throws {
        let card = Card(width: 200, height: 200) { x, y in
            (UInt8(x * 37 & 255), UInt8(y * 91 & 255), UInt8((x ^ y) & 255))
        }
        let png = try Self.png(card)
        let result = try preview(Array(png.prefix(png.count / 2)), .png)
        #expect(result.isPartial && result.size == PixelSize(width: 200, height: 200))
        let (cut, whole) = (try Card(jpeg: result.jpeg), try Card(jpeg: try preview(png, .png).jpeg))
        #expect(cut.rgb.prefix(200 * 3 * 30) == whole.rgb.prefix(200 * 3 * 30))
        #expect(cut[100, 198].0 >= 253 && cut[100, 198].1 >= 253)
    }

    /// Text is nothing to a picture, however much there is: 10 MB out of 10 kB, and 20,000 short ones.
    @Test(arguments: [true, false]) func `shows its picture beside any amount of text`(isOne: Bool) throws {
        let card = Card.slopes(width: 319, height: 239)
        let png = try Self.png(card)
        func chunk(_ type: String, _ body: [UInt8]) -> [UInt8] {
            let whole = Array(type.utf8) + body
            let sum = unsafe crc32(0, whole, UInt32(whole.count))
            return Self.big(body.count) + whole + Self.big(Int(sum))
        }
        var texts: [UInt8] = []
        if isOne {
            let long = [UInt8](repeating: 0x41, count: 10_000_000)
            var deflated = [UInt8](repeating: 0, count: 20_000)
            var count = UInt(deflated.count)
            try #require(unsafe compress2(&deflated, &count, long, UInt(long.count), 9) == Z_OK)
            texts = chunk("zTXt", Array("Comment".utf8) + [0, 0] + deflated.prefix(Int(count)))
        } else {
            for number in 0..<20_000 { texts += chunk("tEXt", Array("Comment".utf8) + [0] + Array("\(number)".utf8)) }
        }
        let header = 8 + 12 + 13
        let result = try preview(Array(png.prefix(header)) + texts + png.dropFirst(header), .png)
        #expect(!result.isPartial)
        #expect(try #require(try Card(jpeg: result.jpeg).likeness(to: card)) > 40)
    }

    private static func big(_ number: Int) -> [UInt8] { [24, 16, 8, 0].map { UInt8(number >> $0 & 255) } }

    @Test func `is refused by the header when there are too many pixels`() throws {
        // 50,000 x 50,000 in the header alone, as a bomb has it.
        var png = try Self.png(Card.corners())
        png.replaceSubrange(16..<24, with: [0, 0, 0xc3, 0x50, 0, 0, 0xc3, 0x50])
        #expect(failure(png, .png) == .tooLarge)
    }

    /// A chunk with its checksum (PNG, third edition, annex D).
    static func chunk(_ type: String, _ content: [UInt8]) -> [UInt8] {
        let body = Array(type.utf8) + content
        var sum = UInt32.max
        for byte in body {
            sum ^= UInt32(byte)
            for _ in 0..<8 { sum = sum & 1 == 1 ? sum >> 1 ^ 0xEDB8_8320 : sum >> 1 }
        }
        func big(_ value: UInt32) -> [UInt8] { (0..<4).reversed().map { UInt8(truncatingIfNeeded: value >> (8 * $0)) } }
        return big(UInt32(content.count)) + body + big(~sum)
    }
}
