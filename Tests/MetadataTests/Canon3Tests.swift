import Metadata
import TestSupport
import Testing

/// Boxes as in ISO/IEC 14496-12; the records of the metadata track as ExifTool documents them.
@Suite("The boxes of a CR3") struct Canon3Tests {
    private static func number(_ value: Int, _ width: Int) -> [UInt8] {
        (0..<width).reversed().map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
    }

    private static func little(_ value: Int, _ width: Int) -> [UInt8] { number(value, width).reversed() }

    /// - Parameter length: what it says, where that is not so.
    private static func box(_ type: String, _ content: [UInt8] = [], length: Int? = nil) -> [UInt8] {
        number(length ?? content.count + 8, 4) + Array(type.utf8) + content
    }

    /// With the length in eight bytes.
    private static func long(_ type: String, _ content: [UInt8] = [], length: UInt64? = nil) -> [UInt8] {
        let length = length ?? UInt64(content.count + 16)
        return number(1, 4) + Array(type.utf8) + number(Int(length >> 32), 4) + number(Int(length & 0xFFFF_FFFF), 4)
            + content
    }

    private static let type = box("ftyp", Array("crx \0\0\0\u{1}crx isom".utf8))

    private static func file(_ boxes: [UInt8]) -> [UInt8] { type + boxes }

    private func areSound(_ bytes: [UInt8]) -> Bool { Canon3Boxes.areSound(ByteSource(bytes)) }

    @Test func `lie within each other in cameras' files, whole or cut`() throws {
        for row in try Corpus.rows(for: "boxes of CR3") where row.path.hasPrefix("raw/") && row["format"] == "CR3" {
            let bytes = try row.contents()
            #expect(areSound(bytes), "\(row.path)")
            // In the sensor's data, which come last.
            #expect(areSound(Array(bytes.dropLast(20))), "\(row.path)")
        }
        #expect(areSound(Self.file(Self.box("moov", Self.box("mvhd", [0, 0, 0, 0])) + Self.box("mdat", length: 0))))
        #expect(areSound(Self.file(Self.long("moov", Self.long("mvhd")) + Self.long("mdat", length: 1 << 40))))
        // What is no box's is left alone, and so is what is in a box without parts.
        #expect(areSound(Self.file(Self.box("moov", Self.box("free", [UInt8](repeating: 0, count: 9)) + [1, 2, 3]))))
    }

    /// Each of these has LibRaw 0.20 walk for ever, or for very long.
    @Test func `D06 that lead nowhere, back or out are not sound`() {
        let bent: [[UInt8]] = [
            Self.long("free", length: 0), Self.long("mdat", length: 15), Self.long("free", length: UInt64.max - 23),
            Self.box("free", length: 2), Self.box("free", length: 7), Self.number(1, 4) + Array("free".utf8),
        ]
        for box in bent {
            #expect(!areSound(Self.file(box)), "\(box)")
            #expect(!areSound(Self.file(Self.box("moov", box))), "\(box)")
            #expect(!areSound(Self.file(Self.box("moov", Self.box("trak", Self.box("mdia", box))))), "\(box)")
        }
        // To the end of the file: only where that is the end of its parent, too.
        #expect(!areSound(Self.file(Self.box("moov", Self.box("mvhd", length: 0)))))
        // Out of its parent, and with parts out of the file.
        #expect(!areSound(Self.file(Self.box("moov", Self.box("mvhd", length: 9)) + Self.box("mdat"))))
        #expect(!areSound(Self.file(Self.box("moov", Self.box("mvhd"), length: 1000))))
        let deep = (0..<20).reduce(into: [UInt8]()) { inner, _ in inner = Self.box("moov", inner) }
        #expect(!areSound(Self.file(deep)))
        #expect(!areSound(Self.file([[UInt8]](repeating: Self.box("free"), count: 5000).flatMap { $0 })))
    }

    /// A track of metadata: records behind the boxes.
    private static func track(_ records: [UInt8]) -> [UInt8] {
        func boxes(_ place: Int) -> [UInt8] {
            let table =
                box("stsd", number(0, 4) + number(1, 4) + box("CTMD", [UInt8](repeating: 0, count: 8)))
                + box("stsz", number(0, 4) + number(records.count, 4) + number(1, 4))
                + box("co64", number(0, 4) + number(1, 4) + number(place, 8))
            return file(box("moov", box("trak", box("mdia", box("minf", box("stbl", table))))))
        }
        return boxes(boxes(0).count) + records
    }

    private static func record(_ kind: Int, _ content: [UInt8], length: Int? = nil) -> [UInt8] {
        little(length ?? content.count + 12, 4) + little(kind, 2) + [0, 0, 0, 0, 0, 0] + content
    }

    @Test func `D06 and its records of metadata, too`() {
        let tag = Self.little(12, 4) + Self.little(0x8769, 4) + [1, 2, 3, 4]
        let sound = Self.record(1, [1, 2, 3, 4]) + Self.record(7, tag + tag)
        #expect(areSound(Self.track(sound)))
        // The file may end in them.
        #expect(areSound(Array(Self.track(sound).dropLast(20))))
        for length in [0, 5, 1000, 0xFFFF_FFF0] {
            #expect(!areSound(Self.track(Self.record(1, [1, 2, 3, 4]) + Self.record(7, tag, length: length))))
            let bent = Self.little(length, 4) + Self.little(0x927C, 4) + [1, 2, 3, 4]
            #expect(!areSound(Self.track(Self.record(8, tag + bent))), "\(length)")
            #expect(areSound(Self.track(Self.record(1, tag + bent))), "not looked at")
        }
        let many = [[UInt8]](repeating: Self.record(1, []), count: 5000).flatMap { $0 }
        #expect(!areSound(Self.track(many)))
    }
}
