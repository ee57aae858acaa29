import PhotoModel

/// The chunks of PNG (ISO/IEC 15948, PNG 3rd edition for eXIf) and of WebP (RFC 9649).
struct ChunkWalk {
    private(set) var exif: TIFFBlock?
    private(set) var xmp: [UInt8] = []
    private(set) var size: PixelSize?
    private(set) var coding = PictureCoding()

    /// Texts of a PNG that are looked into: inflating them is work.
    private static let textLimit = 8

    static func png(_ source: ByteSource) -> ChunkWalk {
        var walk = ChunkWalk()
        var texts = 0
        var position: Int64 = 8
        for _ in 0..<4096 {
            guard let length = source.integer(at: position, width: 4).map(Int64.init) else { break }
            let content = position + 8
            let type = source.fourCharacters(at: position + 4)
            switch type {
            case "IHDR":
                walk.size = ExifFacts.size(
                    source.integer(at: content, width: 4), source.integer(at: content + 4, width: 4))
                // All of an interlaced picture is held as RGBA until the last pass.
                if let isInterlaced = source.integer(at: content + 12, width: 1), isInterlaced != 0 {
                    walk.coding.heldPerHundred = 400
                }
            case "eXIf": walk.exif = walk.exif ?? block(source, content, length)
            case "IEND": return walk
            default:
                guard let kind = PNGText.kind(source, type: type, at: content), walk.lacks(kind), texts < textLimit
                else { break }
                texts += 1
                if let text = PNGText(source, type: type, at: content, length: length) { walk.take(text) }
            }
            position = content + length + 4
        }
        return walk
    }

    static func webp(_ source: ByteSource) -> ChunkWalk {
        var walk = ChunkWalk()
        var position: Int64 = 12
        for _ in 0..<4096 {
            guard let length = source.integer(at: position + 4, width: 4, bigEndian: false).map(Int64.init) else {
                break
            }
            let content = position + 8
            let bytes = source.bytes(at: content, count: 10).map(UInt64.init)
            switch source.fourCharacters(at: position) {
            case "VP8X" where bytes.count == 10:
                walk.size = ExifFacts.size(
                    1 + bytes[4] + bytes[5] << 8 + bytes[6] << 16, 1 + bytes[7] + bytes[8] << 8 + bytes[9] << 16)
            case "VP8 " where walk.size == nil && bytes.count == 10:
                walk.size = ExifFacts.size((bytes[6] + bytes[7] << 8) & 0x3FFF, (bytes[8] + bytes[9] << 8) & 0x3FFF)
            case "VP8L" where walk.size == nil && bytes.count == 10:
                let packed = bytes[1] + bytes[2] << 8 + bytes[3] << 16 + bytes[4] << 24
                walk.size = ExifFacts.size(1 + packed & 0x3FFF, 1 + packed >> 14 & 0x3FFF)
            case "EXIF": walk.exif = walk.exif ?? block(source, content, length)
            case "XMP ": walk.xmp = source.bytes(at: content, count: Int(min(length, Int64(XMPPacket.limit))))
            default: break
            }
            position = content + length + length % 2
        }
        return walk
    }

    /// Some writers put JPEG's "Exif\0\0" in front.
    private static func block(_ source: ByteSource, _ start: Int64, _ length: Int64) -> TIFFBlock? {
        let extra: Int64 = source.has("Exif\0\0", at: start) ? 6 : 0
        return TIFFBlock(source, at: start + extra, length: length - extra)
    }

    private func lacks(_ kind: PNGText.Kind) -> Bool {
        switch kind {
        case .exif: exif == nil
        case .xmp: xmp.isEmpty
        }
    }

    private mutating func take(_ text: PNGText) {
        switch text.kind {
        case .exif: exif = ChunkWalk.block(ByteSource(text.content), 0, Int64(text.content.count))
        case .xmp: xmp = text.content
        }
    }
}
