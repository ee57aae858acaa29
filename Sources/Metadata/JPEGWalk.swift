import PhotoModel

/// Walks a JPEG's segments up to the picture: EXIF, XMP, the size, and where further pictures lie (ITU-T T.81, Annex B).
struct JPEGWalk {
    /// The EXIF blocks in their order. The first is the picture's; a further one, which some writers leave behind it, may
    /// tell what the first does not.
    private(set) var exif: [TIFFBlock] = []
    /// Where the parts of each block lie. A block of more than 64 KiB goes on in the segments that follow at once.
    private var exifParts: [[Range<Int64>]] = []
    /// Bytes of all blocks that have several parts; so many are put together, more stay apart.
    private static let mostJoined = 4 << 20
    private(set) var xmp: [UInt8] = []
    /// Photoshop's image resources, in the order in which they are one.
    private(set) var photoshop: [Range<Int64>] = []
    private(set) var size: PixelSize?
    /// The directory of further pictures behind this one (CIPA DC-007, "Multi-Picture Format").
    private(set) var multiPicture: TIFFBlock?
    /// Where the data of the first scan begin.
    private(set) var scanStart: Int64?
    /// The size, and the coefficients that more than one scan needs.
    private(set) var coding = PictureCoding()
    private var components = 0
    /// Bytes of coefficients for every 100 pixels, by the frame's sampling.
    private var coefficients = 0
    private var isProgressive = false
    /// The file ends before that.
    private(set) var isCut = false

    init(_ source: ByteSource, at start: Int64 = 0) {
        walk(source, from: start)
        var room = Self.mostJoined
        exif = exifParts.compactMap { Self.block(of: $0, in: source, room: &room) }
    }

    private mutating func walk(_ source: ByteSource, from start: Int64) {
        var position = start + 2
        for _ in 0..<4096 {
            guard let marker = JPEGWalk.marker(in: source, from: &position) else {
                isCut = position + 2 > source.size
                return
            }
            if marker == 0x01 || (0xD0...0xD8).contains(marker) { continue }  // without a length
            if marker == 0xD9 { return }
            guard let length = source.integer(at: position, width: 2).map(Int64.init), length >= 2 else {
                isCut = position + 2 > source.size
                return
            }
            if marker == 0xDA {
                // Scans that bring one component each are put together as those of a progressive one are (T.81, A.2.2).
                let inScan = source.integer(at: position + 2, width: 1).map { Int($0) } ?? 0
                if isProgressive || inScan < components { coding.heldPerHundred = coefficients }
                scanStart = position + length
                return
            }
            take(marker, source, at: position + 2, length: length - 2)
            position += length
        }
    }

    /// The next marker; bytes of junk between segments, which some writers leave, are passed over.
    private static func marker(in source: ByteSource, from position: inout Int64) -> UInt8? {
        for _ in 0..<(64 << 10) {
            let pair = source.bytes(at: position, count: 2)
            guard pair.count == 2 else { return nil }
            if pair[0] == 0xFF, pair[1] != 0xFF, pair[1] != 0 {
                position += 2
                return pair[1]
            }
            position += 1
        }
        return nil
    }

    private mutating func take(_ marker: UInt8, _ source: ByteSource, at position: Int64, length: Int64) {
        switch marker {
        case 0xE1 where source.has("Exif\0", at: position):
            takeExif(source, position + 6..<position + max(6, length))
        case 0xE1 where source.has("http://ns.adobe.com/xap/1.0/\0", at: position):
            if xmp.isEmpty { xmp = source.bytes(at: position + 29, count: Int(length - 29)) }
        case 0xED where source.has("Photoshop 3.0\0", at: position):
            photoshop.append(position + 14..<position + max(14, length))
        case 0xE2 where source.has("MPF\0", at: position):
            if multiPicture == nil { multiPicture = TIFFBlock(source, at: position + 4, length: length - 4) }
        case 0xC0...0xCF where ![0xC4, 0xC8, 0xCC].contains(marker):
            if size == nil {
                size = ExifFacts.size(
                    source.integer(at: position + 3, width: 2), source.integer(at: position + 1, width: 2))
                takeFrame(marker, source, at: position, length: length)
            }
        default: break
        }
    }

    private mutating func takeExif(_ source: ByteSource, _ part: Range<Int64>) {
        if TIFFBlock(source, at: part.lowerBound, length: Int64(part.count)) != nil {
            exifParts.append([part])
        } else if let last = exifParts.last?.last, part.lowerBound - last.upperBound == 10 {
            // Marker, length and "Exif\0\0" lie between: as exiftool joins what others wrote.
            exifParts[exifParts.count - 1].append(part)
        }
    }

    private static func block(of parts: [Range<Int64>], in source: ByteSource, room: inout Int) -> TIFFBlock? {
        guard let first = parts.first else { return nil }
        guard parts.count > 1 else { return TIFFBlock(source, at: first.lowerBound, length: Int64(first.count)) }
        var bytes: [UInt8] = []
        for part in parts {
            guard bytes.count + part.count <= room else { break }
            bytes += source.bytes(at: part.lowerBound, count: part.count)
        }
        room -= bytes.count
        return TIFFBlock(ByteSource(bytes), at: 0, length: Int64(bytes.count))
    }

    /// The frame header: how many samples of each component there are to a pixel (T.81, B.2.2).
    private mutating func takeFrame(_ marker: UInt8, _ source: ByteSource, at position: Int64, length: Int64) {
        coding.stored = size
        isProgressive = [0xC2, 0xC6, 0xCA, 0xCE].contains(marker)
        let fields = source.bytes(at: position + 5, count: Int(min(max(0, length - 5), 1 + 3 * 4)))
        components = fields.first.map { Int($0) } ?? 0
        let factors = stride(from: 2, to: fields.count, by: 3).map { (Int(fields[$0] >> 4), Int(fields[$0] & 15)) }
        let most = (factors.map(\.0).max() ?? 1) * (factors.map(\.1).max() ?? 1)
        // 16 bits for each coefficient; a component's blocks reach over the edge, which large pictures do not feel.
        coefficients = 200 * factors.reduce(0) { $0 + $1.0 * $1.1 } / max(1, most)
    }
}
