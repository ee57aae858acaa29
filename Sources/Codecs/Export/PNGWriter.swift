import CSPNG
import Glibc
import PhotoModel

/// Writes PNGs of 8-bit red, green and blue, and of alpha where there is any, by libspng.
enum PNGWriter {
    /// - Parameter level: of zlib; low ones are faster, high ones make smaller files.
    static func encode(
        _ rgb: UnsafePointer<UInt8>, alpha: UnsafePointer<UInt8>?, size: PixelSize, profile: [UInt8]?, exif: [UInt8],
        xmp: [UInt8], level: Int32 = 3
    ) throws(CodecFailure) -> [UInt8] {
        guard let context = unsafe spng_ctx_new(Int32(SPNG_CTX_ENCODER.rawValue)) else {
            throw CodecFailure(.memory, "no memory for a PNG encoder")
        }
        defer { unsafe spng_ctx_free(context) }
        // What is set stays ours, and has to be there until the end.
        var profile = profile ?? []
        var exif = exif
        var xmp = xmp + [0]
        return try unsafe profile.withUnsafeMutableBytes { profile in
            unsafe exif.withUnsafeMutableBytes { exif in
                unsafe xmp.withUnsafeMutableBytes { xmp in
                    var status = unsafe spng_set_option(context, SPNG_ENCODE_TO_BUFFER, 1)
                    if status == 0 { status = unsafe spng_set_option(context, SPNG_IMG_COMPRESSION_LEVEL, level) }
                    var header = spng_ihdr()
                    (header.width, header.height) = (UInt32(size.width), UInt32(size.height))
                    let type = unsafe alpha == nil ? SPNG_COLOR_TYPE_TRUECOLOR : SPNG_COLOR_TYPE_TRUECOLOR_ALPHA
                    (header.bit_depth, header.color_type) = (8, UInt8(type.rawValue))
                    if status == 0 { status = unsafe spng_set_ihdr(context, &header) }
                    if status == 0, profile.count > 0 {
                        var chunk = unsafe spng_iccp()
                        unsafe copy("ICC profile", to: &chunk.profile_name)
                        unsafe chunk.profile_len = profile.count
                        unsafe chunk.profile = profile.bindMemory(to: CChar.self).baseAddress
                        status = unsafe spng_set_iccp(context, &chunk)
                    }
                    if status == 0, exif.count > 0 {
                        var chunk = unsafe spng_exif()
                        unsafe chunk.length = exif.count
                        unsafe chunk.data = exif.bindMemory(to: CChar.self).baseAddress
                        // A block that libspng takes for none is left out; the picture is not worth less for it.
                        _ = unsafe spng_set_exif(context, &chunk)
                    }
                    return unsafe finish(context, status, rgb, alpha, size, xmp)
                }
            }
        }.get()
    }

    private static func finish(
        _ context: OpaquePointer, _ before: Int32, _ rgb: UnsafePointer<UInt8>, _ alpha: UnsafePointer<UInt8>?,
        _ size: PixelSize, _ xmp: UnsafeMutableRawBufferPointer
    ) -> Result<[UInt8], CodecFailure> {
        var status = before
        var empty = CChar(0)
        unsafe withUnsafeMutablePointer(to: &empty) { empty in
            if status == 0, xmp.count > 1 {
                var text = unsafe spng_text()
                unsafe copy("XML:com.adobe.xmp", to: &text.keyword)
                unsafe text.type = Int32(SPNG_ITXT.rawValue)
                unsafe text.length = xmp.count - 1
                unsafe text.text = xmp.bindMemory(to: CChar.self).baseAddress
                unsafe text.language_tag = empty
                unsafe text.translated_keyword = empty
                // As with EXIF: one that is no clean text is left out.
                _ = unsafe spng_set_text(context, &text, 1)
            }
            if status == 0, unsafe alpha == nil {
                status = unsafe spng_encode_image(
                    context, rgb, 3 * size.width * size.height, Int32(SPNG_FMT_PNG.rawValue),
                    Int32(SPNG_ENCODE_FINALIZE.rawValue))
            } else if status == 0, let alpha = unsafe alpha {
                status = unsafe writeRows(context, rgb, alpha, size)
            }
        }
        var (count, failure) = (0, Int32(0))
        guard status == 0, let buffer = unsafe spng_get_png_buffer(context, &count, &failure), failure == 0 else {
            let words = unsafe spng_strerror(status).map { unsafe String(cString: $0) } ?? "error \(status)"
            return .failure(CodecFailure(.encode, "the PNG could not be written: \(words)"))
        }
        defer { unsafe free(buffer) }
        return .success(unsafe Array(UnsafeRawBufferPointer(start: buffer, count: count)))
    }

    /// Row by row: colours and alpha come apart.
    private static func writeRows(
        _ context: OpaquePointer, _ rgb: UnsafePointer<UInt8>, _ alpha: UnsafePointer<UInt8>, _ size: PixelSize
    ) -> Int32 {
        var status = unsafe spng_encode_image(
            context, nil, 0, Int32(SPNG_FMT_PNG.rawValue),
            Int32(SPNG_ENCODE_PROGRESSIVE.rawValue | SPNG_ENCODE_FINALIZE.rawValue))
        var row = [UInt8](repeating: 255, count: 4 * size.width)
        for y in 0..<size.height where status == 0 {
            let (colours, opacity) = unsafe (rgb + 3 * y * size.width, alpha + y * size.width)
            for x in 0..<size.width {
                for place in 0..<3 { row[4 * x + place] = unsafe colours[3 * x + place] }
                row[4 * x + 3] = unsafe opacity[x]
            }
            status = unsafe spng_encode_row(context, row, row.count)
        }
        return status == SPNG_EOI.rawValue ? 0 : status
    }

    private static func copy<Field>(_ text: StaticString, to field: inout Field) {
        unsafe withUnsafeMutableBytes(of: &field) { bytes in
            for place in 0..<min(text.utf8CodeUnitCount, bytes.count - 1) {
                unsafe bytes[place] = text.utf8Start[place]
            }
        }
    }
}
