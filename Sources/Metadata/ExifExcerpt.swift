import PhotoModel

/// What of an EXIF block cannot tell of places, written anew: nothing else of the old block is left in it, known or unknown.
/// So no maker note goes along, no comment, no thumbnail, no serial number and no tag that is not named here.
struct ExifExcerpt {
    let bytes: [UInt8]

    /// Make, model, resolution, software, time, artist and copyright: EXIF 2.32, tables 4 and 5.
    private static let first: Set<UInt16> = [0x10F, 0x110, 0x112, 0x11A, 0x11B, 0x128, 0x131, 0x132, 0x13B, 0x8298]
    /// Exposure, times and their offsets, colour space, sizes and the lens: table 7.
    private static let second = Set<UInt16>([
        0x829A, 0x829D, 0x8822, 0x8827, 0x8830, 0x8831, 0x8832, 0x9000, 0x9003, 0x9004, 0x9010, 0x9011, 0x9012, 0x9101,
        0x9102, 0x9290, 0x9291, 0x9292, 0xA000, 0xA001, 0xA002, 0xA003, 0xA20E, 0xA20F, 0xA210, 0xA215, 0xA217, 0xA300,
        0xA301, 0xA432, 0xA433, 0xA434,
    ]).union(0x9201...0x920A).union(0xA401...0xA406).union(0xA408...0xA40A)
    /// A name or a number is not longer; what is, is none.
    private static let longest = 1024

    private struct Field {
        let tag: UInt16
        let type: Int
        let count: Int
        let value: [UInt8]
    }

    /// nil for what is no TIFF of the usual kind.
    init?(of block: [UInt8], _ size: PixelSize) {
        guard let reader = ExifEditor(block), let directory = reader.number(at: 4, 4),
            reader.entries(at: directory) != nil
        else { return nil }
        func number(_ value: Int, _ width: Int) -> [UInt8] { Self.number(value, width, reader.isBig) }
        func fields(_ directory: Int, _ wanted: Set<UInt16>, _ own: [Field]) -> [Field] {
            let taken = Self.fields(reader, directory, wanted).filter { field in !own.contains { $0.tag == field.tag } }
            return (taken + own).sorted { $0.tag < $1.tag }
        }
        var main = fields(directory, Self.first, [Field(tag: 0x112, type: 3, count: 1, value: number(1, 2))])
        var inner: [Field] = []
        if let sub = reader.value(0x8769, in: directory), reader.entries(at: sub) != nil {
            inner = fields(
                sub, Self.second,
                [
                    Field(tag: 0xA002, type: 4, count: 1, value: number(size.width, 4)),
                    Field(tag: 0xA003, type: 4, count: 1, value: number(size.height, 4)),
                ])
            let pointer = Field(tag: 0x8769, type: 4, count: 1, value: number(0, 4))
            let start = 8 + Self.length(of: main + [pointer])
            main.append(Field(tag: 0x8769, type: 4, count: 1, value: number(start, 4)))
            main.sort { $0.tag < $1.tag }
        }
        var bytes = Array(block.prefix(4)) + number(8, 4)
        bytes += Self.directory(main, at: 8, reader.isBig)
        if !inner.isEmpty { bytes += Self.directory(inner, at: bytes.count, reader.isBig) }
        self.bytes = bytes
    }

    private static func fields(_ reader: ExifEditor, _ directory: Int, _ wanted: Set<UInt16>) -> [Field] {
        let widths = [1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8]
        var seen: Set<UInt16> = []
        return (0..<(reader.entries(at: directory) ?? 0)).compactMap { index in
            let place = directory + 2 + 12 * index
            guard let tag = reader.number(at: place, 2).map({ UInt16($0) }), wanted.contains(tag),
                let type = reader.number(at: place + 2, 2), (1...12).contains(type),
                let count = reader.number(at: place + 4, 4), (1...longest).contains(count)
            else { return nil }
            let length = count * widths[type - 1]
            guard let start = length > 4 ? reader.number(at: place + 8, 4) : place + 8, length <= longest,
                start <= reader.bytes.count - length, seen.insert(tag).inserted
            else { return nil }
            return Field(tag: tag, type: type, count: count, value: Array(reader.bytes[start..<start + length]))
        }
    }

    private static func length(of fields: [Field]) -> Int {
        2 + 12 * fields.count + 4 + fields.reduce(0) { $0 + ($1.value.count > 4 ? ($1.value.count + 1) & ~1 : 0) }
    }

    private static func directory(_ fields: [Field], at start: Int, _ isBig: Bool) -> [UInt8] {
        var entries = number(fields.count, 2, isBig)
        var values: [UInt8] = []
        let first = start + 2 + 12 * fields.count + 4
        for field in fields {
            entries += number(Int(field.tag), 2, isBig) + number(field.type, 2, isBig) + number(field.count, 4, isBig)
            if field.value.count > 4 {
                entries += number(first + values.count, 4, isBig)
                values += field.value + (field.value.count.isMultiple(of: 2) ? [] : [0])
            } else {
                entries += field.value + [UInt8](repeating: 0, count: 4 - field.value.count)
            }
        }
        return entries + number(0, 4, isBig) + values
    }

    private static func number(_ value: Int, _ width: Int, _ isBig: Bool) -> [UInt8] {
        (0..<width).map { UInt8(truncatingIfNeeded: value >> (8 * (isBig ? width - 1 - $0 : $0))) }
    }
}
