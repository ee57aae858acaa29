import CResample
import CTurboJPEG
import Metadata
import PhotoModel

/// Decodes JPEGs at a half, quarter or eighth of their size when that is enough, into planes as they are stored.
///
/// Safe: the handle is used by one thread at a time, and every buffer is as large as libjpeg-turbo asks for.
@safe final class JPEGDecoder {
    private let handle: tjhandle
    private let planes = PlaneBuffer()
    private let pixels = PlaneBuffer()
    private let whole = PlaneBuffer()
    private let inks = InkConversions()

    init() throws(CodecFailure) {
        guard let handle = unsafe tjInitDecompress() else {
            throw CodecFailure(.memory, "no memory for a JPEG decoder")
        }
        unsafe self.handle = unsafe handle
    }

    deinit { unsafe tjDestroy(handle) }

    /// Damage, and what becomes of it:
    /// - The file ends early (libjpeg's "premature end"): decoded again with an end marker put behind it. If that is
    ///   all that was missing, the picture is whole. If the data itself is short, or more scans could have followed, or
    ///   the coding is one that cannot tell, it is partial; and if not even the first row came, the file is `.truncated`.
    /// - Codes that make no sense: partial. Stray bytes between segments harm nobody: a warning.
    /// - libjpeg gives up: `.corrupt`.
    func decode(_ file: FileBytes, orientation: Int, spec: PreviewSpec) throws(CodecFailure) -> DecodedPicture {
        let structure = try JPEGStructure(file)
        guard Int64(structure.size.width) * Int64(structure.size.height) <= spec.maxPixels.count else {
            throw .tooLarge(structure.size.width, structure.size.height, limit: spec.maxPixels)
        }
        var complaint: String?
        var picture = try unsafe decode(file.memory, structure, spec: spec, complaint: &complaint)
        var isPartial = false
        if let first = complaint, Self.isPrematureEnd(first) {
            let copy = try unsafe whole.reserve(file.count + 2)
            unsafe UnsafeMutableRawBufferPointer(start: copy, count: file.count).copyMemory(from: file.memory)
            unsafe copy[file.count] = 0xff
            unsafe copy[file.count + 1] = 0xd9
            let ended = unsafe UnsafeRawBufferPointer(start: copy, count: file.count + 2)
            complaint = nil
            picture = try unsafe decode(ended, structure, spec: spec, complaint: &complaint)
            let isShort = complaint.map { Self.isPrematureEnd($0) || Self.isDamage($0) } ?? false
            isPartial = isShort || structure.mayGoOn(in: file)
            if isPartial, picture.first.isEvenBehindStart {
                throw CodecFailure(.truncated, "the JPEG ends before the first row of the picture")
            }
            complaint = isPartial ? "the JPEG ends early" : "the JPEG has no end marker"
        } else if let first = complaint {
            isPartial = Self.isDamage(first)
        }
        picture.orientation = Orientation(exif: orientation)
        if structure.components == 3, picture.space == .unspecified {
            picture.take(StatedColour.of(file.source, .jpeg))
        }
        var notes = [complaint].compactMap { $0 }
        if structure.components == 4, let note = inkConversion(structure).warning { notes.append(note) }
        return DecodedPicture(
            picture: picture, isPartial: isPartial, warning: notes.isEmpty ? nil : notes.joined(separator: "; "))
    }

    func trim(to limit: Int) {
        planes.trim(to: limit)
        pixels.trim(to: limit)
        whole.trim(to: limit)
    }

    private static func isPrematureEnd(_ complaint: String) -> Bool { complaint.contains("remature end") }

    /// Everything libjpeg warns of but what leaves the pixels alone: stray bytes between segments, and headers it only
    /// wonders about.
    private static func isDamage(_ complaint: String) -> Bool {
        let harmless = [
            "extraneous bytes before marker", "Adobe color transform", "JFIF revision", "ICC marker",
            "Invalid SOS parameters",
        ]
        return !harmless.contains { complaint.contains($0) }
    }

    private func decode(
        _ memory: UnsafeRawBufferPointer, _ structure: JPEGStructure, spec: PreviewSpec, complaint: inout String?
    ) throws(CodecFailure) -> PlanarPicture {
        guard let base = unsafe memory.bindMemory(to: UInt8.self).baseAddress else {
            throw CodecFailure(.corrupt, "the file is empty")
        }
        var (width, height, subsampling, space) = (Int32(0), Int32(0), Int32(-1), Int32(-1))
        let status = unsafe tjDecompressHeader3(
            handle, base, UInt(memory.count), &width, &height, &subsampling, &space)
        if status != 0, unsafe tjGetErrorCode(handle) == Int32(TJERR_FATAL.rawValue) {
            // Unusual sampling factors: the size is known all the same, and RGB comes out of any of them.
            guard unsafe turboMessage(handle).contains("subsampling") else { throw failure() }
            (width, height) = (Int32(structure.size.width), Int32(structure.size.height))
            subsampling = -1
            space = structure.components == 4 ? Int32(TJCS_CMYK.rawValue) : Int32(TJCS_RGB.rawValue)
        }
        guard Int64(width) * Int64(height) <= spec.maxPixels.count else {
            throw .tooLarge(Int(width), Int(height), limit: spec.maxPixels)
        }
        let stored = PixelSize(width: Int(width), height: Int(height))
        let denominator = PreviewGeometry.jpegDenominator(of: stored, maxSize: spec.longSide(of: stored))
        switch TJCS(rawValue: UInt32(bitPattern: space)) {
        case TJCS_YCbCr where subsampling >= 0, TJCS_GRAY where subsampling >= 0:
            return try unsafe decodePlanes(
                base, memory.count, stored, denominator, subsampling: subsampling, structure, &complaint)
        case TJCS_CMYK, TJCS_YCCK:
            return try unsafe decodeInks(base, memory.count, stored, denominator, structure, &complaint)
        default:
            // Red, green and blue themselves: as planes libjpeg-turbo would hand out garbage without a word.
            return try unsafe decodeRGB(base, memory.count, stored, denominator, structure, &complaint)
        }
    }

    private func decodePlanes(
        _ base: UnsafePointer<UInt8>, _ count: Int, _ stored: PixelSize, _ denominator: Int, subsampling: Int32,
        _ structure: JPEGStructure, _ complaint: inout String?
    ) throws(CodecFailure) -> PlanarPicture {
        let width = (stored.width + denominator - 1) / denominator
        let height = (stored.height + denominator - 1) / denominator
        let isGrey = subsampling == Int32(TJSAMP_GRAY.rawValue)
        var sizes: [PixelSize] = []
        for component in 0..<(isGrey ? 1 : 3) {
            let wide = tjPlaneWidth(Int32(component), Int32(width), subsampling)
            let high = tjPlaneHeight(Int32(component), Int32(height), subsampling)
            guard wide > 0, high > 0 else { throw CodecFailure(.unsupported, "the JPEG's sampling cannot be decoded") }
            sizes.append(PixelSize(width: Int(wide), height: Int(high)))
        }
        let strides = sizes.map { ($0.width + 63) & ~63 }
        let needed = zip(sizes, strides).reduce(0) { $0 + $1.0.height * $1.1 }
        var next = try unsafe planes.reserve(needed)
        var pointers: [UnsafeMutablePointer<UInt8>?] = unsafe []
        for (size, stride) in zip(sizes, strides) {
            unsafe pointers.append(next)
            unsafe next += size.height * stride
        }
        var rowBytes = strides.map { Int32($0) }
        let status = unsafe tjDecompressToYUVPlanes(
            handle, base, UInt(count), &pointers, Int32(width), &rowBytes, Int32(height),
            TJFLAG_ACCURATEDCT | TJFLAG_LIMITSCANS)
        try note(status, &complaint)

        let scale = 1 / Double(denominator)
        func plane(_ component: Int, _ across: Int, _ down: Int) throws(CodecFailure) -> Plane {
            guard let base = unsafe pointers[component] else { throw CodecFailure(.memory, "no memory for a picture") }
            // Padding is no picture: only what the exact extent reaches is read.
            let wide = Int((Double(stored.width) * scale / Double(across)).rounded(.up))
            let high = Int((Double(stored.height) * scale / Double(down)).rounded(.up))
            return unsafe Plane(
                base, stride: strides[component], width: min(wide, sizes[component].width),
                height: min(high, sizes[component].height))
        }
        let factors = Self.factors(subsampling)
        var picture = PlanarPicture(
            first: try plane(0, 1, 1),
            chroma: isGrey
                ? nil
                : (
                    try plane(1, factors.horizontal, factors.vertical),
                    try plane(2, factors.horizontal, factors.vertical)
                ),
            storedSize: stored, orientation: .upright)
        picture.scale = scale
        picture.subsampling = factors
        picture.space = structure.space
        return picture
    }

    private static func factors(_ subsampling: Int32) -> (horizontal: Int, vertical: Int) {
        switch TJSAMP(rawValue: UInt32(bitPattern: subsampling)) {
        case TJSAMP_422: (2, 1)
        case TJSAMP_420: (2, 2)
        case TJSAMP_440: (1, 2)
        case TJSAMP_411: (4, 1)
        default: (1, 1)
        }
    }

    private func decodeRGB(
        _ base: UnsafePointer<UInt8>, _ count: Int, _ stored: PixelSize, _ denominator: Int,
        _ structure: JPEGStructure, _ complaint: inout String?
    ) throws(CodecFailure) -> PlanarPicture {
        let size = PixelSize(
            width: (stored.width + denominator - 1) / denominator,
            height: (stored.height + denominator - 1) / denominator)
        let rgb = try unsafe pixels.reserve(3 * size.width * size.height)
        let status = unsafe tjDecompress2(
            handle, base, UInt(count), rgb, Int32(size.width), 0, Int32(size.height), Int32(TJPF_RGB.rawValue),
            TJFLAG_ACCURATEDCT | TJFLAG_LIMITSCANS)
        try note(status, &complaint)
        return try unsafe picture(rgb, size, stored, denominator, space: structure.space)
    }

    /// Through the picture's own profile, or by the plain formula without one.
    private func decodeInks(
        _ base: UnsafePointer<UInt8>, _ count: Int, _ stored: PixelSize, _ denominator: Int,
        _ structure: JPEGStructure, _ complaint: inout String?
    ) throws(CodecFailure) -> PlanarPicture {
        let size = PixelSize(
            width: (stored.width + denominator - 1) / denominator,
            height: (stored.height + denominator - 1) / denominator)
        let total = size.width * size.height
        let inks = try unsafe pixels.reserve(4 * total)
        let status = unsafe tjDecompress2(
            handle, base, UInt(count), inks, Int32(size.width), 0, Int32(size.height), Int32(TJPF_CMYK.rawValue),
            TJFLAG_ACCURATEDCT | TJFLAG_LIMITSCANS)
        try note(status, &complaint)
        // Three bytes are written where four were read: in place is safe row by row, and here pixel by pixel.
        if let transform = inkConversion(structure).transform {
            let row = 4 * size.width
            let scratch = try unsafe whole.reserve(row)
            for y in 0..<size.height {
                unsafe scratch.update(from: inks + y * row, count: row)
                unsafe transform.apply(scratch, to: inks + y * 3 * size.width, count: size.width)
            }
        } else {
            unsafe cr_cmyk_to_rgb(inks, total, structure.hasAdobe ? 1 : 0, inks)
        }
        return try unsafe picture(inks, size, stored, denominator, space: .unspecified)
    }

    private func inkConversion(_ structure: JPEGStructure) -> InkConversions.Conversion {
        inks.conversion(for: structure.space, isInverted: structure.hasAdobe)
    }

    private func picture(
        _ rgb: UnsafePointer<UInt8>, _ size: PixelSize, _ stored: PixelSize, _ denominator: Int, space: ColourSpace
    ) throws(CodecFailure) -> PlanarPicture {
        let total = size.width * size.height
        let first = try unsafe planes.reserve(3 * total)
        unsafe cr_rgb_to_ycc(rgb, total, first, first + total, first + 2 * total)
        func plane(_ number: Int) -> Plane {
            unsafe Plane(first + number * total, stride: size.width, width: size.width, height: size.height)
        }
        var picture = PlanarPicture(
            first: plane(0), chroma: (plane(1), plane(2)), storedSize: stored, orientation: .upright)
        picture.scale = 1 / Double(denominator)
        picture.space = space
        return picture
    }

    /// A warning leaves a picture, an error does not.
    private func note(_ status: Int32, _ complaint: inout String?) throws(CodecFailure) {
        guard status != 0 else { return }
        guard unsafe tjGetErrorCode(handle) == Int32(TJERR_WARNING.rawValue) else { throw failure() }
        complaint = unsafe turboMessage(handle)
    }

    private func failure() -> CodecFailure {
        let message = unsafe turboMessage(handle)
        if message.contains("scans") { return CodecFailure(.tooLarge, "the JPEG has too many scans: \(message)") }
        if message.contains("nsufficient memory") { return CodecFailure(.memory, message) }
        let isForeign = message.contains("nsupported") || message.contains("not supported")
        return CodecFailure(isForeign ? .unsupported : .corrupt, "the JPEG cannot be decoded: \(message)")
    }
}

extension Plane {
    /// Whether every sample but those of the first block is the same: a decoder that got nothing makes something up for
    /// one block and fills the rest with grey. 32 samples are the widest block there is, that of 4:1:1.
    var isEvenBehindStart: Bool {
        guard height > 32 || width > 32 else { return false }
        let value = unsafe base[(height - 1) * stride + width - 1]
        for row in 0..<height {
            for column in (row < 32 ? min(32, width) : 0)..<width where unsafe base[row * stride + column] != value {
                return false
            }
        }
        return true
    }
}
