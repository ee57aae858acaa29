import PhotoModel

/// The chunks of PNG (ISO/IEC 15948, PNG 3rd edition for eXIf) and of WebP (RFC 9649).
struct ChunkWalk {
    private(set) var exif: TIFFBlock?
    private(set) var xmp: [UInt8] = []
    private(set) var size: PixelSize?

    static func png(_ source: ByteSource) -> ChunkWalk {
        var walk = ChunkWalk()
        var position: Int64 = 8
        for _ in 0..<4096 {
            guard let length = source.integer(at: position, width: 4).map(Int64.init) else { break }
            let content = position + 8
            switch source.fourCharacters(at: position + 4) {
            case "IHDR":
                walk.size = ExifFacts.size(
                    source.integer(at: content, width: 4), source.integer(at: content + 4, width: 4))
            case "eXIf": walk.exif = walk.exif ?? block(source, content, length)
            case "iTXt" where source.has("XML:com.adobe.xmp\0\0\0", at: content):
                walk.xmp = source.bytes(at: content + 20, count: Int(min(length, Int64(XMPPacket.limit))))
            case "tEXt" where walk.exif == nil:
                walk.exif = rawProfile(source, content, length)
            case "IEND": return walk
            default: break
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

    /// ImageMagick's form before eXIf existed: the keyword, then a name, a length and the block as hexadecimal text.
    private static func rawProfile(_ source: ByteSource, _ start: Int64, _ length: Int64) -> TIFFBlock? {
        for keyword in ["Raw profile type exif\0", "Raw profile type APP1\0"] where source.has(keyword, at: start) {
            let text = source.bytes(at: start + Int64(keyword.utf8.count), count: Int(min(length, 256 << 10)))
            let lines = text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: true)
            var digits: [UInt8] = []
            for line in lines.dropFirst(2) { digits += line.filter { $0 > 0x20 } }
            var bytes: [UInt8] = []
            for index in stride(from: 0, to: digits.count - 1, by: 2) {
                guard let byte = UInt8(String(decoding: digits[index...index + 1], as: UTF8.self), radix: 16) else {
                    break
                }
                bytes.append(byte)
            }
            return block(ByteSource(bytes), 0, Int64(bytes.count))
        }
        return nil
    }
}
