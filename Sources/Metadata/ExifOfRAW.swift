/// The EXIF of files that are no container of it but a TIFF themselves, or many: TIFF and RAW. Written anew with the tags
/// that describe the photo; what describes the file (strips, tiles, thumbnails, further directories, the sensor) stays
/// behind, and so do maker notes, whose offsets would lead nowhere.
enum ExifOfRAW {
    /// Name and text of the picture, camera, resolution, software, time, people, rating: Exif 3.0, tables 4 and 5, and those
    /// that Windows writes.
    private static let described = Set<UInt16>([
        0x10D, 0x10E, 0x10F, 0x110, 0x11A, 0x11B, 0x128, 0x131, 0x132, 0x13B, 0x13C, 0x4746, 0x4749, 0x8298,
    ]).union(0x9C9B...0x9C9F)
    /// Exif 3.0, table 7, without the maker note and the directory of interoperability; and TIFF/EP's number of the picture.
    private static let taken = ExifExcerpt.second.union([
        0x8824, 0x8828, 0x9211, 0x9214, 0x9286, 0xA002, 0xA003, 0xA004, 0xA20B, 0xA20C, 0xA214, 0xA302, 0xA407, 0xA420,
        0xA500,
    ]).union(0x8833...0x8835).union(0x9400...0x9405).union(0xA40B...0xA40C).union(0xA430...0xA43C)
        .union(0xA460...0xA462)
    /// Bytes of one value; comments are the longest.
    private static let longest = 64 << 10

    /// - Returns: a block of at most `most` bytes; empty when there is nothing to tell.
    static func bytes(of source: ByteSource, most: Int) -> [UInt8] {
        if source.has("ftyp", at: 4) { return canon(source, most) }
        var blocks = RAWWalk.blocks(source)
        // Panasonic's RW2 has the whole of it only in the JPEG that it carries, and numbers of Exif in its own directory that
        // mean something else there.
        if let block = blocks.first, let jpeg = RAWWalk.panasonicJPEG(block),
            let inner = JPEGWalk(source, at: jpeg).exif.first
        {
            blocks.insert(inner, at: 0)
        }
        return bytes(of: blocks, most: most)
    }

    /// What of one block counts does so before what of the next.
    static func bytes(of blocks: [TIFFBlock], most: Int) -> [UInt8] {
        guard let order = blocks.first?.bigEndian else { return [] }
        var copy = ExifCopy(bigEndian: order)
        for block in blocks {
            guard let main = block.directory(at: block.first) else { continue }
            func inner(_ tag: UInt16) -> TIFFBlock.Directory? {
                block.integer(main.entries[tag]).flatMap { block.directory(at: $0) }
            }
            take(main, of: block, .main, &copy)
            take(inner(0x8769), of: block, .exif, &copy)
            // TIFF/EP, and DNG after it, have them in the first directory.
            copy.take(main, of: block, as: .exif, longest: longest, where: ExifExcerpt.second.contains)
            take(inner(0x8825), of: block, .place, &copy)
        }
        return finished(&copy, most)
    }

    /// CR3 has a TIFF for each directory.
    private static func canon(_ source: ByteSource, _ most: Int) -> [UInt8] {
        let names = ["CMT1", "CMT2", "CMT4"]
        let blocks = names.map { RAWWalk.canonParts(source, [$0]).first }
        guard let order = blocks.compactMap(\.self).first?.bigEndian else { return [] }
        var copy = ExifCopy(bigEndian: order)
        for (block, part) in zip(blocks, ExifCopy.Part.allCases) {
            if let block { take(block.directory(at: block.first), of: block, part, &copy) }
        }
        return finished(&copy, most)
    }

    private static func take(
        _ directory: TIFFBlock.Directory?, of block: TIFFBlock, _ part: ExifCopy.Part, _ copy: inout ExifCopy
    ) {
        copy.take(directory, of: block, as: part, longest: longest) { tag in
            switch part {
            case .main: described.contains(tag)
            case .exif: taken.contains(tag)
            case .place: tag <= 0x1F  // Exif 3.0, table 15
            }
        }
    }

    private static func finished(_ copy: inout ExifCopy, _ most: Int) -> [UInt8] {
        guard !copy.isEmpty else { return [] }
        copy.set(0x112, to: 1, isShort: true, in: .main)
        copy.shrink(to: most)
        return copy.bytes
    }
}
