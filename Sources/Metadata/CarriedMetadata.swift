package import PhotoModel

/// What a file says about itself, to go along when its picture is converted: EXIF as the bytes from the TIFF header on,
/// XMP, and IPTC-IIM. All are upright then, for the picture is.
package struct CarriedMetadata: Sendable {
    package private(set) var exif: [UInt8] = []
    package private(set) var xmp: [UInt8] = []
    /// Datasets, one after the other.
    package private(set) var iptc: [UInt8] = []

    private static let limit = 4 << 20

    /// Nothing.
    package init() {}

    /// Of movies, GIF and CRW nothing is carried.
    package init(of source: ByteSource, type: MediaType) {
        switch type {
        case .jpeg: take(JPEGWalk(source), source)
        case .heic, .heif, .avif:
            let walk = HEIFWalk(source, isAVIF: type == .avif)
            take(walk.exif, walk.xmp)
        case .png:
            let walk = ChunkWalk.png(source)
            take(walk.exif, walk.xmp)
        case .webp:
            let walk = ChunkWalk.webp(source)
            take(walk.exif, walk.xmp)
        case .jpegXL:
            let walk = JXLWalk(source)
            take(walk.exif.first, walk.xmp)
        case .tiff, .raw:
            if let walk = RAWWalk.fujifilmJPEG(source) { take(walk, source) } else { takeTIFF(source) }
        default: break
        }
    }

    private mutating func takeTIFF(_ source: ByteSource) {
        exif = ExifOfRAW.bytes(of: source, most: Self.limit)
        guard let block = TIFFBlock(source, at: 0, length: source.size), let main = block.directory(at: block.first)
        else {
            xmp = RAWWalk.canonXMP(source)
            return
        }
        func value(_ tag: UInt16) -> [UInt8] {
            main.entries[tag].map { block.bytes($0, limit: XMPPacket.limit) } ?? []
        }
        xmp = XMPPacket.inUTF8(value(0x2BC))
        let own = IPTCBlock(tag: value(0x83BB))
        iptc = (own.isEmpty ? IPTCBlock(resources: value(0x8649)) : own).bytes(stripsLocation: false)
    }

    private mutating func take(_ walk: JPEGWalk, _ source: ByteSource) {
        take(walk.exif.first, walk.xmp)
        var resources: [UInt8] = []
        for range in walk.photoshop where resources.count < Self.limit {
            resources += source.bytes(at: range.lowerBound, count: range.count)
        }
        iptc = IPTCBlock(resources: resources).bytes(stripsLocation: false)
    }

    private mutating func take(_ block: TIFFBlock?, _ packet: [UInt8]) {
        if let block {
            exif = block.source.bytes(at: block.base, count: Int(min(block.end - block.base, Int64(Self.limit))))
        }
        xmp = XMPPacket.inUTF8(packet)
    }

    /// Orientation 1, the picture's own size, and no thumbnail, which would lie on its side.
    ///
    /// - Parameters:
    ///   - mostExif: bytes that the EXIF may have. One with more is written anew: without its maker note, and without the
    ///     longest values for as long as it has to be.
    ///   - stripsLocation: only what cannot tell of places goes along: ``ExifExcerpt``, the like of IPTC, and no XMP at all,
    ///     for words and pictures in it may.
    package func upright(_ size: PixelSize, mostExif: Int = .max, stripsLocation: Bool) -> CarriedMetadata {
        var result = self
        if stripsLocation {
            result.exif = ExifExcerpt(of: exif, size)?.bytes ?? []
            result.xmp = []
            result.iptc = IPTCBlock(iptc).bytes(stripsLocation: true)
            return result
        }
        var block = ExifEditor(exif)
        result.exif = block?.edit(size) == true ? block?.bytes ?? [] : []
        if result.exif.count > mostExif {
            let long = TIFFBlock(ByteSource(result.exif), at: 0, length: Int64(result.exif.count))
            result.exif = long.map { ExifOfRAW.bytes(of: [$0], most: mostExif) } ?? []
        }
        result.xmp = XMPEditor.upright(xmp, size)
        return result
    }
}
