import PhotoModel

/// Where RAW files that are not plain TIFF keep their EXIF.
enum RAWWalk {
    /// The blocks in the order in which they count. TIFF-like files are one block themselves.
    static func blocks(_ source: ByteSource) -> [TIFFBlock] {
        if source.has("FUJIFILMCCD-RAW", at: 0) { return fujifilm(source) }
        if source.has("\0MRM", at: 0) { return minolta(source) }
        if source.has("ftyp", at: 4) { return canonCR3(source) }
        return TIFFBlock(source, at: 0, length: source.size).map { [$0] } ?? []
    }

    /// RAF: the place of a whole JPEG at 84.
    private static func fujifilm(_ source: ByteSource) -> [TIFFBlock] {
        fujifilmJPEG(source)?.exif ?? []
    }

    static func fujifilmJPEG(_ source: ByteSource) -> JPEGWalk? {
        guard source.has("FUJIFILMCCD-RAW", at: 0), let start = source.integer(at: 84, width: 4).map(Int64.init),
            source.bytes(at: start, count: 2) == [0xFF, 0xD8]
        else { return nil }
        return JPEGWalk(source, at: start)
    }

    /// MRW: blocks of name and length up to the raster; TTW is a TIFF.
    private static func minolta(_ source: ByteSource) -> [TIFFBlock] {
        var position: Int64 = 8
        for _ in 0..<32 {
            guard let length = source.integer(at: position + 4, width: 4).map(Int64.init) else { return [] }
            if source.has("\0TTW", at: position) {
                return TIFFBlock(source, at: position + 8, length: length).map { [$0] } ?? []
            }
            position += 8 + length
        }
        return []
    }

    /// Panasonic's JpgFromRaw, 0x002E: where a whole JPEG begins.
    static func panasonicJPEG(_ block: TIFFBlock) -> Int64? {
        guard let entry = block.directory(at: block.first)?.entries[0x2E], entry.type == 7, entry.count > 4,
            block.source.bytes(at: entry.position, count: 3) == [0xFF, 0xD8, 0xFF]
        else { return nil }
        return entry.position
    }

    /// CR3's XMP: a box of Adobe's UUID (XMP specification part 3, 1.1.5).
    static func canonXMP(_ source: ByteSource) -> [UInt8] {
        let uuid: [UInt8] = [
            0xBE, 0x7A, 0xCF, 0xCB, 0x97, 0xA9, 0x42, 0xE8, 0x9C, 0x71, 0x99, 0x94, 0x91, 0xE3, 0xAF, 0xAC,
        ]
        for box in Box.all(in: source, from: 0, to: source.size)
        where box.type == "uuid" && source.bytes(at: box.start, count: 16) == uuid {
            return source.bytes(at: box.start + 16, count: Int(min(box.end - box.start - 16, Int64(XMPPacket.limit))))
        }
        return []
    }

    /// Of a CR3, whose maker note is a block of its own: Canon's LensModel, 0x0095.
    static func canonLens(_ source: ByteSource) -> String? {
        guard source.has("ftyp", at: 4), let block = canonParts(source, ["CMT3"]).first else { return nil }
        return block.text(block.directory(at: block.first)?.entries[0x95])
    }

    /// CR3: four TIFFs in Canon's box of the movie header: CMT1 main, CMT2 EXIF, CMT3 maker note, CMT4 GPS.
    private static func canonCR3(_ source: ByteSource) -> [TIFFBlock] {
        canonParts(source, ["CMT1", "CMT2", "CMT4"])
    }

    static func canonParts(_ source: ByteSource, _ names: [String]) -> [TIFFBlock] {
        let top = Box.all(in: source, from: 0, to: source.size)
        guard let movie = top.first("moov") else { return [] }
        for box in movie.children(source) where box.type == "uuid" {
            let parts = box.children(source, after: 16)
            guard parts.first("CMT1") != nil else { continue }
            return names.compactMap { name in
                parts.first(name).flatMap { TIFFBlock(source, at: $0.start, length: $0.end - $0.start) }
            }
        }
        return []
    }
}
