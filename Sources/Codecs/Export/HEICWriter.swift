import CHEIF
import PhotoModel

/// Writes HEICs, 4:2:0 of 8 bits, by libheif with its HEVC encoder.
enum HEICWriter {
    /// Where libheif puts the file.
    private final class Sink { var bytes: [UInt8] = [] }

    static func encode(
        _ planes: JPEGPlanes, quality: Int, profile: [UInt8]?, exif: [UInt8], xmp: [UInt8]
    ) throws(CodecFailure) -> [UInt8] {
        guard let context = unsafe heif_context_alloc() else { throw CodecFailure(.memory, "no memory for a HEIC") }
        defer { unsafe heif_context_free(context) }
        var encoder: OpaquePointer?
        guard
            unsafe heif_context_get_encoder_for_format(context, heif_compression_HEVC, &encoder).code == heif_error_Ok,
            let encoder = unsafe encoder
        else { throw CodecFailure(.unsupported, "this libheif has no encoder for HEIC") }
        defer { unsafe heif_encoder_release(encoder) }
        try unsafe check(heif_encoder_set_lossy_quality(encoder, Int32(quality)))
        // Another encoder may not know it, and does without.
        _ = unsafe heif_encoder_set_parameter_string(encoder, "preset", "veryfast")
        var image: OpaquePointer?
        try unsafe check(
            heif_image_create(
                Int32(planes.size.width), Int32(planes.size.height), heif_colorspace_YCbCr, heif_chroma_420, &image))
        defer { unsafe heif_image_release(image) }
        let (wide, high) = ((planes.size.width + 1) / 2, (planes.size.height + 1) / 2)
        try unsafe fill(image, heif_channel_Y, planes.luma, planes.lumaStride, planes.size.width, planes.size.height)
        try unsafe fill(image, heif_channel_Cb, planes.blue, planes.chromaStride, wide, high)
        try unsafe fill(image, heif_channel_Cr, planes.red, planes.chromaStride, wide, high)
        if let profile {
            try unsafe check(heif_image_set_raw_color_profile(image, "prof", profile, profile.count))
        }
        if let codes = unsafe heif_nclx_color_profile_alloc() {
            // As JFIF has it: BT.601 of full range; sRGB where no profile says otherwise.
            defer { unsafe heif_nclx_color_profile_free(codes) }
            unsafe codes.pointee.color_primaries = heif_color_primaries_ITU_R_BT_709_5
            unsafe codes.pointee.transfer_characteristics = heif_transfer_characteristic_IEC_61966_2_1
            unsafe codes.pointee.matrix_coefficients = heif_matrix_coefficients_ITU_R_BT_601_6
            unsafe codes.pointee.full_range_flag = 1
            try unsafe check(heif_image_set_nclx_color_profile(image, codes))
        }
        guard let options = unsafe heif_encoding_options_alloc() else {
            throw CodecFailure(.memory, "no memory for a HEIC")
        }
        defer { unsafe heif_encoding_options_free(options) }
        // Left to itself libheif writes none, for versions of macOS before 11.
        unsafe options.pointee.macOS_compatibility_workaround_no_nclx_profile = 0
        var handle: OpaquePointer?
        try unsafe check(heif_context_encode_image(context, image, encoder, options, &handle))
        defer { unsafe heif_image_handle_release(handle) }
        if !exif.isEmpty { try unsafe check(heif_context_add_exif_metadata(context, handle, exif, Int32(exif.count))) }
        if !xmp.isEmpty { try unsafe check(heif_context_add_XMP_metadata(context, handle, xmp, Int32(xmp.count))) }
        return try unsafe written(context)
    }

    private static func fill(
        _ image: OpaquePointer?, _ channel: heif_channel, _ from: UnsafePointer<UInt8>, _ fromStride: Int, _ width: Int,
        _ height: Int
    ) throws(CodecFailure) {
        try unsafe check(heif_image_add_plane(image, channel, Int32(width), Int32(height), 8))
        var stride = Int32(0)
        guard let base = unsafe heif_image_get_plane(image, channel, &stride), Int(stride) >= width else {
            throw CodecFailure(.memory, "no memory for a HEIC")
        }
        for row in 0..<height { unsafe (base + row * Int(stride)).update(from: from + row * fromStride, count: width) }
    }

    private static func written(_ context: OpaquePointer) throws(CodecFailure) -> [UInt8] {
        let sink = Sink()
        var writer = heif_writer()
        writer.writer_api_version = 1
        unsafe writer.write = { _, data, count, sink in
            if let data = unsafe data, let sink = unsafe sink {
                unsafe Unmanaged<Sink>.fromOpaque(sink).takeUnretainedValue().bytes += UnsafeRawBufferPointer(
                    start: data, count: count)
            }
            return unsafe heif_error(code: heif_error_Ok, subcode: heif_suberror_Unspecified, message: nil)
        }
        try unsafe check(heif_context_write(context, &writer, Unmanaged.passUnretained(sink).toOpaque()))
        return sink.bytes
    }

    private static func check(_ error: heif_error) throws(CodecFailure) {
        guard unsafe error.code != heif_error_Ok else { return }
        let words = unsafe error.message.map { unsafe String(cString: $0) } ?? "unknown error"
        throw CodecFailure(.encode, "the HEIC could not be written: \(SafeText.of(words, limit: 200))")
    }
}
