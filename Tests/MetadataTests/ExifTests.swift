import Foundation
import Metadata
import PhotoModel
import TestSupport
import Testing

/// Tag numbers as in Exif 2.32 (CIPA DC-008).
@Suite("EXIF") struct ExifTests {
    private static func inspect(_ tags: [UInt16: TIFFWriter.Value], bigEndian: Bool = false) -> Inspection {
        Inspector.inspect(ByteSource(TIFFWriter.jpeg(tags, bigEndian: bigEndian)))
    }

    @Test(arguments: [true, false]) func `G16 gives each time its own offset and fraction`(bigEndian: Bool) {
        let inspection = Self.inspect(
            [
                0x132: .text("2020:01:01 00:00:00"),
                0x8769: .directory([
                    0x9003: .text("2017:06:05 04:03:02"), 0x9004: .text("2002:02:02 02:02:02"),
                    0x9010: .text("+01:00"), 0x9011: .text("+02:00"), 0x9012: .text("-03:30"),
                    0x9290: .text("1"), 0x9291: .text("87"), 0x9292: .text("3  "),
                ]),
            ], bigEndian: bigEndian)
        let texts = inspection.dates.map { "\($0.source) \($0.time.text) \($0.offset ?? "-")" }
        #expect(
            texts == [
                "exifOriginal 2017-06-05T04:03:02.87 +02:00", "exifDigitized 2002-02-02T02:02:02.3 -03:30",
                "exifModified 2020-01-01T00:00:00.1 +01:00",
            ])
    }

    @Test(arguments: ["    :  :     :  :  ", "", "yesterday", "2017-06", "0"])
    func `has no time where there is no time`(text: String) {
        #expect(Self.inspect([0x8769: .directory([0x9003: .text(text)])]).dates.isEmpty)
    }

    @Test(arguments: [
        (TIFFWriter.Value.short(0), 1), (.short(9), 1), (.short(65_535), 1), (.text("6"), 1), (.short(1), 1),
        (.short(6), 6),
        (.long(8), 8),
    ]) func `E21 counts an illegal orientation as upright`(value: TIFFWriter.Value, expected: Int) {
        let inspection = Self.inspect([0x112: value])
        #expect(inspection.facts.orientation == expected)
        #expect(
            inspection.facts.size == (expected < 5 ? PixelSize(width: 16, height: 8) : PixelSize(width: 8, height: 16)))
    }

    private static func place(
        _ latitude: [(UInt32, UInt32)], _ north: String?, _ longitude: [(UInt32, UInt32)], _ east: String?
    ) -> (Double?, Double?) {
        var tags: [UInt16: TIFFWriter.Value] = [2: .fractions(latitude), 4: .fractions(longitude)]
        if let north { tags[1] = .text(north) }
        if let east { tags[3] = .text(east) }
        let facts = inspect([0x8825: .directory(tags)]).facts
        return (facts.latitude, facts.longitude)
    }

    @Test func `knows south, west and the point where both are zero`() {
        #expect(Self.place([(33, 1), (30, 1), (0, 1)], "S", [(70, 1), (15, 1), (0, 1)], "W") == (-33.5, -70.25))
        #expect(Self.place([(0, 1), (0, 1), (0, 1)], "N", [(0, 1), (0, 1), (0, 1)], "E") == (0, 0))
        #expect(Self.place([(485, 10), (0, 0), (0, 0)], "N", [(2, 1), (30, 1), (0, 0)], "E") == (48.5, 2.5))
    }

    @Test func `has no place without its letters, out of range, or of no known value`() {
        #expect(Self.place([(33, 1), (30, 1), (0, 1)], nil, [(70, 1), (15, 1), (0, 1)], "W") == (nil, nil))
        #expect(Self.place([(0, 0), (0, 0), (0, 0)], "N", [(0, 0), (0, 0), (0, 0)], "E") == (nil, nil))
        #expect(Self.place([(91, 1), (0, 1), (0, 1)], "N", [(0, 1), (0, 1), (0, 1)], "E") == (nil, nil))
        #expect(Self.place([(10, 1), (0, 1), (0, 1)], "N", [(200, 1), (0, 1), (0, 1)], "E") == (nil, nil))
    }

    @Test func `tells a screenshot by its comment`() {
        let comment = TIFFWriter.Value.bytes(Array("ASCII\0\0\0Screenshot".utf8))
        #expect(Self.inspect([0x8769: .directory([0x9286: comment])]).facts.isScreenshot)
        let other = TIFFWriter.Value.bytes(Array("ASCII\0\0\0Holiday".utf8))
        #expect(!Self.inspect([0x8769: .directory([0x9286: other])]).facts.isScreenshot)
    }

    private static func segment(_ part: [UInt8]) -> [UInt8] {
        let length = UInt16(part.count + 8)
        return [0xFF, 0xE1, UInt8(length >> 8), UInt8(length & 255)] + Array("Exif\0\0".utf8) + part
    }

    /// A JPEG with these EXIF segments; what exiftool reads in it: make, model, time.
    private static func jpeg(_ segments: [[UInt8]]) throws -> (bytes: [UInt8], exiftool: [String]) {
        let frame: [UInt8] = [0xFF, 0xC0, 0, 11, 8, 0, 8, 0, 16, 1, 1, 0x11, 0, 0xFF, 0xDA]
        let bytes: [UInt8] = [0xFF, 0xD8] + segments.flatMap(segment) + frame
        let folder = try TemporaryFolder()
        try Data(bytes).write(to: URL(filePath: folder.path + "/a.jpg"))
        let outcome = try Programs.run(
            "/usr/bin/env",
            ["exiftool", "-s3", "-f", "-Make", "-Model", "-DateTimeOriginal", folder.path + "/a.jpg"])
        return (bytes, outcome.output.split(separator: "\n").map(String.init))
    }

    private static let time = TIFFWriter.Value.text("2017:06:05 04:03:02")

    @Test func `of more than a segment holds goes on in the next ones`() throws {
        let block = TIFFWriter.block([
            0x10F: .text("Canon"), 0x110: .text("EOS"),
            0x8769: .directory([0x829A: .bytes([UInt8](repeating: 7, count: 100_000)), 0x9003: Self.time]),
        ])
        let room = 65_527
        let file = try Self.jpeg([Array(block.prefix(room)), Array(block.dropFirst(room))])
        #expect(file.exiftool == ["Canon", "EOS", "2017:06:05 04:03:02"])
        let inspection = Inspector.inspect(ByteSource(file.bytes))
        #expect(inspection.facts.make == "Canon")
        #expect(inspection.dates.map(\.time.text) == ["2017-06-05T04:03:02"])
        // And goes along so when its picture is exported.
        #expect(CarriedMetadata(of: ByteSource(file.bytes), type: .jpeg).exif == block)
    }

    @Test func `in a second block tells what the first does not`() throws {
        let first = TIFFWriter.block([0x10F: .text("Canon"), 0x112: .short(6)])
        let second = TIFFWriter.block(
            [0x10F: .text("Canon"), 0x110: .text("EOS"), 0x8769: .directory([0x9003: Self.time])], bigEndian: true)
        let file = try Self.jpeg([first, second])
        #expect(file.exiftool == ["Canon", "EOS", "2017:06:05 04:03:02"])
        let inspection = Inspector.inspect(ByteSource(file.bytes))
        #expect(inspection.facts.make == "Canon" && inspection.facts.model == "EOS")
        #expect(inspection.facts.orientation == 6)
        #expect(inspection.dates.map(\.time.text) == ["2017-06-05T04:03:02"])
        #expect(CarriedMetadata(of: ByteSource(file.bytes), type: .jpeg).exif == first)
    }

    @Test func `in endless parts is read as far as 4 MiB`() {
        let start = TIFFWriter.block([0x10F: .text("Canon")])
        let parts = [start] + [[UInt8]](repeating: [UInt8](repeating: 1, count: 65_000), count: 100)
        let source = ByteSource([0xFF, 0xD8] + parts.flatMap(Self.segment) + [0xFF, 0xDA])
        #expect(Inspector.inspect(source).facts.make == "Canon")
        let carried = CarriedMetadata(of: source, type: .jpeg).exif
        #expect(carried.count > 4_000_000 && carried.count <= 4 << 20)
    }

    /// Apple's note: its own directory, big-endian, offsets from its first byte.
    @Test func `finds the content identifier in Apple's note`() {
        let identifier = Array("242684F6-0839-44E0-8E39-A8FE43182C29\0".utf8)
        let note =
            Array("Apple iOS\0\0\u{1}MM".utf8) + [0, 1, 0, 0x11, 0, 2, 0, 0, 0, UInt8(identifier.count), 0, 0, 0, 32]
            + [0, 0, 0, 0] + identifier
        let facts = Self.inspect([0x8769: .directory([0x927C: .bytes(note)])]).facts
        #expect(facts.contentIdentifier == "242684F6-0839-44E0-8E39-A8FE43182C29")
    }

    @Test func `makes text harmless and drops the spaces around it`() {
        let facts = Self.inspect([0x10F: .text("NIKON CORPORATION   "), 0x110: .text("D\u{1B}[2J")]).facts
        #expect(facts.make == "NIKON CORPORATION")
        #expect(facts.model == "D\u{FFFD}[2J")
    }

    @Test func `comes to an end when directories point at themselves`() {
        var block = TIFFWriter.block([0x10F: .text("Canon"), 0x14A: .long(8)])
        block.replaceSubrange(8 + 2 + 24..<8 + 2 + 28, with: [8, 0, 0, 0])
        let inspection = Inspector.inspect(ByteSource(block))
        #expect(inspection.mediaType == .tiff)
        #expect(inspection.facts.make == "Canon")
    }

    @Test func `is found however far back in the file it lies`() {
        // A TIFF whose EXIF directory lies behind 200,000 bytes of picture, as in ARW files.
        var block = TIFFWriter.block([0x8769: .long(200_000)])
        block += [UInt8](repeating: 0, count: 200_000 - block.count)
        let inner = TIFFWriter.block([0x9003: .text("")])  // one entry, to be pointed at a text behind it
        block += Array(inner[8..<inner.count - 1])
        let text = UInt32(block.count)
        block.replaceSubrange(200_006..<200_014, with: [20, 0, 0, 0] + (0..<4).map { UInt8(text >> ($0 * 8) & 255) })
        block += Array("2017:06:05 04:03:02\0".utf8)
        let dates = Inspector.inspect(ByteSource(block)).dates
        #expect(dates.map(\.time.text) == ["2017-06-05T04:03:02"])
    }

    @Test func `of a file of 4 GB costs a few windows`() {
        var read = 0
        let source = ByteSource(size: 4 << 30) { offset, count in
            read += count
            guard offset == 0 else { return [UInt8](repeating: 0, count: count) }
            // ftyp, then an mdat that fills the file.
            let head = [0, 0, 0, 16] + Array("ftypqt  ".utf8) + [0, 0, 0, 0, 0, 0, 0, 0] + Array("mdat".utf8)
            return head + [UInt8](repeating: 0, count: count - head.count)
        }
        #expect(Inspector.inspect(source).mediaType == .quicktime)
        #expect(read <= 1 << 20)
    }
}
