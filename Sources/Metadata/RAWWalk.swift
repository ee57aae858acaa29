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
        guard let start = source.integer(at: 84, width: 4).map(Int64.init),
            source.bytes(at: start, count: 2) == [0xFF, 0xD8]
        else { return [] }
        return JPEGWalk(source, at: start).exif.map { [$0] } ?? []
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

    /// Of a CR3, whose maker note is a block of its own: Canon's LensModel, 0x0095.
    static func canonLens(_ source: ByteSource) -> String? {
        guard source.has("ftyp", at: 4), let block = canonParts(source, ["CMT3"]).first else { return nil }
        return block.text(block.directory(at: block.first)?.entries[0x95])
    }

    /// CR3: four TIFFs in Canon's box of the movie header: CMT1 main, CMT2 EXIF, CMT3 maker note, CMT4 GPS.
    private static func canonCR3(_ source: ByteSource) -> [TIFFBlock] {
        canonParts(source, ["CMT1", "CMT2", "CMT4"])
    }

    private static func canonParts(_ source: ByteSource, _ names: [String]) -> [TIFFBlock] {
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
