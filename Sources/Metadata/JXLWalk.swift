import PhotoModel

/// The size of a JPEG XL picture as shown, from its codestream's header (ISO/IEC 18181-1), and the EXIF and XMP of its
/// container (18181-2), compressed or not.
struct JXLWalk {
    /// Every block, for a tool that adds one leaves the compressed one beside it: what the first does not say, the next may.
    private(set) var exif: [TIFFBlock] = []
    private(set) var xmp: [UInt8] = []
    private(set) var size: PixelSize?

    init(_ source: ByteSource) {
        guard source.has("JXL ", at: 4) else {
            size = Self.size(source.bytes(at: 0, count: 16))
            return
        }
        for box in Box.all(in: source, from: 0, to: source.size) {
            switch box.type {
            // Parts are numbered in front; the first one in the file is the first one.
            case "jxlc", "jxlp":
                size = size ?? Self.size(source.bytes(at: box.start + (box.type == "jxlp" ? 4 : 0), count: 16))
            case "Exif", "xml ": take(box.type, source, from: box.start, to: box.end)
            case "brob":
                guard let inner = BrotliBox(source, box) else { break }
                take(inner.type, ByteSource(inner.content), from: 0, to: Int64(inner.content.count))
            default: break
            }
        }
    }

    private mutating func take(_ type: String, _ source: ByteSource, from start: Int64, to end: Int64) {
        switch type {
        case "Exif" where exif.count < 8:
            // How far the block is from there.
            let first = start + 4 + (source.integer(at: start, width: 4).map(Int64.init) ?? 0)
            if let block = TIFFBlock(source, at: first, length: end - first) { exif.append(block) }
        case "xml " where xmp.isEmpty:
            xmp = source.bytes(at: start, count: Int(min(end - start, Int64(XMPPacket.limit))))
        default: break
        }
    }

    private static func size(_ bytes: [UInt8]) -> PixelSize? {
        guard bytes.starts(with: [0xFF, 0x0A]) else { return nil }
        var bits = LowBits(bytes: bytes, position: 16)
        let isSmall = bits.take(1) == 1
        func side() -> UInt64 {
            isSmall ? 8 * (1 + bits.take(5)) : 1 + bits.take([9, 13, 18, 30][Int(bits.take(2))])
        }
        let height = side()
        let ratios: [(UInt64, UInt64)] = [(1, 1), (12, 10), (4, 3), (3, 2), (16, 9), (5, 4), (2, 1)]
        let ratio = Int(bits.take(3))
        let width = ratio == 0 ? side() : height * ratios[ratio - 1].0 / ratios[ratio - 1].1
        // The metadata: all default, or extra fields, of which the orientation is the first.
        let orientation = bits.take(1) == 0 && bits.take(1) == 1 ? 1 + bits.take(3) : 1
        guard !bits.isShort else { return nil }
        return orientation >= 5 ? ExifFacts.size(height, width) : ExifFacts.size(width, height)
    }
}

/// Bits from the low end of each byte on, as JPEG XL has them.
private struct LowBits {
    let bytes: [UInt8]
    var position: Int
    var isShort = false

    mutating func take(_ count: Int) -> UInt64 {
        var value: UInt64 = 0
        for place in 0..<count {
            guard position / 8 < bytes.count else {
                isShort = true
                return 0
            }
            value |= UInt64(bytes[position / 8] >> (position % 8) & 1) << place
            position += 1
        }
        return value
    }
}
