/// Where a camera's maker note says that a picture lies that no directory of the file names: Nikon's, Olympus', Pentax',
/// Minolta's and Sony's keep their large preview there.
///
/// A note's numbers count from the first byte of the EXIF block or of the note, by maker and by year, and programs that
/// rewrote the file have moved notes without a word. So both places are told, and who takes them looks whether a JPEG
/// begins there. The numbers of the tags are ExifTool's names for them.
struct MakerNotePictures {
    private(set) var ranges: [Range<Int64>] = []
    private let source: ByteSource

    init(of block: TIFFBlock) {
        source = block.source
        guard let main = block.directory(at: block.first),
            let entry = block.integer(main.entries[0x8769]).flatMap({ block.directory(at: $0) })?.entries[0x927C]
        else { return }
        let note = entry.position
        let head = source.bytes(at: note, count: 16)
        func begins(_ text: String) -> Bool { head.starts(with: text.utf8) }
        if begins("Nikon\0\u{2}") {
            // A TIFF of its own; PreviewIFD.
            guard let inner = TIFFBlock(source, at: note + 10, length: block.end - note - 10),
                let preview = directory(0x11, of: inner.directory(at: inner.first), in: inner)
            else { return }
            add(inner, preview, start: 0x201, length: 0x202, or: note)
        } else if begins("OLYMPUS\0") || begins("OM SYSTEM\0\0\0") {
            let order = begins("OM") ? 12 : 8
            takeOlympus(bare(from: note, at: order, of: head, in: block), at: UInt64(order + 4), block)
        } else if begins("OLYMP\0") {
            takeOlympus(block, at: offset(note + 8, in: block), block)
        } else if begins("PENTAX \0") {
            let inner = bare(from: note, at: 8, of: head, in: block)
            add(inner, inner.directory(at: 10), start: 0x4, length: 0x3, or: block.base)
        } else if begins("AOC\0") {
            let inner = bare(from: block.base, at: 4, of: head, in: block)
            add(inner, inner.directory(at: offset(note + 6, in: block)), start: 0x4, length: 0x3, or: note)
        } else if begins("SONY DSC \0\0\0") || begins("SONY CAM \0\0\0") {
            // A header of 32 bytes, then the JPEG itself.
            let own = block.directory(at: offset(note + 12, in: block))
            if let data = own?.entries[0x2001], data.count > 32 {
                add(data.position + 32, Int64(clamping: data.count) - 32)
            }
        } else if block.text(main.entries[0x10F])?.uppercased().contains("MINOLTA") == true {
            takeMinolta(block.directory(at: offset(note, in: block)), in: block, or: note)
        }
    }

    /// The first Olympus bodies were Minolta's way, later ones have a directory for it: CameraSettings.
    private mutating func takeOlympus(_ inner: TIFFBlock, at offset: UInt64, _ block: TIFFBlock) {
        let main = inner.directory(at: offset)
        takeMinolta(main, in: inner, or: block.base)
        guard let settings = directory(0x2020, of: main, in: inner) else { return }
        add(inner, settings, start: 0x101, length: 0x102, or: block.base)
    }

    private mutating func takeMinolta(_ directory: TIFFBlock.Directory?, in block: TIFFBlock, or other: Int64) {
        add(block, directory, start: 0x88, length: 0x89, or: other)
        if let data = directory?.entries[0x81] { add(data.position, Int64(clamping: data.count)) }
    }

    // MARK: Numbers

    /// A directory without a TIFF around it, whose bytes are ordered as two letters of the note's head say.
    private func bare(from base: Int64, at order: Int, of head: [UInt8], in block: TIFFBlock) -> TIFFBlock {
        let letters = head.dropFirst(order).prefix(2)
        let isBig = letters.elementsEqual("MM".utf8) || !letters.elementsEqual("II".utf8) && block.bigEndian
        return TIFFBlock(source, directoriesFrom: base, end: block.end, bigEndian: isBig)
    }

    /// 0, where no directory is, for what lies in front of the block.
    private func offset(_ position: Int64, in block: TIFFBlock) -> UInt64 { UInt64(max(0, position - block.base)) }

    /// One that an entry leads to, or that is its value.
    private func directory(
        _ tag: UInt16, of directory: TIFFBlock.Directory?, in block: TIFFBlock
    ) -> TIFFBlock.Directory? {
        guard let entry = directory?.entries[tag] else { return nil }
        if entry.type == 7, entry.count > 4 { return block.directory(at: offset(entry.position, in: block)) }
        return block.integer(entry).flatMap { block.directory(at: $0) }
    }

    private mutating func add(
        _ block: TIFFBlock, _ directory: TIFFBlock.Directory?, start: UInt16, length: UInt16, or other: Int64
    ) {
        guard let directory, let start = block.integer(directory.entries[start]).flatMap({ Int64(exactly: $0) }),
            let length = block.integer(directory.entries[length]).flatMap({ Int64(exactly: $0) })
        else { return }
        for base in [block.base, other] where start <= source.size { add(base + start, length) }
    }

    private mutating func add(_ start: Int64, _ length: Int64) {
        guard start >= 0, length > 4, length <= source.size, start <= source.size - length else { return }
        ranges.append(start..<start + length)
    }
}
