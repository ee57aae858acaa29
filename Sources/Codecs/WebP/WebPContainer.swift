import CWebP
import PhotoModel

/// One coded picture inside of a WebP file.
///
/// Safe as long as the file's bytes are lent: it points into them.
@safe struct WebPFrame {
    let data: UnsafePointer<UInt8>
    let count: Int
    let size: PixelSize
    let x: Int
    let y: Int
    let hasAlpha: Bool
    let isLossless: Bool
}

/// The chunks of a WebP file, read by libwebpdemux, which takes a file that ends early, too.
///
/// Safe: the demuxer goes back with its owner, which does not outlive the file's bytes; iterators are released where they
/// were filled.
@safe struct WebPContainer: ~Copyable {
    private let demuxer: OpaquePointer
    let canvas: PixelSize

    init(_ file: FileBytes) throws(CodecFailure) {
        var data = unsafe WebPData(
            bytes: file.memory.bindMemory(to: UInt8.self).baseAddress, size: file.count)
        var state = WEBP_DEMUX_PARSE_ERROR
        guard let demuxer = unsafe WebPDemuxPartial(&data, &state) else {
            throw state == WEBP_DEMUX_PARSING_HEADER
                ? CodecFailure(.truncated, "the WebP ends within its header")
                : CodecFailure(.corrupt, "the WebP's chunks make no sense")
        }
        unsafe self.demuxer = unsafe demuxer
        canvas = unsafe PixelSize(
            width: Int(WebPDemuxGetI(demuxer, WEBP_FF_CANVAS_WIDTH)),
            height: Int(WebPDemuxGetI(demuxer, WEBP_FF_CANVAS_HEIGHT)))
    }

    deinit { unsafe WebPDemuxDelete(demuxer) }

    func firstFrame() throws(CodecFailure) -> WebPFrame {
        guard canvas.width > 0, canvas.height > 0 else {
            throw CodecFailure(.truncated, "the WebP ends within its header")
        }
        var iterator = unsafe WebPIterator()
        guard unsafe WebPDemuxGetFrame(demuxer, 1, &iterator) != 0 else {
            throw CodecFailure(.truncated, "the WebP ends before its first picture")
        }
        defer { unsafe WebPDemuxReleaseIterator(&iterator) }
        guard let data = unsafe iterator.fragment.bytes, unsafe iterator.fragment.size > 0 else {
            throw CodecFailure(.truncated, "the WebP ends before its first picture")
        }
        var features = WebPBitstreamFeatures()
        let status = unsafe WebPGetFeatures(data, iterator.fragment.size, &features)
        guard status == VP8_STATUS_OK else {
            throw status == VP8_STATUS_NOT_ENOUGH_DATA
                ? CodecFailure(.truncated, "the WebP ends within its picture's header")
                : CodecFailure(.corrupt, "the WebP's picture has a damaged header")
        }
        return unsafe WebPFrame(
            data: data, count: iterator.fragment.size,
            size: PixelSize(width: Int(features.width), height: Int(features.height)), x: Int(iterator.x_offset),
            y: Int(iterator.y_offset), hasAlpha: features.has_alpha != 0, isLossless: features.format == 2)
    }

    var space: ColourSpace {
        var iterator = unsafe WebPChunkIterator()
        guard unsafe WebPDemuxGetChunk(demuxer, "ICCP", 1, &iterator) != 0 else { return .unspecified }
        defer { unsafe WebPDemuxReleaseChunkIterator(&iterator) }
        guard let data = unsafe iterator.chunk.bytes, unsafe (1...ProfileCheck.largest).contains(iterator.chunk.size)
        else { return .lostProfile }
        return .profile(unsafe Array(UnsafeBufferPointer(start: data, count: iterator.chunk.size)))
    }
}

enum WebPProblem { case ends, damaged }

/// One decoding of a frame by libwebp, into memory of ours.
///
/// Safe: the decoder goes back before the call that made it ends; libwebp checks the sizes of the memory it is given.
@safe struct WebPReading: ~Copyable {
    private var config = unsafe WebPDecoderConfig()
    private var size = PixelSize(width: 0, height: 0)

    init() throws(CodecFailure) {
        guard unsafe WebPInitDecoderConfig(&config) != 0 else {
            throw CodecFailure(.unsupported, "libwebp has another version than was built for")
        }
        unsafe config.output.is_external_memory = 1
    }

    mutating func scale(to size: PixelSize?) {
        guard let size else { return }
        unsafe config.options.use_scaling = 1
        unsafe config.options.scaled_width = Int32(size.width)
        unsafe config.options.scaled_height = Int32(size.height)
    }

    mutating func writePlanes(
        _ luma: UnsafeMutablePointer<UInt8>, _ blue: UnsafeMutablePointer<UInt8>, _ red: UnsafeMutablePointer<UInt8>,
        size: PixelSize, half: PixelSize
    ) {
        self.size = size
        unsafe config.output.colorspace = MODE_YUV
        unsafe config.output.u.YUVA = WebPYUVABuffer(
            y: luma, u: blue, v: red, a: nil, y_stride: Int32(size.width), u_stride: Int32(half.width),
            v_stride: Int32(half.width), a_stride: 0, y_size: size.width * size.height,
            u_size: half.width * half.height, v_size: half.width * half.height, a_size: 0)
    }

    mutating func writePixels(_ rgba: UnsafeMutablePointer<UInt8>, size: PixelSize) {
        self.size = size
        unsafe config.output.colorspace = MODE_RGBA
        unsafe config.output.u.RGBA = WebPRGBABuffer(
            rgba: rgba, stride: Int32(4 * size.width), size: 4 * size.width * size.height)
    }

    /// - Returns: rows that are there, from the top, and why not all.
    mutating func run(_ frame: WebPFrame) throws(CodecFailure) -> (rows: Int, problem: WebPProblem?) {
        guard let decoder = unsafe WebPIDecode(nil, 0, &config) else {
            throw CodecFailure(.memory, "no memory for a WebP decoder")
        }
        defer { unsafe WebPIDelete(decoder) }
        let status = unsafe WebPIUpdate(decoder, frame.data, frame.count)
        if status == VP8_STATUS_OK { return (size.height, nil) }
        if status == VP8_STATUS_OUT_OF_MEMORY { throw CodecFailure(.memory, "no memory for the picture of a WebP") }
        if status == VP8_STATUS_UNSUPPORTED_FEATURE { throw CodecFailure(.unsupported, "the WebP's coding is unknown") }
        // Rows that were written: libwebp says so of either kind of memory.
        var (last, wide, high, stride) = (Int32(0), Int32(0), Int32(0), Int32(0))
        if unsafe config.output.colorspace == MODE_RGBA {
            _ = unsafe WebPIDecGetRGB(decoder, &last, &wide, &high, &stride)
        } else {
            _ = unsafe WebPIDecGetYUVA(decoder, &last, nil, nil, nil, &wide, &high, &stride, nil, nil)
        }
        return (min(max(Int(last), 0), size.height), status == VP8_STATUS_SUSPENDED ? .ends : .damaged)
    }
}
