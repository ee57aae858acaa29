import PhotoModel

/// Whether a file's own structure promises more than is there: it was cut, or has not come whole yet. Damage is something
/// else: a broken JPEG that ends as it should is not cut.
///
/// Nothing is decoded. Of a JPEG the tail is searched for its end, and the whole only where that is not found; of the
/// others a few headers are read. What cannot be told, within the source's budget too, counts as whole.
enum Completeness {
    static func endsEarly(_ source: ByteSource, _ type: MediaType) -> Bool {
        switch type {
        case .jpeg: jpegEndsEarly(source)
        case .png: pngEndsEarly(source)
        case .heic, .heif, .avif: boxesEndEarly(source, needing: ["meta", "moov"])
        case .quicktime, .mp4: boxesEndEarly(source, needing: ["moov"])
        case .webp, .avi: riffEndsEarly(source)
        case .tiff: tiffEndsEarly(source)
        case .raw:
            if source.has("ftyp", at: 4) {
                boxesEndEarly(source, needing: ["moov"])
            } else if source.has("FUJIFILMCCD-RAW", at: 0) {
                fujifilmEndsEarly(source)
            } else {
                tiffEndsEarly(source)
            }
        case .gif, .jpegXL, .mpegTS, .matroska, .xmp, .appleAdjustment, .json, .audio, .unknown: false
        }
    }

    // MARK: JPEG

    private static let piece: Int64 = 64 << 10

    /// No end-of-image marker behind the first scan's header, or a further picture reaches beyond the end. Inside the
    /// picture's data there is no marker by chance: a 0xFF is followed by 0 there.
    private static func jpegEndsEarly(_ source: ByteSource) -> Bool {
        let walk = JPEGWalk(source)
        guard let start = walk.scanStart else { return walk.isCut }
        if let directory = walk.multiPicture, picturesEndEarly(directory) { return true }
        let tail = max(start, source.size - piece)
        if holdsEnd(source.bytes(at: tail, count: Int(piece))) { return false }
        var position = start
        while position < tail {
            // One byte more than a piece: the marker may lie across the border.
            let bytes = source.bytes(at: position, count: Int(piece) + 1)
            if bytes.isEmpty || holdsEnd(bytes) { return false }
            position += piece
        }
        return true
    }

    /// What the directory of an MPO or Ultra HDR photo says of its pictures: 16 bytes each, of which 4 to 8 are the length
    /// and 8 to 12 the place, counted from the directory's header; 0 is the picture that holds the directory.
    private static func picturesEndEarly(_ block: TIFFBlock) -> Bool {
        guard let list = block.directory(at: block.first)?.entries[0xB002], list.type == 7 else { return false }
        let bytes = block.bytes(list, limit: 16 * 64)
        for start in stride(from: 0, to: bytes.count / 16 * 16, by: 16) {
            let length = ByteSource.integer(bytes[start + 4..<start + 8], bigEndian: block.bigEndian)
            let place = ByteSource.integer(bytes[start + 8..<start + 12], bigEndian: block.bigEndian)
            let first = place == 0 ? 0 : block.base + Int64(place)
            if length > 0, first + Int64(length) > block.source.size { return true }
        }
        return false
    }

    private static func holdsEnd(_ bytes: [UInt8]) -> Bool {
        var before: UInt8 = 0
        for byte in bytes {
            if byte == 0xD9, before == 0xFF { return true }
            before = byte
        }
        return false
    }

    // MARK: PNG, RIFF

    private static func pngEndsEarly(_ source: ByteSource) -> Bool {
        if source.has("IEND", at: source.size - 8) { return false }
        var position: Int64 = 8
        for _ in 0..<65_536 {
            guard position + 8 <= source.size else { return true }
            guard let length = source.integer(at: position, width: 4).map(Int64.init) else { return false }
            if source.has("IEND", at: position + 4) { return false }
            position += 12 + length
            if position > source.size { return true }
        }
        return false
    }

    private static func riffEndsEarly(_ source: ByteSource) -> Bool {
        guard let length = source.integer(at: 4, width: 4, bigEndian: false) else { return true }
        return Int64(length) + 8 > source.size
    }

    // MARK: Boxes

    /// A box reaches beyond the end, or the file ends behind a whole one and what describes the rest has not come.
    private static func boxesEndEarly(_ source: ByteSource, needing wanted: Set<String>) -> Bool {
        var position: Int64 = 0
        var isDescribed = false
        for _ in 0..<4096 {
            guard position + 8 <= source.size else { return !isDescribed }
            guard let short = source.integer(at: position, width: 4) else { return false }
            let type = source.bytes(at: position + 4, count: 4)
            // Behind the last box some writers leave what is none.
            guard type.allSatisfy({ (0x20...0x7E).contains($0) || $0 == 0xA9 }) else { return !isDescribed }
            if wanted.contains(String(decoding: type, as: UTF8.self)) { isDescribed = true }
            var length = Int64(short)
            if short == 0 { return !isDescribed }  // to the end, wherever that is
            if short == 1 {
                guard let long = source.integer(at: position + 8, width: 8) else { return position + 16 > source.size }
                guard let exact = Int64(exactly: long), exact >= 16 else { return false }
                length = exact
            }
            guard length >= 8 else { return false }
            if length > source.size - position { return true }
            position += length
        }
        return false
    }

    // MARK: TIFF and RAW

    /// Strips, tiles or embedded JPEGs reach beyond the end, or a directory lies there.
    private static func tiffEndsEarly(_ source: ByteSource) -> Bool {
        guard let block = TIFFBlock(source, at: 0, length: source.size) else { return false }
        if isBeyond(block.first, 1, source) { return true }
        for page in TIFFPages.all(of: block) {
            if isBeyond(page.next, 1, source) { return true }
            if let children = page.entries[0x14A],
                (0..<Int(min(children.count, 8))).contains(where: { index in
                    block.integer(children, index).map { isBeyond($0, 1, source) } ?? false
                })
            {
                return true
            }
            for (offsets, lengths) in [(0x111, 0x117), (0x144, 0x145), (0x201, 0x202)] as [(UInt16, UInt16)] {
                guard let starts = page.entries[offsets], let counts = page.entries[lengths] else { continue }
                for index in 0..<Int(min(starts.count, counts.count, 4096)) {
                    guard let start = block.integer(starts, index), let count = block.integer(counts, index) else {
                        break
                    }
                    if isBeyond(start, count, source) { return true }
                }
            }
        }
        return false
    }

    /// RAF: the places of the JPEG, of the sensor's header and of its values, from 84 on.
    private static func fujifilmEndsEarly(_ source: ByteSource) -> Bool {
        stride(from: Int64(84), through: 100, by: 8).contains { place in
            guard let start = source.integer(at: place, width: 4), let count = source.integer(at: place + 4, width: 4)
            else { return true }
            return isBeyond(start, count, source)
        }
    }

    private static func isBeyond(_ start: UInt64, _ count: UInt64, _ source: ByteSource) -> Bool {
        // All ones mean "not here" (Panasonic), 0 none at all.
        guard start > 0, start != 0xFFFF_FFFF, count > 0 else { return false }
        let (end, overflow) = start.addingReportingOverflow(count)
        return overflow || end > UInt64(source.size)
    }
}
