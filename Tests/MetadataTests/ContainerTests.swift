import Metadata
import PhotoModel
import Testing

/// Boxes as in ISO/IEC 14496-12 and 23008-12.
@Suite("A HEIF container") struct ContainerTests {
    private static func box(_ type: String, _ content: [UInt8]) -> [UInt8] {
        number(content.count + 8, 4) + Array(type.utf8) + content
    }

    private static func number(_ value: Int, _ width: Int) -> [UInt8] {
        (0..<width).reversed().map { UInt8(value >> ($0 * 8) & 255) }
    }

    /// An item of 60 x 34 pixels, of which 34 x 12 are cropped and turned by a quarter; without any picture data.
    private static func file(brand: String, mark: UInt8) -> [UInt8] {
        let crop = [34, 1, 12, 1, 0, 1, 0, 1].flatMap { number($0, 4) }
        let properties =
            box("ispe", number(0, 4) + number(60, 4) + number(34, 4)) + box("clap", crop) + box("irot", [1])
        let associations = number(0, 4) + number(1, 4) + number(1, 2) + [3, 1, mark | 2, mark | 3]
        let meta =
            number(0, 4) + box("pitm", number(0, 4) + number(1, 2))
            + box("iprp", box("ipco", properties) + box("ipma", associations))
        return box("ftyp", Array(brand.utf8) + number(0, 4) + Array(brand.utf8)) + box("meta", meta)
    }

    @Test(arguments: [
        ("avif", UInt8(0x80), PixelSize(width: 12, height: 34)), ("avif", 0, PixelSize(width: 60, height: 34)),
        ("heic", 0x80, PixelSize(width: 12, height: 34)), ("heic", 0, PixelSize(width: 12, height: 34)),
    ])
    func `is cropped and turned as marked essential in AVIF, and in any case in HEIC`(
        brand: String, mark: UInt8, shown: PixelSize
    ) {
        let inspection = Inspector.inspect(ByteSource(Self.file(brand: brand, mark: mark)))
        #expect(inspection.mediaType == (brand == "avif" ? .avif : .heic))
        #expect(inspection.facts.size == shown)
    }

    /// The picture is number 4, tone mapped from the items of `parts`; number 1 is one of 60 x 34 that is turned.
    private static func toneMapped(_ parts: [Int], isWide: Bool = false) -> [UInt8] {
        func entry(_ id: Int, _ type: String) -> [UInt8] {
            box("infe", [2, 0, 0, 0] + number(id, 2) + [0, 0] + Array(type.utf8) + [0])
        }
        let properties =
            box("ispe", number(0, 4) + number(60, 4) + number(34, 4)) + box("irot", [1])
            + box("ispe", number(0, 4) + number(7, 4) + number(7, 4))
        let associations = number(0, 4) + number(2, 4) + number(1, 2) + [2, 1, 0x82] + number(4, 2) + [1, 3]
        let width = isWide ? 4 : 2
        let reference = number(4, width) + number(parts.count, 2) + parts.flatMap { number($0, width) }
        let meta =
            number(0, 4) + box("pitm", number(0, 4) + number(4, 2))
            + box("iinf", number(0, 4) + number(2, 2) + entry(1, "hvc1") + entry(4, "tmap"))
            + box(
                "iref",
                [isWide ? 1 : 0, 0, 0, 0] + box("thmb", number(2, width) + number(0, 2)) + box("dimg", reference))
            + box("iprp", box("ipco", properties) + box("ipma", associations))
        return box("ftyp", Array("heic".utf8) + number(0, 4) + Array("tmap".utf8)) + box("meta", meta)
    }

    /// What is tone mapped says its own size; what is shown is what it is made of (ISO/IEC 23008-12, ISO 21496-1).
    @Test func `whose picture is a tone map is as large as the photo below it`() {
        for isWide in [false, true] {
            let inspection = Inspector.inspect(ByteSource(Self.toneMapped([1, 3], isWide: isWide)))
            #expect(inspection.facts.size == PixelSize(width: 34, height: 60))
            #expect(inspection.coding.stored == PixelSize(width: 60, height: 34))
        }
        #expect(Inspector.inspect(ByteSource(Self.toneMapped([]))).facts.size == PixelSize(width: 7, height: 7))
        #expect(Inspector.inspect(ByteSource(Self.toneMapped([4]))).facts.size == PixelSize(width: 7, height: 7))
    }
}
