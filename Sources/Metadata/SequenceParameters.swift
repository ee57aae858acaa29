import PhotoModel

/// The size of the pictures of an H.264 stream, out of its first sequence parameter set (ITU-T H.264, 7.3.2.1.1).
enum SequenceParameters {
    /// - Parameter stream: the beginning of a byte stream (annex B).
    static func size(_ stream: [UInt8]) -> PixelSize? {
        var from = 0
        while let place = ByteSearch.position(of: [0, 0, 1], in: stream, from: from) {
            from = place + 3
            // Kind 7, whatever its importance.
            guard from < stream.count, stream[from] & 0x1F == 7 else { continue }
            var bits = BitReader(CamcorderWalk.withoutEscapes(stream[(from + 1)...].prefix(256)))
            return size(&bits)
        }
        return nil
    }

    private static let withChroma: Set<UInt64> = [100, 110, 122, 244, 44, 83, 86, 118, 128, 138, 139, 134, 135]

    private static func size(_ bits: inout BitReader) -> PixelSize? {
        let profile = bits.take(8)
        _ = bits.take(16)  // constraints and level
        _ = bits.exponential()  // its number
        var chroma: UInt64 = 1
        if withChroma.contains(profile) {
            chroma = bits.exponential()
            if chroma == 3 { _ = bits.take(1) }
            _ = (bits.exponential(), bits.exponential())  // depths
            _ = bits.take(1)
            if bits.take(1) == 1 { skipScaling(&bits, lists: chroma == 3 ? 12 : 8) }
        }
        _ = bits.exponential()
        switch bits.exponential() {
        case 0: _ = bits.exponential()
        case 1:
            _ = bits.take(1)
            _ = (bits.exponential(), bits.exponential())
            for _ in 0..<min(bits.exponential(), 255) { _ = bits.exponential() }
        default: break
        }
        _ = bits.exponential()
        _ = bits.take(1)
        let columns = bits.exponential() + 1
        let rows = bits.exponential() + 1
        let isFrame = bits.take(1)
        if isFrame == 0 { _ = bits.take(1) }
        _ = bits.take(1)
        guard columns <= 4096, rows <= 4096 else { return nil }
        var width = columns * 16
        var height = (2 - isFrame) * rows * 16
        if bits.take(1) == 1 {
            let crops = (0..<4).map { _ in bits.exponential() }
            guard crops.allSatisfy({ $0 < 65_536 }) else { return nil }
            // In samples of colour, of which there are fewer: 4:2:0 has half of them each way, 4:2:2 across only.
            let across = (crops[0] + crops[1]) * (chroma == 1 || chroma == 2 ? 2 : 1)
            let down = (crops[2] + crops[3]) * (chroma == 1 ? 2 : 1) * (2 - isFrame)
            guard across < width, down < height else { return nil }
            width -= across
            height -= down
        }
        return bits.isSpent ? nil : ExifFacts.size(width, height)
    }

    private static func skipScaling(_ bits: inout BitReader, lists: Int) {
        for list in 0..<lists where bits.take(1) == 1 {
            var (last, next): (Int64, Int64) = (8, 8)
            for _ in 0..<(list < 6 ? 16 : 64) {
                if next != 0 { next = (last + bits.signed()) & 255 }
                if next != 0 { last = next }
            }
        }
    }
}

/// Bits from the highest on, and the numbers of variable length that H.264 is made of (9.1). Behind the end are zeros.
private struct BitReader {
    private let bytes: [UInt8]
    private var position = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// More was taken than there was.
    var isSpent: Bool { position > bytes.count * 8 }

    mutating func take(_ count: Int) -> UInt64 {
        var value: UInt64 = 0
        for _ in 0..<count {
            let byte = position / 8 < bytes.count ? bytes[position / 8] : 0
            value = value << 1 | UInt64(byte >> (7 - position % 8) & 1)
            position += 1
        }
        return value
    }

    mutating func exponential() -> UInt64 {
        var zeros = 0
        while zeros < 32, take(1) == 0 { zeros += 1 }
        return zeros < 32 ? (1 << UInt64(zeros)) - 1 + take(zeros) : 0
    }

    mutating func signed() -> Int64 {
        let value = Int64(exponential())
        return value & 1 == 1 ? (value + 1) / 2 : -value / 2
    }
}
