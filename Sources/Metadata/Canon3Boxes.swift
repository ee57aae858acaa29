/// Whether the boxes of a CR3 lie within each other, as ISO/IEC 14496-12 (4.2) has it, and so do the records of its metadata
/// track.
///
/// LibRaw 0.20 adds up what they say of their lengths without asking: a long length of zero, or one that leads back, has it
/// walk the same box for ever, and boxes that reach out of their parents have it walk the same bytes again at each depth.
/// What it goes into is what counts here; what it steps over may hold anything.
package enum Canon3Boxes {
    /// A camera's file has some 80 boxes, eight deep, and a dozen records.
    private static let most = 1024
    private static let deepest = 16
    /// LibRaw's, wherever they stand; `uuid` and `stsd` besides are by what is in them.
    private static let containers: Set<String> = [
        "dinf", "edts", "fiin", "ipro", "iprp", "mdia", "meco", "mere", "mfra", "minf", "moof", "moov", "mvex", "paen",
        "schi", "sinf", "skip", "stbl", "strk", "tapt", "traf", "trak", "CCTP", "CRAW", "stsd", "uuid",
    ]

    package static func areSound(_ source: ByteSource) -> Bool {
        var left = most
        return areSound(source, from: 0, to: source.size, depth: 0, &left)
    }

    private static func areSound(
        _ source: ByteSource, from start: Int64, to end: Int64, depth: Int, _ left: inout Int
    ) -> Bool {
        guard depth < deepest else { return false }
        var position = start
        while position + 8 <= end {
            left -= 1
            guard left >= 0, let short = source.integer(at: position, width: 4) else { return false }
            var (header, length) = (Int64(8), Int64(short))
            if short == 1 {
                guard position + 16 <= end, let long = source.integer(at: position + 8, width: 8),
                    let exact = Int64(exactly: long)
                else { return false }
                (header, length) = (16, exact)
            } else if short == 0, depth == 0 {
                length = end - position  // to the end of the file
            }
            guard length >= header else { return false }
            let type = source.fourCharacters(at: position + 4)
            let content = contentStart(source, type, at: position + header)
            if length > end - position {
                // A file that was cut ends in a box without parts, as a rule in the sensor's data.
                return depth == 0 && content == nil
            }
            let next = position + length
            if let content, !areSound(source, from: content, to: next, depth: depth + 1, &left) { return false }
            if type == "stbl", !recordsAreSound(source, Box(type: type, start: position + header, end: next), &left) {
                return false
            }
            position = next
        }
        return true
    }

    /// Where the parts of a box begin; nil when LibRaw looks for none.
    private static func contentStart(_ source: ByteSource, _ type: String, at start: Int64) -> Int64? {
        guard containers.contains(type) else { return nil }
        switch type {
        case "uuid":
            // Canon's, of the movie header.
            let canon: [UInt8] = [
                0x85, 0xC0, 0xB6, 0x87, 0x82, 0x0F, 0x11, 0xE0, 0x81, 0x11, 0xF4, 0xCE, 0x46, 0x2B, 0x6A, 0x48,
            ]
            return source.bytes(at: start, count: 16) == canon ? start + 16 : nil
        case "stsd": return source.has("CRAW", at: start + 12) ? start + 8 : nil
        case "CCTP": return start + 12
        case "CRAW": return start + 82
        default: return start
        }
    }

    // MARK: The metadata track

    /// The sample of a track of the kind `CTMD`: records of a length, a kind and, in some, tags of a length each, all of
    /// them little-endian. LibRaw adds up the lengths in 32 bits.
    private static func recordsAreSound(_ source: ByteSource, _ table: Box, _ left: inout Int) -> Bool {
        let parts = table.children(source)
        guard let kind = parts.first("stsd"), source.has("CTMD", at: kind.start + 12),
            let sizes = parts.first("stsz"), let places = parts.first("co64"),
            let place = source.integer(at: places.start + 8, width: 8),
            let size = source.integer(at: sizes.start + (sizes.end - sizes.start == 12 ? 4 : 12), width: 4)
        else { return true }
        guard let start = Int64(exactly: place), start < Int64.max / 2, size <= Int32.max else { return false }
        let end = start + Int64(size)
        var position = start
        while position + 6 < end, position + 6 <= source.size {
            left -= 1
            guard left >= 0, let length = number(source, position, 4), length >= 6, length <= end - position else {
                return false
            }
            if let kind = number(source, position + 4, 2), (7...9).contains(kind),
                !tagsAreSound(source, from: position + 12, to: position + length, &left)
            {
                return false
            }
            position += length
        }
        return true
    }

    private static func tagsAreSound(
        _ source: ByteSource, from start: Int64, to end: Int64, _ left: inout Int
    ) -> Bool {
        var position = start
        while position + 8 < end, position + 8 <= source.size {
            left -= 1
            guard left >= 0, let length = number(source, position, 4), length >= 8, length <= end - position else {
                return false
            }
            position += length
        }
        return true
    }

    private static func number(_ source: ByteSource, _ position: Int64, _ width: Int) -> Int64? {
        source.integer(at: position, width: width, bigEndian: false).map { Int64($0) }
    }
}
