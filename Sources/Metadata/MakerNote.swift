/// The two facts that only makers' private notes hold.
enum MakerNote {
    /// What ties a Live Photo's still to its video: Apple's tag 0x0011, a UUID as text.
    static func contentIdentifier(_ facts: ExifFacts, _ exif: TIFFBlock.Directory) -> String? {
        guard let note = exif.entries[0x927C], facts.block.source.has("Apple iOS\0", at: note.position) else {
            return nil
        }
        // "Apple iOS", NUL, version, byte order; the directory follows, its offsets count from the note's first byte.
        let order = facts.block.source.bytes(at: note.position + 12, count: 2)
        let inner = TIFFBlock(
            facts.block.source, directoriesFrom: note.position, end: facts.block.end,
            bigEndian: order != Array("II".utf8))
        return inner.text(inner.directory(at: 14)?.entries[0x11])
    }

    /// The lens of Canon bodies that came before EXIF had a tag for it: LensModel, 0x0095. The note is a bare directory
    /// whose offsets count from the EXIF block's first byte.
    static func lens(_ facts: ExifFacts, _ exif: TIFFBlock.Directory) -> String? {
        let block = facts.block
        guard let note = exif.entries[0x927C], let main = block.directory(at: block.first),
            block.text(main.entries[0x10F]) == "Canon", note.position >= block.base
        else { return nil }
        return block.text(block.directory(at: UInt64(note.position - block.base))?.entries[0x95])
    }
}
