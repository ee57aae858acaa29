package import PhotoModel

/// The finished pictures that a RAW file carries beside its sensor data, found by the structures that name them: nothing
/// is searched for, and nothing is decoded. Whether there really is a picture at a place is the decoder's to find out.
package struct EmbeddedPictures {
    /// Where JPEGs are said to lie, whole within the file.
    package private(set) var jpegs: [Range<Int64>] = []
    /// What the directories of a DNG say of these JPEGs' colours.
    package private(set) var colours: [Range<Int64>: StatedColour] = [:]
    /// Of these the first byte is another than a JPEG's, as Minolta and Sony leave it.
    package private(set) var beheaded: Set<Range<Int64>> = []
    /// Adobe's: what camera and raw converter put in is said for each picture on its own.
    package private(set) var isDNG = false
    /// The small picture in plain red, green and blue bytes that a DNG has to start with where it has no JPEG.
    package private(set) var bitmap: (bytes: Range<Int64>, size: PixelSize)?
    /// A JPEG in a circle of directories could be named again and again.
    private static let most = 16

    package init(_ source: ByteSource) {
        if source.has("FUJIFILMCCD-RAW", at: 0) {
            take(source, source.integer(at: 84, width: 4), source.integer(at: 88, width: 4))
        } else if source.has("ftyp", at: 4) {
            takeCanon3(source)
        } else if source.has("HEAPCCDR", at: 6) {
            for range in CIFFWalk(source).jpegs { take(source, range) }
        } else if source.has("\0MRM", at: 0) {
            if let block = RAWWalk.blocks(source).first { takeNote(source, block) }
        } else if let block = TIFFBlock(source, at: 0, length: source.size) {
            for page in TIFFPages.all(of: block) {
                if page.entries[0xC612] != nil { isDNG = true }
                takePage(source, block, page)
            }
            takeNote(source, block)
        }
    }

    private mutating func take(_ source: ByteSource, _ start: UInt64?, _ count: UInt64?) {
        guard let start, let count, let first = Int64(exactly: start), let length = Int64(exactly: count),
            length > 0, length <= source.size, first <= source.size - length
        else { return }
        take(source, first..<first + length)
    }

    private mutating func take(_ source: ByteSource, _ range: Range<Int64>) {
        guard jpegs.count < Self.most, range.upperBound <= source.size, !jpegs.contains(range),
            source.bytes(at: range.lowerBound, count: 3) == [0xFF, 0xD8, 0xFF]
        else { return }
        jpegs.append(range)
    }

    private mutating func takeNote(_ source: ByteSource, _ block: TIFFBlock) {
        for range in MakerNotePictures(of: block).ranges {
            take(source, range)
            // Its quantization tables follow at once.
            guard jpegs.count < Self.most, !jpegs.contains(range),
                source.bytes(at: range.lowerBound + 1, count: 3) == [0xD8, 0xFF, 0xDB]
            else { continue }
            jpegs.append(range)
            beheaded.insert(range)
        }
    }

    // MARK: TIFF

    /// What a directory of a TIFF-like file names: a JPEG of the old kind (TIFF 6.0, section 22), one that is the only
    /// strip of a picture, and Panasonic's JpgFromRaw (0x2E).
    private mutating func takePage(_ source: ByteSource, _ block: TIFFBlock, _ page: TIFFBlock.Directory) {
        func place(_ tag: UInt16) -> UInt64? {
            // Counted from the block's first byte, which is the file's.
            page.entries[tag].flatMap { $0.count == 1 ? block.integer($0) : nil }
        }
        take(source, place(0x201), place(0x202))
        if let entry = page.entries[0x2E], entry.type == 7 {
            take(source, UInt64(entry.position), entry.count)
        }
        // Sensor data may be JPEG, too.
        let isSensor = block.integer(page.entries[0x106]).map { [32803, 34892].contains($0) } ?? false
        guard !isSensor, let compression = block.integer(page.entries[0x103]) else { return }
        if [6, 7].contains(compression) {
            let known = jpegs.count
            take(source, place(0x111), place(0x117))
            // PreviewColorSpace (DNG 1.7).
            let colour: [UInt64: StatedColour] = [3: .adobeRGB, 4: .proPhotoRGB]
            if jpegs.count > known {
                colours[jpegs[known]] = block.integer(page.entries[0xC71A]).flatMap { colour[$0] }
            }
        }
        guard compression == 1, block.integer(page.entries[0x106]) == 2, block.integer(page.entries[0xFE]) == 1,
            block.integer(page.entries[0x115]) == 3, block.integer(page.entries[0x102]) == 8,
            let size = ExifFacts.size(block.integer(page.entries[0x100]), block.integer(page.entries[0x101])),
            let start = place(0x111).flatMap({ Int64(exactly: $0) })
        else { return }
        let count = Int64(size.width) * Int64(size.height) * 3
        if start <= source.size, count <= source.size - start { bitmap = bitmap ?? (start..<start + count, size) }
    }

    // MARK: CR3

    /// Canon's boxes PRVW and THMB, which hold a header of a few bytes and a JPEG, and the tracks of the movie, one of
    /// which is the JPEG of full size as its only sample.
    private mutating func takeCanon3(_ source: ByteSource) {
        let top = Box.all(in: source, from: 0, to: source.size)
        let movie = top.first("moov")?.children(source) ?? []
        for box in top + movie where box.type == "uuid" {
            // The outer box has eight bytes more between its UUID and its parts.
            for inner in box.children(source, after: 16) + box.children(source, after: 24)
            where ["PRVW", "THMB"].contains(inner.type) {
                let head = source.bytes(at: inner.start, count: 32)
                guard let offset = ByteSearch.position(of: [0xFF, 0xD8, 0xFF], in: head, from: 0) else { continue }
                take(source, inner.start + Int64(offset)..<inner.end)
            }
        }
        for track in movie where track.type == "trak" {
            guard let media = track.children(source).first("mdia")?.children(source),
                let table = media.first("minf")?.children(source).first("stbl")?.children(source),
                let sizes = table.first("stsz"), let shared = source.integer(at: sizes.start + 4, width: 4)
            else { continue }
            let first =
                table.first("co64").flatMap { source.integer(at: $0.start + 8, width: 8) }
                ?? table.first("stco").flatMap { source.integer(at: $0.start + 8, width: 4) }
            take(source, first, shared > 0 ? shared : source.integer(at: sizes.start + 12, width: 4))
        }
    }
}
