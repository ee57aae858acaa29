import Codecs
import Metadata
import PhotoModel
import Testing

/// Pictures that are made of others (ISO/IEC 23008-12, 6.6.2), and what turns them. libavif knows none of these: of an AVIF,
/// too, they are libheif's.
@Suite("A preview of a derived picture") struct DerivedPictureTests {
    private static func identity(_ parts: [[UInt8]], of item: HEIC.Item) -> HEIC {
        var file = HEIC([
            HEIC.Item(id: 1, type: "iden", data: [], properties: parts), item,
        ])
        file.references = [("dimg", 1, [item.id])]
        return file
    }

    /// Turned once by itself and once by what it is made of; 'ispe' is the size before its own turn.
    @Test(arguments: HEIC.Codec.allCases) func `of the same picture is turned by both`(codec: HEIC.Codec) throws {
        let shop = try Workshop()
        let photo = try HEIC.Coded(Card.corners().stored(orientation: 8), codec: codec, in: shop)
        for (turns, own) in [([1], []), ([], [1]), ([3, 2], []), ([2], [3])] as [([UInt8], [UInt8])] {
            let item = HEIC.item(2, photo, own.map { HEIC.rotation($0) }, isHidden: true)
            let isTurned = !own.isEmpty && own[0] % 2 == 1
            let size = isTurned ? HEIC.size(192, 128) : HEIC.size(128, 192)
            let file = Self.identity([size] + turns.map { HEIC.rotation($0) }, of: item).bytes
            let result = try preview(file, codec.type)
            #expect(result.size == PixelSize(width: 192, height: 128), "\(turns), \(own)")
            #expect(try Card(jpeg: result.jpeg).hasCornersInPlace, "\(turns), \(own)")
            #expect(Inspector.inspect(ByteSource(file)).facts.size == result.size, "\(turns), \(own)")
        }
    }

    /// In the order listed (ISO/IEC 23008-12, 6.5.1), as heif-convert does it. Mirrored first, a quarter to the left is one to
    /// the right.
    @Test(arguments: HEIC.Codec.allCases, [(UInt8(0), UInt8(1), 7), (0, 3, 5), (1, 1, 5), (1, 3, 7)])
    func `E01 is mirrored and turned in the order listed`(
        codec: HEIC.Codec, turn: (mirror: UInt8, rotation: UInt8, exif: Int)
    ) throws {
        let shop = try Workshop()
        let stored = Card.corners().stored(orientation: turn.exif)
        let photo = try HEIC.Coded(stored, codec: codec, in: shop)
        let file = HEIC([HEIC.item(1, photo, [HEIC.mirror(turn.mirror), HEIC.rotation(turn.rotation)])]).bytes
        try shop.put(file, "a.heic")
        try shop.run("heif-convert @a.heic @a.png")
        try shop.run("convert @a.png -depth 8 @a.ppm")
        #expect(try Card(ppm: try shop.bytes("a.ppm")).hasCornersInPlace)
        #expect(try Card(jpeg: try preview(file, codec.type).jpeg).hasCornersInPlace)
    }

    @Test(arguments: HEIC.Codec.allCases)
    func `E09 of a kind that nobody knows is unsupported and not corrupt`(codec: HEIC.Codec) throws {
        let shop = try Workshop()
        let item = HEIC.item(2, try HEIC.Coded(Card.corners(), codec: codec, in: shop), isHidden: true)
        var file = Self.identity([HEIC.size(192, 128)], of: item)
        file.items[0].type = "sato"
        #expect(failure(file.bytes, codec.type) == .unsupported)
    }

    /// Two pictures on a canvas (ISO/IEC 23008-12, 6.6.2.3.2): its colour, its size, and where each lies.
    @Test(arguments: HEIC.Codec.allCases)
    func `of an overlay has all of its pictures at their places`(codec: HEIC.Codec) throws {
        let shop = try Workshop()
        let red = try HEIC.Coded(Card(width: 64, height: 64) { _, _ in (220, 30, 30) }, codec: codec, in: shop)
        let blue = try HEIC.Coded(Card(width: 64, height: 64) { _, _ in (30, 30, 220) }, codec: codec, in: shop)
        // White, opaque; then its size, and of each picture how far right and down it lies.
        var overlay: [UInt8] = [0, 0] + [UInt8](repeating: 0xFF, count: 8)
        for number in [192, 128, 0, 0, 96, 48] { overlay += HEIC.big(number, 2) }
        var file = HEIC([
            HEIC.Item(id: 1, type: "iovl", data: overlay, properties: [HEIC.size(192, 128)]),
            HEIC.item(2, red, isHidden: true), HEIC.item(3, blue, isHidden: true),
        ])
        file.references = [("dimg", 1, [2, 3])]
        let result = try preview(file.bytes, codec.type)
        try #require(result.size == PixelSize(width: 192, height: 128))
        let card = try Card(jpeg: result.jpeg)
        #expect(card[32, 32].0 > 200 && card[32, 32].2 < 60, "\(card[32, 32])")
        #expect(card[128, 80].2 > 200 && card[128, 80].0 < 60, "\(card[128, 80])")
        #expect(card[180, 10].0 > 245 && card[180, 10].1 > 245 && card[180, 10].2 > 245, "\(card[180, 10])")
    }

    /// libheif 1.15 shows what lies behind that part in memory.
    @Test(arguments: [(2, [0, -1]), (2, [-64, 0]), (4, [0, -70_000])], HEIC.Codec.allCases)
    func `of an overlay that begins outside of its canvas is not made`(
        number: (width: Int, place: [Int]), codec: HEIC.Codec
    ) throws {
        let shop = try Workshop()
        let red = try HEIC.Coded(Card(width: 64, height: 64) { _, _ in (220, 30, 30) }, codec: codec, in: shop)
        func file(_ place: [Int]) -> [UInt8] {
            var overlay: [UInt8] = [0, number.width == 2 ? 0 : 1] + [UInt8](repeating: 0xFF, count: 8)
            for value in [192, 128] + place { overlay += HEIC.big(value, number.width) }
            var file = HEIC([
                HEIC.Item(id: 1, type: "iovl", data: overlay, properties: [HEIC.size(192, 128)]),
                HEIC.item(2, red, isHidden: true),
            ])
            file.references = [("dimg", 1, [2])]
            return file.bytes
        }
        #expect(failure(file(number.place), codec.type) == .unsupported)
        #expect(failure(file([0, 8]), codec.type) == nil)
    }
}
