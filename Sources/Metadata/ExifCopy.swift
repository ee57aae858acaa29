/// An EXIF block written anew out of named tags: nothing else of where they come from is in it, known or unknown, and no
/// offset leads anywhere but into it. So no maker note can be among them: most count their offsets from a byte of the old
/// block or file.
struct ExifCopy {
    private struct Field {
        let tag: UInt16
        let type: UInt16
        let count: Int
        /// In the byte order of the copy.
        let value: [UInt8]
    }

    /// The directories of an EXIF block that describe the picture (Exif 2.32, 4.5.2).
    enum Part: Int, CaseIterable {
        case main, exif, place

        /// The tag by which the main directory leads to it; nil for itself.
        fileprivate var pointer: UInt16? {
            switch self {
            case .main: nil
            case .exif: 0x8769
            case .place: 0x8825
            }
        }
    }

    private var parts = [[UInt16: Field]](repeating: [:], count: Part.allCases.count)
    private let isBig: Bool

    init(bigEndian: Bool) { isBig = bigEndian }

    var isEmpty: Bool { parts.allSatisfy(\.isEmpty) }

    /// Adds what a directory has of `wanted` and the copy has not. A value that is not there whole, is longer than `longest`
    /// bytes, or is a place in the old file, is none.
    mutating func take(
        _ directory: TIFFBlock.Directory?, of block: TIFFBlock, as part: Part, longest: Int,
        where wanted: (UInt16) -> Bool
    ) {
        for entry in directory?.entries.values ?? [:].values
        where wanted(entry.tag) && parts[part.rawValue][entry.tag] == nil {
            guard entry.count > 0, entry.count <= UInt64(longest) else { continue }
            let length = Int(entry.count) * entry.width
            let bytes = block.bytes(entry, limit: longest + 1)
            guard length <= longest, bytes.count == length,
                let (type, value) = Self.classic(entry.type, bytes, from: block.bigEndian, to: isBig)
            else { continue }
            parts[part.rawValue][entry.tag] = Field(tag: entry.tag, type: type, count: Int(entry.count), value: value)
        }
    }

    /// One number in place of whatever stands there; only where that part has anything at all.
    mutating func set(_ tag: UInt16, to number: Int, isShort: Bool = false, in part: Part) {
        guard part == .main || !parts[part.rawValue].isEmpty else { return }
        parts[part.rawValue][tag] = Field(
            tag: tag, type: isShort ? 3 : 4, count: 1, value: Self.number(number, isShort ? 2 : 4, isBig))
    }

    /// Leaves out the longest values until no more than `most` bytes are written.
    mutating func shrink(to most: Int) {
        while length > most {
            let all = Part.allCases.flatMap { part in parts[part.rawValue].values.map { (part, $0) } }
            guard let longest = all.max(by: { ($0.1.value.count, $0.1.tag) < ($1.1.value.count, $1.1.tag) }) else {
                return
            }
            parts[longest.0.rawValue][longest.1.tag] = nil
        }
    }

    /// From the TIFF header on.
    var bytes: [UInt8] {
        var main = parts[Part.main.rawValue]
        let others = Part.allCases.filter { $0 != .main && !parts[$0.rawValue].isEmpty }
        for part in others {
            if let tag = part.pointer { main[tag] = Field(tag: tag, type: 4, count: 1, value: [0, 0, 0, 0]) }
        }
        var start = 8 + Self.length(of: main)
        for part in others {
            if let tag = part.pointer {
                main[tag] = Field(tag: tag, type: 4, count: 1, value: Self.number(start, 4, isBig))
            }
            start += Self.length(of: parts[part.rawValue])
        }
        var bytes = Array((isBig ? "MM" : "II").utf8) + Self.number(42, 2, isBig) + Self.number(8, 4, isBig)
        for directory in [main] + others.map({ parts[$0.rawValue] }) {
            bytes += Self.written(directory, at: bytes.count, isBig)
        }
        return bytes
    }

    private var length: Int {
        let others = Part.allCases.filter { $0 != .main && !parts[$0.rawValue].isEmpty }
        return 8 + 12 * others.count + Self.length(of: parts[Part.main.rawValue])
            + others.reduce(0) { $0 + Self.length(of: parts[$1.rawValue]) }
    }

    private static func length(of fields: [UInt16: Field]) -> Int {
        2 + 12 * fields.count + 4
            + fields.values.reduce(0) { $0 + ($1.value.count > 4 ? ($1.value.count + 1) & ~1 : 0) }
    }

    private static func written(_ fields: [UInt16: Field], at start: Int, _ isBig: Bool) -> [UInt8] {
        var entries = number(fields.count, 2, isBig)
        var values: [UInt8] = []
        let first = start + 2 + 12 * fields.count + 4
        for field in fields.values.sorted(by: { $0.tag < $1.tag }) {
            entries +=
                number(Int(field.tag), 2, isBig) + number(Int(field.type), 2, isBig) + number(field.count, 4, isBig)
            if field.value.count > 4 {
                entries += number(first + values.count, 4, isBig)
                values += field.value + (field.value.count.isMultiple(of: 2) ? [] : [0])
            } else {
                entries += field.value + [UInt8](repeating: 0, count: 4 - field.value.count)
            }
        }
        return entries + number(0, 4, isBig) + values
    }

    /// A value as a TIFF of 32 bits has it, in another byte order; nil for a place in the file, and for what does not fit.
    private static func classic(
        _ type: UInt16, _ bytes: [UInt8], from isBigNow: Bool, to isBig: Bool
    ) -> (type: UInt16, value: [UInt8])? {
        let unit: Int
        switch type {
        case 1, 2, 6, 7: return (type, bytes)
        case 3, 8: unit = 2
        case 4, 5, 9, 10, 11: unit = 4
        case 12: unit = 8
        case 16:  // BigTIFF's long integers
            var value: [UInt8] = []
            for start in stride(from: 0, to: bytes.count, by: 8) {
                let long = ByteSource.integer(bytes[start..<start + 8], bigEndian: isBigNow)
                guard let short = UInt32(exactly: long) else { return nil }
                value += number(Int(short), 4, isBig)
            }
            return (4, value)
        default: return nil
        }
        guard isBigNow != isBig else { return (type, bytes) }
        return (type, stride(from: 0, to: bytes.count, by: unit).flatMap { bytes[$0..<$0 + unit].reversed() })
    }

    private static func number(_ value: Int, _ width: Int, _ isBig: Bool) -> [UInt8] {
        (0..<width).map { UInt8(truncatingIfNeeded: value >> (8 * (isBig ? width - 1 - $0 : $0))) }
    }
}
