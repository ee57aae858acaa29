import CZlib

/// The texts of a PNG that stand in for its metadata: tEXt, zTXt and iTXt (PNG, third edition, 11.3.3) under the keywords
/// of ImageMagick, exiftool and Adobe. Nothing else is inflated.
struct PNGText {
    enum Kind { case exif, xmp }

    let kind: Kind
    /// A block of EXIF, or a packet of XMP.
    let content: [UInt8]

    /// Bytes of a chunk that are read, and that come of them. The largest EXIF block of a camera has 64 KiB.
    private static let limit = 1 << 20

    private static let keywords: [(name: String, kind: Kind, isHexadecimal: Bool)] = [
        ("Raw profile type exif\0", .exif, true), ("Raw profile type APP1\0", .exif, true),
        ("Raw profile type xmp\0", .xmp, true), ("XML:com.adobe.xmp\0", .xmp, false),
    ]

    /// What kind of text a chunk says it holds; nil for other texts and other chunks.
    static func kind(_ source: ByteSource, type: String, at start: Int64) -> Kind? {
        guard ["tEXt", "zTXt", "iTXt"].contains(type) else { return nil }
        return keywords.first { source.has($0.name, at: start) }?.kind
    }

    /// nil when the chunk is not as it should be. A compressed text that is damaged or goes on past the limit counts as
    /// far as it was read.
    init?(_ source: ByteSource, type: String, at start: Int64, length: Int64) {
        guard let keyword = PNGText.keywords.first(where: { source.has($0.name, at: start) }) else { return nil }
        let behind = Int64(keyword.name.utf8.count)
        let body = source.bytes(at: start + behind, count: Int(min(length - behind, Int64(PNGText.limit))))
        guard let text = PNGText.text(of: body[...], type: type) else { return nil }
        kind = keyword.kind
        content = keyword.isHexadecimal ? PNGText.hexadecimal(text) : Array(text)
    }

    /// - Parameter body: what follows the keyword.
    private static func text(of body: ArraySlice<UInt8>, type: String) -> ArraySlice<UInt8>? {
        switch type {
        case "zTXt": return body.first == 0 ? inflated(body.dropFirst()) : nil
        case "iTXt":
            // Whether and how it is compressed, then language and translated keyword, each ended by NUL.
            let parts = body.dropFirst(2).split(separator: 0, maxSplits: 2, omittingEmptySubsequences: false)
            guard body.count > 2, parts.count == 3 else { return nil }
            if body[body.startIndex] == 0 { return parts[2] }
            return body[body.startIndex + 1] == 0 ? inflated(parts[2]) : nil
        default: return body
        }
    }

    /// A zlib stream (RFC 1950): zlib reads exactly what it is lent and writes no more than it is told.
    private static func inflated(_ stream: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: limit) { target, count in
            unsafe stream.withUnsafeBufferPointer { source in
                var written = uLong(target.count)
                // On an error, too, it says how much is there.
                _ = unsafe uncompress(target.baseAddress, &written, source.baseAddress, uLong(source.count))
                count = min(Int(written), target.count)
            }
        }
        return bytes[...]
    }

    /// ImageMagick's form from before eXIf existed: a name, a length, and the block as digits, on lines of their own.
    private static func hexadecimal(_ text: ArraySlice<UInt8>) -> [UInt8] {
        let lines = text.split(separator: UInt8(ascii: "\n"), maxSplits: 2)
        guard lines.count == 3 else { return [] }
        var bytes: [UInt8] = []
        var high: UInt8?
        for character in lines[2] where character > 0x20 {
            let digit: UInt8
            switch character {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = character - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): digit = character - UInt8(ascii: "a") + 10
            case UInt8(ascii: "A")...UInt8(ascii: "F"): digit = character - UInt8(ascii: "A") + 10
            default: return bytes
            }
            if let first = high { bytes.append(first << 4 | digit) }
            high = high == nil ? digit : nil
        }
        return bytes
    }
}
