import PhotoModel

/// Canon's CRW of before 2005: a heap of records with its directory at the end ("CIFF Specification", version 1.0).
struct CIFFWalk {
    private(set) var jpegs: [Range<Int64>] = []
    private(set) var make: String?
    private(set) var model: String?
    private(set) var time: WallTime?
    private(set) var size: PixelSize?
    /// As EXIF counts it.
    private(set) var orientation = 1

    private let source: ByteSource
    private let bigEndian: Bool
    /// A heap that names itself, and itself again, would be walked through as often as a number of eight digits says.
    private var heapsLeft = 64

    init(_ source: ByteSource) {
        self.source = source
        bigEndian = source.has("MM", at: 0)
        guard let start = source.integer(at: 2, width: 4, bigEndian: bigEndian).map(Int64.init) else { return }
        take(heap: start, to: source.size, depth: 0)
    }

    /// The last four bytes of a heap say where its directory lies, all offsets count from its first byte.
    private mutating func take(heap start: Int64, to end: Int64, depth: Int) {
        guard depth < 8, heapsLeft > 0, start >= 0, end <= source.size, end - start >= 6,
            let place = integer(end - 4, 4), let count = integer(start + Int64(place), 2)
        else { return }
        heapsLeft -= 1
        for index in 0..<Int(min(count, 256)) {
            let entry = start + Int64(place) + 2 + Int64(index * 10)
            guard let tag = integer(entry, 2), let length = integer(entry + 2, 4), let offset = integer(entry + 6, 4)
            else { return }
            // Bit 14: the eight bytes behind the tag are the value itself.
            let isHere = tag & 0x4000 != 0
            let at = isHere ? entry + 2 : start + Int64(offset)
            let valueEnd = isHere ? entry + 10 : at + Int64(length)
            guard valueEnd <= source.size else { continue }
            take(tag & 0x3FFF, at..<valueEnd, depth: depth)
        }
    }

    private mutating func take(_ tag: UInt64, _ value: Range<Int64>, depth: Int) {
        switch tag {
        case 0x2007, 0x2008: jpegs.append(value)  // JpgFromRaw, ThumbnailImage
        case 0x080A:  // "Canon", NUL, "Canon EOS D30"
            let texts = source.bytes(at: value.lowerBound, count: Int(min(value.upperBound - value.lowerBound, 256)))
                .split(separator: 0)
            make = texts.first.flatMap { FactText.clean($0) }
            model = texts.dropFirst().first.flatMap { FactText.clean($0) }
        case 0x180E:  // seconds since 1970 of the camera's wall clock
            guard let seconds = integer(value.lowerBound, 4), seconds > 0 else { return }
            time = WallTime(secondsSince1970: Int64(seconds))
        case 0x1810:  // width, height, ratio of a pixel's sides, degrees clockwise until it is upright
            size = ExifFacts.size(integer(value.lowerBound, 4), integer(value.lowerBound + 4, 4))
            orientation = [90: 6, 180: 3, 270: 8][integer(value.lowerBound + 12, 4) ?? 0] ?? 1
        default:
            // Types 5 and 6 are heaps of their own.
            if [0x2800, 0x3000].contains(tag & 0x3800) {
                take(heap: value.lowerBound, to: value.upperBound, depth: depth + 1)
            }
        }
    }

    private func integer(_ offset: Int64, _ width: Int) -> UInt64? {
        source.integer(at: offset, width: width, bigEndian: bigEndian)
    }
}
