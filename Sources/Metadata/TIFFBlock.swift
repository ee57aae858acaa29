/// The tags of a TIFF structure: the inside of EXIF, whatever container holds it, and the frame of most RAW files.
/// TIFF 6.0, BigTIFF, and the variants of Olympus (RO, RS) and Panasonic (U).
///
/// An own reader, where libexif would be at hand, for three measured reasons: libexif 0.6.24 looks at 64 KiB of the block
/// only, and so finds no date in ARW and large TIFF files; it reads no BigTIFF and none of the variants; and every access
/// here is checked by the language.
struct TIFFBlock {
    struct Entry {
        let tag: UInt16
        let type: UInt16
        let count: UInt64
        /// Where the value lies in the source.
        let position: Int64
        let width: Int
    }

    struct Directory {
        var entries: [UInt16: Entry] = [:]
        /// Offset of the following directory in the block; 0 for none.
        var next: UInt64 = 0
    }

    let source: ByteSource
    /// Where the block starts in the source: its offsets count from here.
    let base: Int64
    let end: Int64
    let bigEndian: Bool
    let isBig: Bool
    let first: UInt64

    init?(_ source: ByteSource, at base: Int64, length: Int64) {
        let header = source.bytes(at: base, count: 16)
        guard header.count >= 8, length >= 8 else { return nil }
        switch (header[0], header[1]) {
        case (0x49, 0x49): bigEndian = false
        case (0x4D, 0x4D): bigEndian = true
        default: return nil
        }
        let magic = ByteSource.integer(header[2..<4], bigEndian: bigEndian)
        switch magic {
        case 42, 0x4F52, 0x5352, 0x55:
            isBig = false
            first = ByteSource.integer(header[4..<8], bigEndian: bigEndian)
        case 43 where header.count == 16 && ByteSource.integer(header[4..<6], bigEndian: bigEndian) == 8:
            isBig = true
            first = ByteSource.integer(header[8..<16], bigEndian: bigEndian)
        default: return nil
        }
        self.source = source
        self.base = base
        end = min(source.size, base + length)
    }

    /// A directory that stands alone, as a maker note does: the offsets in it count from `base`.
    init(_ source: ByteSource, directoriesFrom base: Int64, end: Int64, bigEndian: Bool) {
        self.source = source
        self.base = base
        self.end = min(source.size, end)
        self.bigEndian = bigEndian
        isBig = false
        first = 0
    }

    /// The directory at an offset of the block; as much of it as there is, nil when there is none.
    func directory(at offset: UInt64) -> Directory? {
        guard offset > 0, let start = absolute(offset) else { return nil }
        let countWidth = isBig ? 8 : 2
        let entryWidth = isBig ? 20 : 12
        guard let stated = source.integer(at: start, width: countWidth, bigEndian: bigEndian), stated > 0 else {
            return nil
        }
        let count = Int(min(stated, 4096))  // IFDs of cameras have fewer than 200 entries
        let table = source.bytes(at: start + Int64(countWidth), count: count * entryWidth)
        var directory = Directory()
        for index in 0..<table.count / entryWidth {
            let fields = table[index * entryWidth..<(index + 1) * entryWidth]
            let at = start + Int64(countWidth + index * entryWidth)
            guard let entry = entry(fields, at: at), directory.entries[entry.tag] == nil else { continue }
            directory.entries[entry.tag] = entry
        }
        let nextAt = start + Int64(countWidth) + Int64(count * entryWidth)
        directory.next = source.integer(at: nextAt, width: isBig ? 8 : 4, bigEndian: bigEndian) ?? 0
        return directory
    }

    private func entry(_ fields: ArraySlice<UInt8>, at position: Int64) -> Entry? {
        let start = fields.startIndex
        func number(_ from: Int, _ width: Int) -> UInt64 {
            ByteSource.integer(fields[start + from..<start + from + width], bigEndian: bigEndian)
        }
        let type = UInt16(number(2, 2))
        guard let width = TIFFBlock.width(ofType: type) else { return nil }
        let count = isBig ? number(4, 8) : number(4, 4)
        let (length, overflow) = count.multipliedReportingOverflow(by: UInt64(width))
        guard !overflow else { return nil }
        let valueAt = isBig ? 12 : 8
        let inlineWidth = isBig ? 8 : 4
        let value: Int64
        if length <= UInt64(inlineWidth) {
            value = position + Int64(valueAt)
        } else {
            guard let far = absolute(number(valueAt, inlineWidth)) else { return nil }
            value = far
        }
        return Entry(tag: UInt16(number(0, 2)), type: type, count: count, position: value, width: width)
    }

    private func absolute(_ offset: UInt64) -> Int64? {
        guard let offset = Int64(exactly: offset), offset < end - base else { return nil }
        return base + offset
    }

    private static func width(ofType type: UInt16) -> Int? {
        switch type {
        case 1, 2, 6, 7: 1
        case 3, 8: 2
        case 4, 9, 11, 13: 4
        case 5, 10, 12, 16, 17, 18: 8
        default: nil
        }
    }

    /// The value's bytes, at most `limit`.
    func bytes(_ entry: Entry, limit: Int = 64 << 10) -> [UInt8] {
        let length = min(entry.count.multipliedReportingOverflow(by: UInt64(entry.width)).partialValue, UInt64(limit))
        return source.bytes(at: entry.position, count: Int(min(Int64(length), max(0, end - entry.position))))
    }

    /// An integer of the value; nil for text, fractions and floating point.
    func integer(_ entry: Entry?, _ index: Int = 0) -> UInt64? {
        guard let entry, [1, 3, 4, 13, 16, 18].contains(entry.type), UInt64(index) < entry.count else { return nil }
        let position = entry.position + Int64(index * entry.width)
        guard position + Int64(entry.width) <= end else { return nil }
        return source.integer(at: position, width: entry.width, bigEndian: bigEndian)
    }

    /// A fraction of the value; nil when its denominator is 0, which writers use for "unknown".
    func fraction(_ entry: Entry?, _ index: Int) -> Double? {
        guard let entry, entry.type == 5 || entry.type == 10, UInt64(index) < entry.count else { return nil }
        let position = entry.position + Int64(index * 8)
        guard position + 8 <= end, let upper = source.integer(at: position, width: 4, bigEndian: bigEndian),
            let lower = source.integer(at: position + 4, width: 4, bigEndian: bigEndian), lower != 0
        else { return nil }
        if entry.type == 5 { return Double(upper) / Double(lower) }
        return Double(Int32(truncatingIfNeeded: upper)) / Double(Int32(truncatingIfNeeded: lower))
    }

    /// Text up to the first NUL without spaces around it; nil when nothing is left.
    func text(_ entry: Entry?) -> String? {
        guard let entry, entry.width == 1 else { return nil }
        return FactText.clean(bytes(entry, limit: 1024).prefix { $0 != 0 })
    }
}
