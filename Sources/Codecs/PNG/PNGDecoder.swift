import CResample
import CSPNG
import PhotoModel

/// Decodes PNG of every kind (1 to 16 bits, grey, palette, alpha, interlaced) to planes, on white. Of an animation the
/// still image.
final class PNGDecoder {
    private let planes = PlaneBuffer()
    private let rows = PlaneBuffer()
    private let whole = PlaneBuffer()
    private let opacity = PlaneBuffer()
    private let textless = PlaneBuffer()

    /// A file that ends early, or goes bad on its way, is partial when at least one row is there; what is missing stays
    /// white. Of an interlaced one the first whole pass counts.
    func decode(_ file: FileBytes, orientation: Int, spec: PreviewSpec) throws(CodecFailure) -> DecodedPicture {
        // libspng wants every chunk whole. Of a file that ends early it gets a copy that ends properly.
        guard let mended = try PNGRepair(in: whole).completed(file) else {
            return try decode(whole: file, orientation: orientation, spec: spec)
        }
        var decoded = try decode(whole: mended, orientation: orientation, spec: spec)
        decoded.isPartial = true
        decoded.warning = decoded.warning ?? "the PNG ends early"
        return decoded
    }

    private func decode(
        whole file: FileBytes, orientation: Int, spec: PreviewSpec, hasTexts: Bool = true
    ) throws(CodecFailure) -> DecodedPicture {
        let context = try PNGContext(file)
        let header = try context.header()
        let size = PixelSize(width: Int(header.width), height: Int(header.height))
        guard
            Int64(size.width).multipliedReportingOverflow(by: Int64(size.height)).partialValue <= spec.maxPixels.count,
            size.width < 1 << 28, size.height < 1 << 28
        else { throw .tooLarge(size.width, size.height, limit: spec.maxPixels) }

        let total = size.width * size.height
        let isInterlaced = header.interlace_method != 0
        let rowBytes = 4 * size.width
        let rgba = try unsafe rows.reserve(isInterlaced ? 4 * total : rowBytes)
        let first = try unsafe planes.reserve(3 * total)
        let (blue, red) = unsafe (first + total, first + 2 * total)
        // Of a palette only its colours know; then all of it may come out opaque.
        let alpha: UnsafeMutablePointer<UInt8>? = spec.keepsAlpha ? try unsafe opacity.reserve(total) : nil
        unsafe alpha?.update(repeating: 255, count: total)
        if isInterlaced { unsafe rgba.update(repeating: 255, count: 4 * total) }

        guard try context.beginRows() else {
            guard hasTexts else { throw CodecFailure(.corrupt, "the PNG has more in its chunks than a photo needs") }
            let textless = try PNGRepair(in: self.textless).withoutTexts(file)
            return try decode(whole: textless, orientation: orientation, spec: spec, hasTexts: false)
        }
        var whole = 0
        var problem: String?
        if isInterlaced {
            (whole, problem) = unsafe context.readInterlaced(into: rgba, rowBytes: rowBytes, rows: size.height)
            unsafe cr_rgba_to_ycc(rgba, total, first, blue, red)
            if let alpha = unsafe alpha { for pixel in 0..<total { unsafe alpha[pixel] = unsafe rgba[4 * pixel + 3] } }
        } else {
            while whole < size.height, problem == nil {
                problem = unsafe context.readRow(into: rgba, rowBytes: rowBytes)
                guard problem == nil else { break }
                let at = whole * size.width
                unsafe cr_rgba_to_ycc(rgba, size.width, first + at, blue + at, red + at)
                if let alpha = unsafe alpha {
                    for x in 0..<size.width { unsafe alpha[at + x] = unsafe rgba[4 * x + 3] }
                }
                whole += 1
            }
            let at = whole * size.width
            unsafe (first + at).update(repeating: 255, count: total - at)
            unsafe (blue + at).update(repeating: 128, count: total - at)
            unsafe (red + at).update(repeating: 128, count: total - at)
        }
        guard whole > 0 else {
            throw CodecFailure(
                .corrupt, "no row of the PNG can be decoded: \(problem ?? "no data")")
        }
        func plane(_ base: UnsafePointer<UInt8>) -> Plane {
            unsafe Plane(base, stride: size.width, width: size.width, height: size.height)
        }
        let isGrey =
            header.color_type == UInt8(SPNG_COLOR_TYPE_GRAYSCALE.rawValue)
            || header.color_type == UInt8(SPNG_COLOR_TYPE_GRAYSCALE_ALPHA.rawValue)
        var picture = unsafe PlanarPicture(
            first: plane(first), chroma: isGrey ? nil : (plane(blue), plane(red)), storedSize: size,
            orientation: Orientation(exif: orientation))
        picture.alpha = unsafe alpha.map { unsafe plane($0) }
        picture.space = context.colourSpace(by: PNGColourChunks(file))
        return DecodedPicture(
            picture: picture, isPartial: problem != nil, warning: problem.map { "the PNG is damaged: \($0)" })
    }

    func trim(to limit: Int) {
        planes.trim(to: limit)
        rows.trim(to: limit)
        whole.trim(to: limit)
        opacity.trim(to: limit)
        textless.trim(to: limit)
    }
}

/// One reading of a PNG by libspng.
///
/// Safe: the context goes back with its owner, which does not outlive the file's bytes; libspng checks the length of
/// every row it is given.
@safe private struct PNGContext: ~Copyable {
    private let context: OpaquePointer

    init(_ file: FileBytes) throws(CodecFailure) {
        guard let context = unsafe spng_ctx_new(Int32(SPNG_CTX_IGNORE_ADLER32.rawValue)) else {
            throw CodecFailure(.memory, "no memory for a PNG decoder")
        }
        unsafe self.context = unsafe context
        // Damaged pixels are worth showing, damaged extras are not worth failing for. Chunks are bounded: text that
        // inflates to megabytes is never inflated here, and a profile of more than this is none.
        unsafe spng_set_crc_action(context, Int32(SPNG_CRC_USE.rawValue), Int32(SPNG_CRC_DISCARD.rawValue))
        unsafe spng_set_chunk_limits(context, ProfileCheck.largest, 2 * ProfileCheck.largest)
        unsafe spng_set_png_buffer(context, file.memory.baseAddress, file.count)
    }

    deinit { unsafe spng_ctx_free(context) }

    func header() throws(CodecFailure) -> spng_ihdr {
        var header = spng_ihdr()
        let status = unsafe spng_get_ihdr(context, &header)
        guard status == 0 else { throw CodecFailure(.corrupt, "the PNG's header is damaged: \(Self.message(status))") }
        return header
    }

    /// False when its chunks hold more than they may.
    func beginRows() throws(CodecFailure) -> Bool {
        let flags = Int32(SPNG_DECODE_PROGRESSIVE.rawValue | SPNG_DECODE_TRNS.rawValue)
        let status = unsafe spng_decode_image(context, nil, 0, Int32(SPNG_FMT_RGBA8.rawValue), flags)
        guard status != SPNG_ECHUNK_LIMITS.rawValue else { return false }
        guard status == 0 else {
            let isCut = status == SPNG_IO_EOF.rawValue
            throw CodecFailure(isCut ? .truncated : .corrupt, "the PNG cannot be decoded: \(Self.message(status))")
        }
        return true
    }

    /// nil, or what went wrong.
    func readRow(into row: UnsafeMutablePointer<UInt8>, rowBytes: Int) -> String? {
        let status = unsafe spng_decode_row(context, row, rowBytes)
        return status == 0 || status == SPNG_EOI.rawValue ? nil : Self.message(status)
    }

    /// How many rows were read, over all passes, and what stopped it.
    func readInterlaced(into pixels: UnsafeMutablePointer<UInt8>, rowBytes: Int, rows: Int) -> (Int, String?) {
        var count = 0
        while true {
            var row = spng_row_info()
            var status = unsafe spng_get_row_info(context, &row)
            guard status == 0, Int(row.row_num) < rows else { return (count, Self.message(status)) }
            status = unsafe spng_decode_row(context, pixels + Int(row.row_num) * rowBytes, rowBytes)
            if status == SPNG_EOI.rawValue { return (count + 1, nil) }
            guard status == 0 else { return (count, Self.message(status)) }
            count += 1
        }
    }

    /// cICP, iCCP, sRGB and gAMA with cHRM, in this order (PNG, third edition, 4.3).
    func colourSpace(by chunks: PNGColourChunks) -> ColourSpace {
        if let codes = chunks.codePoints { return codes }
        var profile = unsafe spng_iccp()
        if unsafe spng_get_iccp(context, &profile) == 0, let base = unsafe profile.profile {
            return .profile(unsafe Array(UnsafeRawBufferPointer(start: base, count: profile.profile_len)))
        }
        if chunks.hasProfile { return .lostProfile }
        var intent = UInt8(0)
        if unsafe spng_get_srgb(context, &intent) == 0 { return .unspecified }
        var gamma = 0.0
        guard unsafe spng_get_gama(context, &gamma) == 0, gamma > 0.05, gamma < 5 else { return .unspecified }
        var points = spng_chrm()
        guard unsafe spng_get_chrm(context, &points) == 0 else { return .gamma(1 / gamma, chromaticities: nil) }
        return .gamma(
            1 / gamma,
            chromaticities: [
                points.white_point_x, points.white_point_y, points.red_x, points.red_y, points.green_x, points.green_y,
                points.blue_x, points.blue_y,
            ])
    }

    private static func message(_ status: Int32) -> String {
        guard let text = unsafe spng_strerror(status) else { return "error \(status)" }
        return unsafe String(cString: text)
    }
}
