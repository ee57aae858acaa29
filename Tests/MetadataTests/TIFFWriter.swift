/// Makes EXIF blocks for tests: only what is asked for, in either byte order.
struct TIFFWriter {
    enum Value {
        case text(String)
        case short(UInt16)
        case long(UInt32)
        case fractions([(UInt32, UInt32)])
        case bytes([UInt8])
        case directory([UInt16: Value])
    }

    let bigEndian: Bool
    private var bytes: [UInt8] = []

    /// The block with these tags in its first directory.
    static func block(_ tags: [UInt16: Value], bigEndian: Bool = false) -> [UInt8] {
        var writer = TIFFWriter(bigEndian: bigEndian)
        writer.bytes = Array((bigEndian ? "MM" : "II").utf8) + writer.number(42, 2) + writer.number(8, 4)
        writer.write(tags)
        return writer.bytes
    }

    /// A JPEG of 16 x 8 pixels, as far as its headers go, with this block.
    static func jpeg(_ tags: [UInt16: Value], bigEndian: Bool = false) -> [UInt8] {
        let content = Array("Exif\0\0".utf8) + block(tags, bigEndian: bigEndian)
        let length = content.count + 2
        return [0xFF, 0xD8, 0xFF, 0xE1, UInt8(length >> 8), UInt8(length & 255)] + content
            + [0xFF, 0xC0, 0, 11, 8, 0, 8, 0, 16, 1, 1, 0x11, 0, 0xFF, 0xDA]
    }

    private init(bigEndian: Bool) { self.bigEndian = bigEndian }

    private func number(_ value: UInt32, _ width: Int) -> [UInt8] {
        let little = (0..<width).map { UInt8(truncatingIfNeeded: value >> UInt32($0 * 8)) }
        return bigEndian ? little.reversed() : little
    }

    private mutating func write(_ tags: [UInt16: Value]) {
        let start = bytes.count
        bytes += number(UInt32(tags.count), 2) + [UInt8](repeating: 0, count: tags.count * 12 + 4)
        for (index, (tag, value)) in tags.sorted(by: { $0.key < $1.key }).enumerated() {
            let (type, count, content) = encoded(value)
            var entry = number(UInt32(tag), 2) + number(type, 2) + number(count, 4)
            if case .directory(let inner) = value {
                entry += number(UInt32(bytes.count), 4)
                write(inner)
            } else if content.count <= 4 {
                entry += content + [UInt8](repeating: 0, count: 4 - content.count)
            } else {
                entry += number(UInt32(bytes.count), 4)
                bytes += content
            }
            bytes.replaceSubrange(start + 2 + index * 12..<start + 14 + index * 12, with: entry)
        }
    }

    private func encoded(_ value: Value) -> (type: UInt32, count: UInt32, content: [UInt8]) {
        switch value {
        case .text(let text): (2, UInt32(text.utf8.count + 1), Array(text.utf8) + [0])
        case .short(let short): (3, 1, number(UInt32(short), 2))
        case .long(let long): (4, 1, number(long, 4))
        case .fractions(let fractions):
            (5, UInt32(fractions.count), fractions.flatMap { number($0.0, 4) + number($0.1, 4) })
        case .bytes(let bytes): (7, UInt32(bytes.count), bytes)
        case .directory: (4, 1, [])
        }
    }
}
