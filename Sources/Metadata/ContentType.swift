import PhotoModel

/// What a file is, by its first bytes; for TIFF and ISO-BMFF also by what they hold. The name is never asked.
enum ContentType {
    static func of(_ source: ByteSource) -> MediaType {
        let head = source.bytes(at: 0, count: 4096)
        for (magic, type) in magics where head.starts(with: magic) {
            return type ?? inside(source, head)
        }
        if head.count >= 12, head[4..<8].elementsEqual("ftyp".utf8) { return isoType(source, head) }
        if head.count >= 8, let name = String(validating: head[4..<8], as: UTF8.self), quickTimeStarts.contains(name) {
            return .quicktime
        }
        if isTransportStream(source) { return .mpegTS }
        let type = TextType.of(head)
        return type == .unknown && headerless.contains(source.size) ? .raw : type
    }

    /// Bytes of sensor data without a header, as LibRaw knows them: by nothing but their number. Kodak C330.
    private static let headerless: Set<Int64> = [2_247_168]

    /// nil: the first bytes alone do not tell.
    private static let magics: [(magic: [UInt8], type: MediaType?)] = [
        ([0xFF, 0xD8, 0xFF], .jpeg),
        ([0x89] + Array("PNG\r\n".utf8) + [0x1A, 0x0A], .png),
        (Array("GIF87a".utf8), .gif), (Array("GIF89a".utf8), .gif),
        (Array("RIFF".utf8), nil),
        ([0xFF, 0x0A], .jpegXL),
        ([0, 0, 0, 12] + Array("JXL ".utf8) + [0x0D, 0x0A, 0x87, 0x0A], .jpegXL),
        (Array("II".utf8) + [0x2A, 0], nil), (Array("MM".utf8) + [0, 0x2A], nil),
        (Array("II".utf8) + [0x2B, 0], nil), (Array("MM".utf8) + [0, 0x2B], nil),
        (Array("IIRO".utf8), .raw), (Array("IIRS".utf8), .raw), (Array("MMOR".utf8), .raw),  // Olympus
        (Array("IIU".utf8) + [0], .raw),  // Panasonic, Leica
        (Array("FUJIFILMCCD-RAW".utf8), .raw),
        ([0] + Array("MRM".utf8), .raw),  // Minolta
        (Array("FOVb".utf8), .raw),  // Sigma
        (Array("II".utf8) + [0x1A, 0, 0, 0] + Array("HEAPCCDR".utf8), .raw),  // Canon CRW
        ([0x1A, 0x45, 0xDF, 0xA3], .matroska),
    ]

    private static let quickTimeStarts: Set = ["moov", "mdat", "wide", "free", "skip", "pnot"]

    private static func inside(_ source: ByteSource, _ head: [UInt8]) -> MediaType {
        guard head.starts(with: "RIFF".utf8) else { return RAWKind.isRAW(source) ? .raw : .tiff }
        switch source.fourCharacters(at: 8) {
        case "WEBP": return .webp
        case "AVI ": return .avi
        case "WAVE": return .audio
        default: return .unknown
        }
    }

    /// By the brands of the first box, ISO/IEC 14496-12 section 4.3; the major one first, `mif1` and `msf1` (any coding)
    /// by the more exact one among the others.
    private static func isoType(_ source: ByteSource, _ head: [UInt8]) -> MediaType {
        let length = min(Int(ByteSource.integer(head[0..<4], bigEndian: true)), head.count)
        let major = source.fourCharacters(at: 8)
        let others = stride(from: 16, to: max(16, length - 3), by: 4).map { source.fourCharacters(at: Int64($0)) }
        for brand in [major] + (["mif1", "msf1", "miaf"].contains(major) ? others : []) {
            switch brand {
            case "avif", "avis": return .avif
            case "heic", "heix", "heim", "heis", "hevc", "hevx", "hevm", "hevs": return .heic
            case "crx ": return .raw
            case "qt  ": return .quicktime
            case "avci", "avcs", "jpeg", "jpgs", "j2ki", "mif2": return .heif
            case "jxl ": return .jpegXL
            case "jp2 ", "jpx ", "jpm ", "M4A ", "M4B ", "aax ": return .unknown
            default: continue
            }
        }
        return ["mif1", "msf1", "miaf"].contains(major) ? .heif : .mp4
    }

    /// Packets of 188 bytes, each starting with 0x47; in camcorder files (M2TS) after four bytes of time.
    private static func isTransportStream(_ source: ByteSource) -> Bool {
        for (start, step) in [(0, 188), (4, 192)] {
            let starts = (0..<4).map { source.bytes(at: Int64(start + $0 * step), count: 1) }
            if starts.allSatisfy({ $0 == [0x47] }) { return true }
        }
        return false
    }
}
