import Codecs
import PhotoModel
import Testing

/// A photo and, apart from it, a picture of how opaque it is (ISO/IEC 23008-12, `auxl`). MIAF has them turned and cropped
/// alike, so that both are coded the same way round.
@Suite("A transparent picture in a HEIF container") struct HEIFAlphaTests {
    struct Turn: Sendable, CustomStringConvertible {
        var rotation: UInt8?
        var mirror: UInt8?
        /// Upright under it: what EXIF would have called the stored picture.
        var exif: Int
        var description: String { "irot \(rotation ?? 0), imir \(mirror.map { "\($0)" } ?? "none")" }

        var properties: [[UInt8]] {
            (rotation.map { [HEIC.rotation($0)] } ?? []) + (mirror.map { [HEIC.mirror($0)] } ?? [])
        }
    }

    private static let turns: [Turn] = [
        Turn(exif: 1), Turn(mirror: 1, exif: 2), Turn(rotation: 2, exif: 3), Turn(mirror: 0, exif: 4),
        Turn(rotation: 1, mirror: 0, exif: 5), Turn(rotation: 3, exif: 6), Turn(rotation: 3, mirror: 0, exif: 7),
        Turn(rotation: 1, exif: 8),
    ]

    /// Nothing of the green quarter is left, and the others are whole: then each other has its colour, and green is white.
    private static func opacity(width: Int = 192, height: Int = 128) -> Card {
        Card(width: width, height: height) { x, y in
            x >= width / 2 && y < height / 2 ? (0, 0, 0) : (255, 255, 255)
        }
    }

    private static func lacksGreen(_ card: Card) -> Bool {
        let wanted: [(Int, Int, (Int, Int, Int))] = [
            (1, 1, (255, 0, 0)), (3, 1, (255, 255, 255)), (1, 3, (0, 0, 255)), (3, 3, (255, 255, 255)),
        ]
        return wanted.allSatisfy { x, y, colour in
            let found = card[card.width * x / 4, card.height * y / 4]
            return abs(found.0 - colour.0) < 12 && abs(found.1 - colour.1) < 12 && abs(found.2 - colour.2) < 12
        }
    }

    private static func file(
        _ photo: HEIC.Coded, _ turns: [[UInt8]], alpha: HEIC.Coded, _ alphaTurns: [[UInt8]]
    ) -> HEIC {
        let kind =
            photo.codec == .hevc ? "urn:mpeg:hevc:2015:auxid:1" : "urn:mpeg:mpegB:cicp:systems:auxiliary:alpha"
        var file = HEIC([
            HEIC.item(1, photo, turns), HEIC.item(2, alpha, [HEIC.auxiliary(kind)] + alphaTurns, isHidden: true),
        ])
        file.references = [("auxl", 2, [1])]
        return file
    }

    /// Also where only the photo's turn is named, for whoever thinks of alpha as a plane of it.
    @Test(arguments: turns, [true, false])
    func `E23 is transparent where it should be, however it is turned`(turn: Turn, isBoth: Bool) throws {
        let shop = try Workshop()
        let photo = try HEIC.Coded(Card.corners().stored(orientation: turn.exif), in: shop)
        let alpha = try HEIC.Coded(Self.opacity().stored(orientation: turn.exif), in: shop)
        let file = Self.file(photo, turn.properties, alpha: alpha, isBoth ? turn.properties : [])
        let result = try preview(file.bytes, .heic)
        #expect(result.size == PixelSize(width: 192, height: 128) && result.warning == nil)
        #expect(Self.lacksGreen(try Card(jpeg: result.jpeg)))
    }

    /// 96 x 64 out of 156 x 114, of which 40 lie to the left and 10 above: the middle is 10 to the right, and 15 higher.
    @Test(arguments: turns, [true, false])
    func `E05 E23 is transparent where it should be, cropped and turned`(turn: Turn, isBoth: Bool) throws {
        let shop = try Workshop()
        func framed(_ card: Card) -> Card {
            let inner = card.stored(orientation: turn.exif)
            return Card(width: inner.width + 60, height: inner.height + 50) { x, y in
                guard (40..<40 + inner.width).contains(x), (10..<10 + inner.height).contains(y) else {
                    return (0, 0, 0)
                }
                let (red, green, blue) = inner[x - 40, y - 10]
                return (UInt8(red), UInt8(green), UInt8(blue))
            }
        }
        let photo = try HEIC.Coded(framed(.corners(width: 96, height: 64)), in: shop)
        let alpha = try HEIC.Coded(framed(Self.opacity(width: 96, height: 64)), in: shop)
        let crop = HEIC.crop(photo.width - 60, photo.height - 50, right: 10, down: -15)
        let properties = [crop] + turn.properties
        let file = Self.file(photo, properties, alpha: alpha, isBoth ? properties : [])
        let result = try preview(file.bytes, .heic)
        #expect(result.size == PixelSize(width: 96, height: 64) && result.warning == nil)
        #expect(Self.lacksGreen(try Card(jpeg: result.jpeg)))
    }

    /// What MIAF does not have is done as heif-convert does it: the photo lies as it is coded, and alpha is turned.
    @Test func `is transparent where heif-convert has it when only alpha is turned`() throws {
        let shop = try Workshop()
        let photo = try HEIC.Coded(.corners(), in: shop)
        let alpha = try HEIC.Coded(Self.opacity().stored(orientation: 3), in: shop)
        let file = Self.file(photo, [], alpha: alpha, [HEIC.rotation(2)]).bytes
        try shop.put(file, "a.heic")
        try shop.run("heif-convert @a.heic @a.png")
        try shop.run("convert @a.png -background white -flatten -depth 8 @a.ppm")
        #expect(Self.lacksGreen(try Card(ppm: try shop.bytes("a.ppm"))))
        #expect(Self.lacksGreen(try Card(jpeg: try preview(file, .heic).jpeg)))
    }

    /// libavif reads no such file, and libheif leaves alpha out: so there is a picture, and a word about it.
    @Test(arguments: HEIC.Codec.allCases, [(96, 64), (64, 43), (384, 256)])
    func `says so when alpha has another size and is not heeded`(
        codec: HEIC.Codec, size: (width: Int, height: Int)
    ) throws {
        let shop = try Workshop()
        let photo = try HEIC.Coded(.corners(), codec: codec, in: shop)
        let alpha = try HEIC.Coded(Self.opacity(width: size.width, height: size.height), codec: codec, in: shop)
        let result = try preview(Self.file(photo, [], alpha: alpha, []).bytes, codec.type)
        #expect(result.size == PixelSize(width: 192, height: 128))
        #expect(try Card(jpeg: result.jpeg).hasCornersInPlace)
        #expect(result.warning?.contains("transparent") == true)
    }
}
