import CSPNG
import Codecs
import Metadata
import PhotoModel
import TestSupport
import Testing

/// Coded by heif-enc; containers that it does not write are put together by ``HEIC``.
@Suite("A preview of a HEIC") struct HEIFTests {
    /// The photo lies on its side, the small picture in it is upright, and grey: whoever took that would show it, or turn it.
    @Test func `E03 shows the picture turned and not the small one that is embedded`() throws {
        let shop = try Workshop()
        let photo = try HEIC.Coded(Card.corners().stored(orientation: 8), in: shop)
        let small = try HEIC.Coded(Card(width: 96, height: 64) { _, _ in (128, 128, 128) }, in: shop)
        var file = HEIC([
            HEIC.item(1, photo, [HEIC.rotation(1)]), HEIC.item(2, small, isHidden: true),
        ])
        file.references = [("thmb", 2, [1])]
        for size in [96, 1200] {
            let result = try preview(file.bytes, .heic, spec: PreviewSpec(maxSize: size))
            #expect(result.size == (size == 96 ? PixelSize(width: 96, height: 64) : PixelSize(width: 192, height: 128)))
            #expect(try Card(jpeg: result.jpeg).hasCornersInPlace)
        }
    }

    /// The container turns by 180°, and EXIF says the same of the same turn.
    @Test(arguments: [1, 3, 6]) func `E01 is upright once where the container turns it and EXIF says so too`(
        orientation: Int
    ) throws {
        let shop = try Workshop()
        let photo = try HEIC.Coded(Card.corners().stored(orientation: 3), in: shop)
        let file = HEIC([HEIC.item(1, photo, [HEIC.rotation(2)])])
        let result = try preview(file.bytes, .heic, orientation: orientation)
        #expect(result.size == PixelSize(width: 192, height: 128))
        #expect(try Card(jpeg: result.jpeg).hasCornersInPlace)
    }

    /// 300 x 300 of 1280 x 720, its centre 100 to the right of the picture's and 50 above.
    @Test func `E05 of a clean aperture is that, and nothing from outside`() throws {
        let shop = try Workshop()
        let inner = Card.corners(width: 300, height: 300)
        let whole = Card(width: 1280, height: 720) { x, y in
            guard (590..<890).contains(x), (160..<460).contains(y) else { return (0, 0, 0) }
            let (red, green, blue) = inner[x - 590, y - 160]
            return (UInt8(red), UInt8(green), UInt8(blue))
        }
        let photo = try HEIC.Coded(whole, in: shop)
        let fractions = [(300, 1), (300, 1), (100, 1), (-50, 1)]
        let crop = HEIC.box("clap", fractions.flatMap { HEIC.big($0, 4) + HEIC.big($1, 4) })
        let result = try preview(HEIC([HEIC.item(1, photo, [crop])]).bytes, .heic)
        try #require(result.size == PixelSize(width: 300, height: 300))
        let card = try Card(jpeg: result.jpeg)
        #expect(card.hasCornersInPlace)
        #expect(card[4, 4].0 > 200 && card[295, 4].1 > 200 && card[4, 295].2 > 200 && card[295, 295].0 > 200)
    }

    /// Not scaled: the last rows and columns are those of the tiles, which know no edge there, and have their colour.
    @Test(arguments: [(1009, 757), (4033, 3025), (257, 1)])
    func `E07 of a grid of odd size is whole to its last row and column`(width: Int, height: Int) throws {
        let shop = try Workshop()
        let tile = Card(width: 256, height: 256) { x, y in (UInt8(60 + x / 2), UInt8(60 + y / 2), 90) }
        let coded = try HEIC.Coded(tile, quality: 100, in: shop)
        let file = HEIC(coded, width: width, height: height).bytes
        let result = try preview(file, .heic, spec: PreviewSpec(maxSize: max(width, height), quality: 100))
        try #require(result.size == PixelSize(width: width, height: height) && !result.isPartial)
        let card = try Card(jpeg: result.jpeg)
        // 4:2:0 mixes two columns and rows of colour: at a tile's edge 64 of 255 between red and red, elsewhere nothing.
        var wrong: [String] = []
        func check(_ x: Int, _ y: Int) {
            guard (8..<248).contains(x % 256) || width < 300, (8..<248).contains(y % 256) || height < 300 else {
                return
            }
            let (found, wanted) = (card[x, y], tile[x % 256, y % 256])
            if abs(found.0 - wanted.0) > 6 || abs(found.1 - wanted.1) > 6 || abs(found.2 - wanted.2) > 6 {
                wrong.append("\(x), \(y): \(found), not \(wanted)")
            }
        }
        for x in stride(from: 16, to: min(width, 4000), by: 7) where width > 300 {
            check(x, height - 1)
            check(x, max(height - 2, 0))
        }
        for y in stride(from: 16, to: height, by: 7) where height > 300 {
            check(width - 1, y)
            check(width - 2, y)
        }
        if height > 300 { check(width - 1, height - 1) }
        #expect(wrong.isEmpty, "\(wrong.prefix(5))")
    }

    /// 235 megapixels, by the same tile 3,655 times over: within the limit of pixels and a decoder's memory.
    @Test(.timeLimit(.minutes(3))) func `D12 of a panorama of 21,694 x 10,847 is there`() throws {
        let shop = try Workshop()
        let tile = try HEIC.Coded(Card(width: 256, height: 256) { _, _ in (220, 40, 40) }, in: shop)
        let file = HEIC(tile, width: 21_694, height: 10_847).bytes
        let result = try preview(file, .heic)
        #expect(result.size == PixelSize(width: 1200, height: 600))
        let card = try Card(jpeg: result.jpeg)
        for (x, y) in [(0, 0), (600, 300), (1199, 599)] {
            let (red, green, blue) = card[x, y]
            #expect(abs(red - 220) <= 4 && abs(green - 40) <= 4 && abs(blue - 40) <= 4, "\(red) \(green) \(blue)")
        }
        #expect(failure(file, .heic, spec: PreviewSpec(maxPixels: Pixels(200_000_000))) == .tooLarge)
    }

    private static let toneMap = HEIC.Item(
        id: 4, type: "tmap", data: [UInt8](repeating: 0, count: 62), properties: [HEIC.size(192, 128)])

    /// As phones have it since 2024: the gain map belongs to the photo and to what is tone mapped from both. libheif 1.15
    /// reads no such file.
    @Test func `E09 with a tone map and an auxiliary picture that two share is the photo itself`() throws {
        let shop = try Workshop()
        let photo = try HEIC.Coded(Card.corners(), in: shop)
        let gain = try HEIC.Coded(Card(width: 96, height: 64) { _, _ in (128, 128, 128) }, in: shop)
        let kind = HEIC.auxiliary("urn:com:apple:photo:2020:aux:hdrgainmap")
        var file = HEIC([
            HEIC.item(1, photo), HEIC.item(3, gain, [kind], isHidden: true), Self.toneMap,
        ])
        file.references = [("dimg", 4, [1, 3]), ("auxl", 3, [1, 4])]
        file.further = HEIC.box(
            "grpl", HEIC.full("altr", HEIC.big(9, 4) + HEIC.big(2, 4) + HEIC.big(4, 4) + HEIC.big(1, 4)))
        let result = try preview(file.bytes, .heic)
        #expect(result.size == PixelSize(width: 192, height: 128) && result.warning == nil)
        #expect(try Card(jpeg: result.jpeg).hasCornersInPlace)
    }

    /// The other way round: what is tone mapped is the file's picture (ISO 21496-1), and the photo may be hidden behind it.
    @Test(arguments: [false, true]) func `E09 whose picture is a tone map is the photo below it`(isHidden: Bool) throws
    {
        let shop = try Workshop()
        let photo = try HEIC.Coded(Card.corners().stored(orientation: 8), in: shop)
        let gain = try HEIC.Coded(Card(width: 96, height: 64) { _, _ in (128, 128, 128) }, in: shop)
        var file = HEIC([
            HEIC.item(1, photo, [HEIC.rotation(1)], isHidden: isHidden), HEIC.item(3, gain, isHidden: true),
            Self.toneMap,
        ])
        file.references = [("dimg", 4, [1, 3])]
        file.primary = 4
        let result = try preview(file.bytes, .heic)
        #expect(result.size == PixelSize(width: 192, height: 128) && result.warning == nil)
        #expect(try Card(jpeg: result.jpeg).hasCornersInPlace)
    }

    /// Photos of the corpus below a tone map, against what heif-convert makes of the photos as they are.
    @Test(.timeLimit(.minutes(5))) func `E09 below a tone map looks as it does without one`() throws {
        let shop = try Workshop()
        let names = [
            "orientation1.heic", "orientation3.heic", "orientation6.heic", "crop_orientation6.heic",
            "L_exif_xmp_iptc.heic",
            "arrow.heic",
        ]
        for row in try Corpus.rows(for: "tone maps") where names.contains(where: { "heic/" + $0 == row.path }) {
            let bytes = try row.contents()
            let mapped = try HEIC.toneMapped(bytes)
            let (width, height) = (
                try #require(Int(row["display_width"])), try #require(Int(row["display_height"]))
            )
            #expect(Inspector.inspect(ByteSource(mapped)).facts.size == PixelSize(width: width, height: height))
            try shop.put(bytes, "a.heic")
            try shop.run("heif-convert @a.heic @a.png")
            let size = PreviewGeometry.size(of: PixelSize(width: width, height: height), maxSize: 300)
            try shop.run(
                "convert @a.png -filter Lanczos -resize \(size.width)x\(size.height)! -depth 8 +profile * @a.ppm")
            let result = try preview(mapped, .heic, spec: PreviewSpec(maxSize: 300, quality: 95))
            #expect(result.size == size, "\(row.path)")
            let likeness = try Card(jpeg: result.jpeg).likeness(to: try Card(ppm: try shop.bytes("a.ppm")))
            #expect(try #require(likeness) > 30, "\(row.path): \(likeness ?? 0)")
        }
    }

    /// Not damaged, only newer than the decoder: the original is imported, and its preview made by a later one.
    @Test func `E09 of a kind that the decoder does not know is unsupported and not corrupt`() throws {
        let shop = try Workshop()
        let photo = try HEIC.Coded(Card.corners(), in: shop)
        var main = HEIC([HEIC.item(1, photo), Self.toneMap])
        main.primary = 4
        // A tone map of nothing, of itself, of what is not there.
        for parts in [[], [[4, 1]], [[9, 1]]] as [[[Int]]] {
            main.references = parts.map { ("dimg", 4, $0) }
            #expect(failure(main.bytes, .heic) == .unsupported, "\(parts)")
        }
        // An auxiliary picture of nothing: what libheif says of the first is said of any rule that it does not know.
        var strange = HEIC([HEIC.item(1, photo), HEIC.item(3, photo, [HEIC.auxiliary("urn:x")], isHidden: true)])
        strange.references = [("auxl", 3, [])]
        #expect(failure(strange.bytes, .heic) == .unsupported)
    }

    /// heif-enc takes 16-bit PNG down to these depths. Slopes would show a lost or doubled bit.
    @Test(arguments: [10, 12]) func `of more than 8 bits has its colours`(depth: Int) throws {
        let (shop, card) = (try Workshop(), Card.slopes(width: 160, height: 120))
        try shop.put(card, "a.ppm")
        try shop.run("convert @a.ppm -depth 16 -define png:bit-depth=16 -define png:color-type=2 @a.png")
        let heic = try shop.make("heif-enc -q 95 -b \(depth) -p chroma=444 @a.png -o @a.heic")
        let info = try Programs.run("/usr/bin/env", ["exiftool", "-s3", "-BitDepthLuma", shop.path("a.heic")])
        try #require(info.output == "\(depth)\n")
        let result = try preview(heic, .heic, spec: PreviewSpec(quality: 95))
        #expect(try #require(try Card(jpeg: result.jpeg).likeness(to: card)) > 36)
    }

    @Test func `E23 of a transparent picture lies on white`() throws {
        let shop = try Workshop()
        var samples: [UInt8] = []
        for _ in 0..<64 { for x in 0..<64 { samples += x < 32 ? [0, 0, 0, 0] : [200, 40, 40, 255] } }
        try shop.put(
            PNGTests.encode(samples, width: 64, height: 64, colourType: SPNG_COLOR_TYPE_TRUECOLOR_ALPHA), "a.png")
        let heic = try shop.make("heif-enc -q 95 @a.png -o @a.heic")
        let card = try Card(jpeg: try preview(heic, .heic).jpeg)
        #expect(card[8, 32].0 >= 250 && card[8, 32].1 >= 250 && card[8, 32].2 >= 250, "\(card[8, 32])")
        #expect(abs(card[56, 32].0 - 200) < 6 && abs(card[56, 32].1 - 40) < 6, "\(card[56, 32])")
    }

    struct Coding: Sendable, CustomStringConvertible {
        var primaries = 1
        var transfer = 13
        var matrix = 6
        /// Of red and blue in the luma, as H.273 has it for that matrix.
        var weights = (red: 0.299, blue: 0.114)
        var isFull = true
        /// What is coded, and what that is in sRGB.
        var rgb = (200.0, 100.0, 60.0)
        var wanted = (200, 100, 60)
        var description: String { "\(primaries)/\(transfer)/\(matrix), \(isFull ? "full" : "video") range" }

        /// heif-enc makes every picture BT.601 of full range: this is what it has to be given so that the planes are those
        /// of this coding.
        var disguised: (UInt8, UInt8, UInt8) {
            let green = 1 - weights.red - weights.blue
            let luma = weights.red * rgb.0 + green * rgb.1 + weights.blue * rgb.2
            let (y, c) = isFull ? (luma, 1.0) : (16 + luma * 219 / 255, 224.0 / 255)
            let blue = c * (rgb.2 - luma) / (2 * (1 - weights.blue))
            let red = c * (rgb.0 - luma) / (2 * (1 - weights.red))
            func byte(_ value: Double) -> UInt8 { UInt8(min(max(value.rounded(), 0), 255)) }
            return (byte(y + 1.402 * red), byte(y - 0.344136 * blue - 0.714136 * red), byte(y + 1.772 * blue))
        }
    }

    private static let bt709 = (red: 0.2126, blue: 0.0722)
    private static let bt2020 = (red: 0.2627, blue: 0.0593)

    /// What 'colr' says of the numbers is undone. (200, 100, 60) of Display P3 is (215, 93, 47) of sRGB, as in ColourTests;
    /// what PQ becomes is computed apart from this code, by the rule of docs/configuration.md.
    @Test(arguments: [
        Coding(), Coding(isFull: false), Coding(matrix: 1, weights: bt709),
        Coding(matrix: 1, weights: bt709, isFull: false),
        Coding(matrix: 9, weights: bt2020), Coding(matrix: 9, weights: bt2020, isFull: false),
        Coding(primaries: 12, matrix: 6, wanted: (215, 93, 47)),
        Coding(primaries: 12, matrix: 1, weights: bt709, isFull: false, wanted: (215, 93, 47)),
        Coding(
            primaries: 9, transfer: 16, matrix: 9, weights: bt2020, isFull: false, rgb: (148, 120, 90),
            wanted: (236, 139, 65)),
    ])
    func `E11 honours matrix, range, primaries and transfer`(coding: Coding) throws {
        let shop = try Workshop()
        let colour = coding.disguised
        let picture = try HEIC.Coded(Card(width: 64, height: 64) { _, _ in colour }, quality: 100, in: shop)
        let box = HEIC.box(
            "colr",
            Array("nclx".utf8) + HEIC.big(coding.primaries, 2) + HEIC.big(coding.transfer, 2)
                + HEIC.big(coding.matrix, 2)
                + [coding.isFull ? 0x80 : 0])
        let heic = HEIC([HEIC.item(1, picture, [box])]).bytes
        let (red, green, blue) = try Card(jpeg: try preview(heic, .heic, spec: PreviewSpec(quality: 100)).jpeg)[32, 32]
        let wanted = coding.wanted
        #expect(
            abs(red - wanted.0) <= 5 && abs(green - wanted.1) <= 5 && abs(blue - wanted.2) <= 5,
            "\(red) \(green) \(blue)")
    }
}
