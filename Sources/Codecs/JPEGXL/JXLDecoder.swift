import CJXL
import PhotoModel

/// Decodes JPEG XL by libjxl: bare codestreams and containers, on white; of an animation the first frame. libjxl turns the
/// picture itself, as the codestream says; an orientation in EXIF does not count, as the standard has it (18181-2, 9.3).
final class JXLDecoder {
    private let rows = RowPlanes()

    /// Bytes that libjxl 0.7.0 takes for each pixel and channel: 10.0 were the most that was measured (lossless, 16 bits,
    /// one thread), 14.6 where lossy colours have a further channel beside them.
    private static let channelBytes = (alone: 10, withOthers: 16)
    /// What all may take together. libjxl ends the process when memory ends, so this is asked before: 48 megapixels fit.
    private static let memoryLimit = 1700 << 20

    /// A file that ends early gives what libjxl can make of it, as far as it has come with the whole picture.
    func decode(_ file: FileBytes, spec: PreviewSpec) throws(CodecFailure) -> DecodedPicture {
        guard Self.holdsCodestream(file) else {
            throw CodecFailure(.unsupported, "the JPEG XL holds no picture, only what describes one")
        }
        let session = try JXLSession(file)
        var header = JxlBasicInfo()
        var space = ColourSpace.unspecified
        var sink: JXLSink?
        var isPartial = false
        var warning: String?
        loop: while true {
            switch session.step() {
            case JXL_DEC_BASIC_INFO:
                header = try session.header()
                try check(header, spec, fileSize: file.count)
            case JXL_DEC_COLOR_ENCODING: space = session.space()
            case JXL_DEC_NEED_IMAGE_OUT_BUFFER:
                let size = PixelSize(width: Int(header.xsize), height: Int(header.ysize))
                try rows.begin(size, limit: spec.maxPixels, keepsAlpha: spec.keepsAlpha && header.alpha_bits > 0)
                rows.whiten(rows: 0..<size.height)
                let fresh = JXLSink(rows, hasAlpha: header.alpha_bits > 0)
                sink = fresh
                try session.deliver(to: fresh)
            case JXL_DEC_FULL_IMAGE: break loop
            case JXL_DEC_NEED_MORE_INPUT:
                guard sink != nil, session.flush() else {
                    throw CodecFailure(.truncated, "the JPEG XL ends before anything of the picture can be shown")
                }
                (isPartial, warning) = (true, "the JPEG XL ends early")
                break loop
            case JXL_DEC_SUCCESS: throw CodecFailure(.corrupt, "there is no frame in the JPEG XL")
            default:
                guard let sink, sink.count > 0 else { throw CodecFailure(.corrupt, "the JPEG XL cannot be decoded") }
                (isPartial, warning) = (true, "the JPEG XL is damaged")
                break loop
            }
        }
        var picture = try rows.picture(orientation: 1, isGrey: header.num_color_channels == 1)
        picture.space = space
        return DecodedPicture(picture: picture, isPartial: isPartial, warning: warning)
    }

    func trim(to limit: Int) { rows.trim(to: limit) }

    private func check(_ header: JxlBasicInfo, _ spec: PreviewSpec, fileSize: Int) throws(CodecFailure) {
        let (width, height) = (Int(header.xsize), Int(header.ysize))
        let (total, overflow) = width.multipliedReportingOverflow(by: height)
        guard !overflow, Int64(total) <= spec.maxPixels.count else {
            throw .tooLarge(width, height, limit: spec.maxPixels)
        }
        let others = Int(header.num_extra_channels)
        let pixelBytes =
            3 + (3 + others) * (others > 0 ? Self.channelBytes.withOthers : Self.channelBytes.alone)
        let (needed, overflows) = total.multipliedReportingOverflow(by: pixelBytes)
        guard !overflows, needed <= Self.memoryLimit - fileSize else {
            throw CodecFailure(
                .tooLarge, "decoding \(width) x \(height) pixels of JPEG XL takes more memory than a decoder has")
        }
    }

    /// Of a container without one libjxl only says "error".
    private static func holdsCodestream(_ file: FileBytes) -> Bool {
        guard file.holds("JXL ", at: 4) else { return true }
        var offset = 0
        while let short = file.number(at: offset, width: 4) {
            if file.holds("jxlc", at: offset + 4) || file.holds("jxlp", at: offset + 4) { return true }
            guard short >= 8 else { return true }  // long, or up to the end: libjxl will say
            offset += short
        }
        return offset > file.count  // cut: it may have come
    }
}

/// Takes the runs of pixels that libjxl hands out, in any order. One thread.
private final class JXLSink {
    let rows: RowPlanes
    let hasAlpha: Bool
    var count = 0

    init(_ rows: RowPlanes, hasAlpha: Bool) {
        self.rows = rows
        self.hasAlpha = hasAlpha
    }
}

/// One reading of a JPEG XL by libjxl, without threads.
///
/// Safe: the decoder goes back with its owner, which outlives neither the file's bytes nor the sink it delivers to.
@safe private final class JXLSession {
    private let decoder: OpaquePointer
    private var sink: JXLSink?

    init(_ file: FileBytes) throws(CodecFailure) {
        guard let decoder = unsafe JxlDecoderCreate(nil) else {
            throw CodecFailure(.memory, "no memory for a JPEG XL decoder")
        }
        unsafe self.decoder = unsafe decoder
        let events = JXL_DEC_BASIC_INFO.rawValue | JXL_DEC_COLOR_ENCODING.rawValue | JXL_DEC_FULL_IMAGE.rawValue
        let base = unsafe file.memory.bindMemory(to: UInt8.self).baseAddress
        guard unsafe JxlDecoderSubscribeEvents(decoder, Int32(events)) == JXL_DEC_SUCCESS,
            unsafe JxlDecoderSetUnpremultiplyAlpha(decoder, JXL_TRUE) == JXL_DEC_SUCCESS,
            unsafe JxlDecoderSetInput(decoder, base, file.count) == JXL_DEC_SUCCESS
        else { throw CodecFailure(.memory, "libjxl does not start") }
    }

    deinit { unsafe JxlDecoderDestroy(decoder) }

    func step() -> JxlDecoderStatus { unsafe JxlDecoderProcessInput(decoder) }

    func flush() -> Bool { unsafe JxlDecoderFlushImage(decoder) == JXL_DEC_SUCCESS }

    func header() throws(CodecFailure) -> JxlBasicInfo {
        var header = JxlBasicInfo()
        guard unsafe JxlDecoderGetBasicInfo(decoder, &header) == JXL_DEC_SUCCESS else {
            throw CodecFailure(.corrupt, "the JPEG XL's header is damaged")
        }
        for channel in 0..<Int(header.num_extra_channels) {
            var info = JxlExtraChannelInfo()
            guard unsafe JxlDecoderGetExtraChannelInfo(decoder, channel, &info) == JXL_DEC_SUCCESS else { continue }
            if info.type == JXL_CHANNEL_BLACK {
                throw CodecFailure(.unsupported, "the JPEG XL has four inks")
            }
        }
        return header
    }

    /// Of what libjxl hands out, which need not be what the file was made from.
    func space() -> ColourSpace {
        var coding = JxlColorEncoding()
        if unsafe JxlDecoderGetColorAsEncodedProfile(decoder, nil, JXL_COLOR_PROFILE_TARGET_DATA, &coding)
            == JXL_DEC_SUCCESS, coding.color_space == JXL_COLOR_SPACE_RGB, coding.white_point == JXL_WHITE_POINT_D65
        {
            let primaries: [UInt32: Int] = [
                JXL_PRIMARIES_SRGB.rawValue: 1, JXL_PRIMARIES_2100.rawValue: 9, JXL_PRIMARIES_P3.rawValue: 12,
            ]
            // The numbers of ITU-T H.273, but for P3, whose white point stands apart here.
            let transfers = [JXL_TRANSFER_FUNCTION_PQ, JXL_TRANSFER_FUNCTION_HLG, JXL_TRANSFER_FUNCTION_SRGB]
            if let known = primaries[coding.primaries.rawValue], transfers.contains(coding.transfer_function),
                known != 12 || coding.transfer_function != JXL_TRANSFER_FUNCTION_SRGB
            {
                return .codePoints(primaries: known, transfer: Int(coding.transfer_function.rawValue))
            }
        }
        var count = 0
        guard
            unsafe JxlDecoderGetICCProfileSize(decoder, nil, JXL_COLOR_PROFILE_TARGET_DATA, &count) == JXL_DEC_SUCCESS,
            count > 0
        else { return .unspecified }
        guard count <= ProfileCheck.largest else { return .lostProfile }
        var profile = [UInt8](repeating: 0, count: count)
        guard
            unsafe JxlDecoderGetColorAsICCProfile(decoder, nil, JXL_COLOR_PROFILE_TARGET_DATA, &profile, count)
                == JXL_DEC_SUCCESS
        else { return .lostProfile }
        return .profile(profile)
    }

    /// libjxl calls back until it is destroyed, and so the sink is kept until then.
    func deliver(to sink: JXLSink) throws(CodecFailure) {
        self.sink = sink
        var format = JxlPixelFormat(
            num_channels: sink.hasAlpha ? 4 : 3, data_type: JXL_TYPE_UINT8, endianness: JXL_NATIVE_ENDIAN, align: 0)
        let status = unsafe JxlDecoderSetImageOutCallback(
            decoder, &format,
            { context, x, y, count, pixels in
                guard let context = unsafe context, let pixels = unsafe pixels else { return }
                let sink = unsafe Unmanaged<JXLSink>.fromOpaque(context).takeUnretainedValue()
                let samples = unsafe pixels.assumingMemoryBound(to: UInt8.self)
                sink.count += count
                if sink.hasAlpha {
                    unsafe sink.rows.put(rgba: samples, x: x, y: y, count: count)
                } else {
                    unsafe sink.rows.put(rgb: samples, x: x, y: y, count: count)
                }
            }, Unmanaged.passUnretained(sink).toOpaque())
        guard status == JXL_DEC_SUCCESS else {
            throw CodecFailure(.unsupported, "libjxl does not hand out this JPEG XL's pixels as bytes")
        }
    }
}
