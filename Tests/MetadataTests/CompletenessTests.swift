import Metadata
import PhotoModel
import TestSupport
import Testing

@Suite("A file that ends early") struct CompletenessTests {
    private func endsEarly(_ bytes: [UInt8]) -> Bool { Inspector.inspect(ByteSource(bytes)).endsEarly }

    // MARK: JPEG

    private static let jpeg = Array(TIFFWriter.jpeg([0x132: .text("2026:05:17 09:04:31")]).dropLast(2))
    /// A scan's header, then its data.
    private static let scan: [UInt8] = [0xFF, 0xDA, 0, 8, 1, 1, 0, 0, 63, 0]

    @Test(arguments: [0, 100, 200_000]) func `is a JPEG without its end, however long it is`(length: Int) {
        let data = [UInt8](repeating: 0x55, count: length)
        #expect(endsEarly(Self.jpeg + Self.scan + data))
        #expect(!endsEarly(Self.jpeg + Self.scan + data + [0xFF, 0xD9]))
        // Other things may follow: a film, a second picture, zeros.
        #expect(!endsEarly(Self.jpeg + Self.scan + data + [0xFF, 0xD9] + [UInt8](repeating: 0, count: 200_000)))
        // The end of the thumbnail in its head is not its own.
        let thumbnail: [UInt8] = [0xFF, 0xE2, 0, 6, 1, 1, 0xFF, 0xD9]
        #expect(endsEarly([0xFF, 0xD8] + thumbnail + Self.jpeg.dropFirst(2) + Self.scan + data))
    }

    @Test func `is a JPEG that is cut anywhere in its head`() {
        let whole = Self.jpeg + Self.scan + [1, 2, 3, 0xFF, 0xD9]
        for count in 3..<whole.count { #expect(endsEarly(Array(whole.prefix(count))), "\(count)") }
        #expect(!endsEarly(Array(whole)))
    }

    @Test func `is not a JPEG that is damaged and has its end`() {
        #expect(!endsEarly(Self.jpeg + Self.scan + [0xFF, 0x01, 0xFF, 0xFF, 0, 0, 0xFF, 0xD9]))
        #expect(!endsEarly([0xFF, 0xD8, 0xFF, 0xE0, 0, 4, 1, 1, 0xFF, 0xD9]))
    }

    @Test func `finds an end that lies across the border of two pieces`() {
        let head = Self.jpeg + Self.scan
        for gap in -2...2 {
            let data = [UInt8](repeating: 0x55, count: 65_536 + gap)
            #expect(!endsEarly(head + data + [0xFF, 0xD9] + [UInt8](repeating: 0, count: 140_000)), "\(gap)")
        }
    }

    // MARK: Several pictures in one JPEG

    /// Two pictures, the second of which, and the first, have lengths and places as the directory says.
    private static func pictures(
        bigEndian: Bool, count: Int = 2, change: (inout [[UInt32]]) -> Void = { _ in }
    ) -> [UInt8] {
        func number(_ value: UInt32) -> [UInt8] {
            let little = (0..<4).map { UInt8(truncatingIfNeeded: value >> UInt32($0 * 8)) }
            return bigEndian ? little.reversed() : little
        }
        func segment(_ entries: [[UInt32]]) -> [UInt8] {
            let list = entries.flatMap { number(0x030000) + number($0[0]) + number($0[1]) + [0, 0, 0, 0] }
            let content =
                Array("MPF\0".utf8)
                + TIFFWriter.block(
                    [0xB000: .bytes(Array("0100".utf8)), 0xB001: .long(2), 0xB002: .bytes(list)], bigEndian: bigEndian)
            return [0xFF, 0xE2, UInt8((content.count + 2) >> 8), UInt8((content.count + 2) & 255)] + content
        }
        let second = jpeg + scan + [UInt8](repeating: 0x55, count: 300) + [0xFF, 0xD9]
        let size = UInt32(2 + segment([[0, 0], [0, 0]]).count + second.count - 2)
        // Offsets count from behind `MPF`, ten bytes into the file.
        var entries = [[size, 0], [UInt32(second.count), size - 10]]
        change(&entries)
        return [0xFF, 0xD8] + segment(Array(entries.prefix(count))) + second.dropFirst(2) + second
    }

    @Test(arguments: [true, false]) func `is one of several pictures that reaches beyond it`(bigEndian: Bool) {
        let whole = Self.pictures(bigEndian: bigEndian)
        #expect(!endsEarly(whole))
        #expect(!endsEarly(whole + [UInt8](repeating: 0, count: 10)))
        for missing in [1, 2, 100, 340] { #expect(endsEarly(Array(whole.dropLast(missing))), "\(missing)") }
        #expect(endsEarly(Self.pictures(bigEndian: bigEndian) { $0[1] = [.max, .max] }))
        #expect(endsEarly(Self.pictures(bigEndian: bigEndian) { $0[0][0] = 100_000 }))
        #expect(!endsEarly(Self.pictures(bigEndian: bigEndian) { $0[1] = [0, 0] }))
        #expect(!endsEarly(Self.pictures(bigEndian: bigEndian, count: 0)))
    }

    @Test func `is not made one by a broken directory of pictures`() {
        let whole = Self.pictures(bigEndian: true)
        for position in 10..<90 {
            var bytes = whole
            bytes[position] = 0xEE
            _ = endsEarly(bytes)  // whatever it says, it ends
        }
    }

    // MARK: Containers

    private static func box(_ type: String, _ content: [UInt8], claiming extra: Int = 0) -> [UInt8] {
        let length = UInt32(8 + content.count + extra)
        return [UInt8(length >> 24), UInt8(length >> 16 & 255), UInt8(length >> 8 & 255), UInt8(length & 255)]
            + Array(type.utf8) + content
    }

    private static let movie = box("ftyp", Array("qt  ".utf8) + [0, 0, 0, 0])

    @Test func `is a film whose last box reaches beyond it, or whose description has not come`() {
        let data = Self.box("mdat", [1, 2, 3, 4])
        let description = Self.box("moov", [])
        #expect(!endsEarly(Self.movie + description + data))
        #expect(!endsEarly(Self.movie + data + description))
        #expect(endsEarly(Self.movie + data))
        #expect(endsEarly(Self.movie + description + Self.box("mdat", [1, 2], claiming: 1)))
        #expect(endsEarly(Self.movie + Self.box("mdat", [1, 2], claiming: 100)))
        // To the end of the file, wherever that is; and junk behind the last box.
        #expect(!endsEarly(Self.movie + description + [0, 0, 0, 0] + Array("mdat".utf8) + [1, 2, 3]))
        #expect(!endsEarly(Self.movie + description + data + [0xFF, 0xFE, 0xFD, 0xFC, 0x80, 0x81, 0x82, 0x83, 1]))
        #expect(!endsEarly(Self.movie + description + data + [1, 2, 3]))
    }

    @Test func `is a PNG without IEND`() {
        let signature: [UInt8] = [0x89] + Array("PNG\r\n".utf8) + [0x1A, 0x0A]
        func chunk(_ type: String, _ content: [UInt8]) -> [UInt8] {
            [0, 0, 0, UInt8(content.count)] + Array(type.utf8) + content + [0, 0, 0, 0]
        }
        let whole =
            signature + chunk("IHDR", [UInt8](repeating: 1, count: 13)) + chunk("IDAT", [1, 2]) + chunk("IEND", [])
        for count in 8..<whole.count - 4 { #expect(endsEarly(Array(whole.prefix(count))), "\(count)") }
        #expect(!endsEarly(whole))
        #expect(!endsEarly(whole + [1, 2, 3]))
    }

    @Test func `is a TIFF whose strips or directories lie beyond it`() {
        func tiff(_ start: UInt32, _ count: UInt32) -> [UInt8] {
            TIFFWriter.block([0x100: .short(1), 0x101: .short(1), 0x111: .long(start), 0x117: .long(count)])
        }
        let size = UInt32(tiff(0, 0).count)
        #expect(!endsEarly(tiff(8, size - 8)))
        #expect(endsEarly(tiff(8, size - 7)))
        #expect(endsEarly(tiff(size, 1)))
        #expect(!endsEarly(tiff(0xFFFF_FFFF, 10)))
        #expect(endsEarly(Array("II".utf8) + [42, 0, 8, 0, 0, 0]))
    }

    // MARK: The corpus

    private static let folders = [
        "jpeg", "jpeg-orientation", "heic", "avif", "png", "webp", "tiff", "raw", "video", "pairs",
    ]
    private static let types: Set<MediaType> = [
        .jpeg, .png, .heic, .heif, .avif, .webp, .quicktime, .mp4, .avi,
    ]

    /// Files of the corpus that are the beginning of one only, as their makers wanted it.
    private static let parts: Set = [
        "raw/Canon EOS-1Ds Mark III (leading part).CR2", "raw/Sony SLT-A55V (leading part).ARW", "raw/canon-r6.cr3",
    ]
    /// The picture ends long before its file.
    private static let padded: Set = ["jpeg/FujiFilm FinePix4900Zoom.jpg", "jpeg/Kodak ProBack.jpg"]

    @Test func `is none of the corpus that is whole, and each of which only a part is there`() throws {
        for row in try Corpus.rows(for: "completeness") where row["class"] == "import+preview" {
            guard Self.folders.contains(where: { row.path.hasPrefix($0 + "/") }) else { continue }
            let bytes = try row.contents()
            let whole = Inspector.inspect(ByteSource(bytes))
            #expect(whole.endsEarly == Self.parts.contains(row.path), "\(row.path)")
            guard Self.types.contains(whole.mediaType), !Self.padded.contains(row.path) else { continue }
            for share in [3, 9] {
                let part = Inspector.inspect(ByteSource(Array(bytes.prefix(bytes.count * share / 10))))
                #expect(part.endsEarly, "\(row.path) at \(share)0 %")
            }
        }
    }
}
