import PhotoModel

/// What of an EXIF block cannot tell of places, written anew: no maker note goes along, no comment, no thumbnail, no serial
/// number and no tag that is not named here.
struct ExifExcerpt {
    let bytes: [UInt8]

    /// Make, model, resolution, software, time, artist and copyright: EXIF 2.32, tables 4 and 5.
    private static let first: Set<UInt16> = [0x10F, 0x110, 0x11A, 0x11B, 0x128, 0x131, 0x132, 0x13B, 0x8298]
    /// Exposure, times and their offsets, colour space, sizes and the lens: table 7.
    static let second = Set<UInt16>([
        0x829A, 0x829D, 0x8822, 0x8827, 0x8830, 0x8831, 0x8832, 0x9000, 0x9003, 0x9004, 0x9010, 0x9011, 0x9012, 0x9101,
        0x9102, 0x9290, 0x9291, 0x9292, 0xA000, 0xA001, 0xA20E, 0xA20F, 0xA210, 0xA215, 0xA217, 0xA300, 0xA301, 0xA432,
        0xA433, 0xA434,
    ]).union(0x9201...0x920A).union(0xA401...0xA406).union(0xA408...0xA40A)
    /// Bytes. A name or a number is not longer; what is, is none.
    private static let longest = 1024

    /// nil for what is no TIFF of the usual kind.
    init?(of block: [UInt8], _ size: PixelSize) {
        guard let old = TIFFBlock(ByteSource(block), at: 0, length: Int64(block.count)), !old.isBig,
            let main = old.directory(at: old.first)
        else { return nil }
        var copy = ExifCopy(bigEndian: old.bigEndian)
        copy.take(main, of: old, as: .main, longest: Self.longest, where: Self.first.contains)
        copy.set(0x112, to: 1, isShort: true, in: .main)
        let inner = old.integer(main.entries[0x8769]).flatMap { old.directory(at: $0) }
        copy.take(inner, of: old, as: .exif, longest: Self.longest, where: Self.second.contains)
        copy.set(0xA002, to: size.width, in: .exif)
        copy.set(0xA003, to: size.height, in: .exif)
        bytes = copy.bytes
    }
}
