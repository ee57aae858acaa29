/// Which TIFF files are RAW: those that hold sensor values (CFA or linear RAW) or say that they are DNG.
enum RAWKind {
    static func isRAW(_ source: ByteSource) -> Bool {
        if source.has("CR", at: 8) { return true }  // CR2: version mark behind the header
        if source.has("IIII", at: 8) || source.has("MMMM", at: 8) { return true }  // Phase One IIQ
        guard let block = TIFFBlock(source, at: 0, length: source.size) else { return false }
        return TIFFPages.all(of: block).contains { page in
            if page.entries[0xC612] != nil { return true }  // DNGVersion
            if let photometric = block.integer(page.entries[0x106]), [32803, 34892].contains(photometric) {
                return true
            }
            // Compressions of Sony, Nikon, Pentax and Samsung that no other TIFF has.
            return block.integer(page.entries[0x103]).map { [32767, 34713, 65535, 32770].contains($0) } ?? false
        }
    }
}

/// The pictures of a TIFF file: its chain of directories and their SubIFDs.
enum TIFFPages {
    /// The page that is the picture: the first of the chain that is neither a smaller copy nor a mask (NewSubfileType, or
    /// the older SubfileType), or else the first one.
    static func picture(of block: TIFFBlock) -> TIFFBlock.Directory? {
        let first = block.directory(at: block.first)
        var page = first
        var seen: Set<UInt64> = [block.first]
        while let candidate = page, seen.count <= 64 {
            let kind = block.integer(candidate.entries[0xFE]) ?? (block.integer(candidate.entries[0xFF]) == 2 ? 1 : 0)
            if kind & 5 == 0 { return candidate }
            page = seen.insert(candidate.next).inserted ? block.directory(at: candidate.next) : nil
        }
        return first
    }

    static func all(of block: TIFFBlock) -> [TIFFBlock.Directory] {
        var pages: [TIFFBlock.Directory] = []
        var offset = block.first
        var seen: Set<UInt64> = []  // chains in crafted files run in circles
        while pages.count < 16, seen.insert(offset).inserted, let page = block.directory(at: offset) {
            pages.append(page)
            if let children = page.entries[0x14A] {
                for index in 0..<Int(min(children.count, 8)) {
                    guard let child = block.integer(children, index), seen.insert(child).inserted,
                        let page = block.directory(at: child)
                    else { continue }
                    pages.append(page)
                }
            }
            offset = page.next
        }
        return pages
    }
}
