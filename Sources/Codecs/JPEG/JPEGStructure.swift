import PhotoModel

/// What stands before the picture data of a JPEG (ITU-T T.81, annex B), read without a library: the frame, the colour
/// profile, and whether inks are inverted.
struct JPEGStructure {
    /// Pixels as stored; the height may be 0 in a file that nobody can decode.
    var size: PixelSize
    var components: Int
    /// Samples can come in several scans, so that a cut file may hold the whole picture, only coarser.
    var isProgressive: Bool
    /// Coded arithmetically: there the data never say that they are short, for zeros may be left out at their end.
    var isArithmetic: Bool
    /// An Adobe APP14 segment is there: then inks are stored inverted, 255 is none.
    var hasAdobe: Bool
    /// Of the profile, if any.
    var space: ColourSpace
    /// Where the first scan's data begins.
    var dataStart: Int

    /// - Throws: `.corrupt` when there is no frame or no scan, `.unsupported` for coding no decoder here can do.
    init(_ file: FileBytes) throws(CodecFailure) {
        guard file.number(at: 0, width: 2) == 0xffd8 else { throw CodecFailure(.corrupt, "the file is not a JPEG") }
        var parts: [Int: Range<Int>] = [:]
        var count = 0
        var isProfileBroken = false
        var frame: (size: PixelSize, precision: Int, components: Int, marker: Int)?
        hasAdobe = false
        dataStart = 0
        var offset = 2
        while dataStart == 0 {
            // Fill bytes and stray data between segments are skipped, as libjpeg does.
            while let byte = file.byte(at: offset), byte != 0xff { offset += 1 }
            while file.byte(at: offset) == 0xff { offset += 1 }
            guard let marker = file.byte(at: offset) else {
                throw CodecFailure(.corrupt, "the JPEG ends before its picture data")
            }
            offset += 1
            if marker == 0 || marker == 1 || (0xd0...0xd8).contains(marker) { continue }
            guard marker != 0xd9, let length = file.number(at: offset, width: 2), length >= 2 else {
                throw CodecFailure(.corrupt, "the JPEG has no picture data")
            }
            let body = offset + 2..<offset + length
            switch marker {
            case 0xc0...0xc3, 0xc5...0xc7, 0xc9...0xcb, 0xcd...0xcf:
                guard let precision = file.byte(at: body.lowerBound),
                    let height = file.number(at: body.lowerBound + 1, width: 2),
                    let width = file.number(at: body.lowerBound + 3, width: 2),
                    let components = file.byte(at: body.lowerBound + 5)
                else { throw CodecFailure(.corrupt, "the JPEG's frame header is cut off") }
                frame = (PixelSize(width: width, height: height), precision, components, marker)
            case 0xe2 where file.holds("ICC_PROFILE\0", at: body.lowerBound) && length >= 16:
                guard let number = file.byte(at: body.lowerBound + 12),
                    let total = file.byte(at: body.lowerBound + 13)
                else { break }
                if parts[number] != nil || (count != 0 && count != total) { isProfileBroken = true }
                count = total
                parts[number] = body.lowerBound + 14..<body.upperBound
            case 0xee where file.holds("Adobe", at: body.lowerBound): hasAdobe = true
            case 0xda: dataStart = body.upperBound
            default: break
            }
            offset = body.upperBound
        }
        guard let frame else { throw CodecFailure(.corrupt, "the JPEG has no frame header") }
        guard [0xc0, 0xc1, 0xc2, 0xc9, 0xca].contains(frame.marker) else {
            throw CodecFailure(.unsupported, "lossless and hierarchical JPEG cannot be decoded")
        }
        guard frame.precision == 8 else {
            throw CodecFailure(.unsupported, "JPEG of \(frame.precision) bits per sample cannot be decoded")
        }
        guard frame.size.width > 0, frame.size.height > 0 else {
            throw CodecFailure(.corrupt, "the JPEG says that it has no pixels")
        }
        size = frame.size
        components = frame.components
        isProgressive = frame.marker == 0xc2 || frame.marker == 0xca
        isArithmetic = frame.marker == 0xc9 || frame.marker == 0xca
        space = .unspecified
        if !parts.isEmpty {
            space = isProfileBroken ? .lostProfile : Self.space(ofProfileIn: parts, count: count, file)
        }
    }

    private static func space(ofProfileIn parts: [Int: Range<Int>], count: Int, _ file: FileBytes) -> ColourSpace {
        var whole: [UInt8] = []
        for number in 1...max(count, 1) {
            guard let range = parts[number], let part = file.bytes(range), whole.count <= ProfileCheck.largest else {
                return .lostProfile
            }
            whole += part
        }
        return parts.count == count ? .profile(whole) : .lostProfile
    }

    /// Whether a file without an end marker may lack more than that, though its data look complete.
    func mayGoOn(in file: FileBytes) -> Bool { isProgressive || isArithmetic || hasFurtherScan(in: file) }

    /// Whether another scan begins somewhere in the file: a marker scan, for damaged files only.
    private func hasFurtherScan(in file: FileBytes) -> Bool {
        var offset = dataStart
        while let byte = file.byte(at: offset) {
            if byte == 0xff, file.byte(at: offset + 1) == 0xda { return true }
            offset += 1
        }
        return false
    }
}
