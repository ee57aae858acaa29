import CFFmpeg
import Codecs
import PhotoModel

/// An opened movie, its first picture track, and the decoder for it. One thread, no other streams.
///
/// Safe: every handle goes back with its owner, in FFmpeg's order; frames are looked at while it lives.
@safe struct MovieFile: ~Copyable {
    private let input: MovieInput
    private var format: UnsafeMutablePointer<AVFormatContext>?
    private var codec: UnsafeMutablePointer<AVCodecContext>?
    private var packet: UnsafeMutablePointer<AVPacket>?
    private(set) var frame: UnsafeMutablePointer<AVFrame>?
    private var stream: UnsafeMutablePointer<AVStream>?
    private var hasEnded = false

    /// By content, as the daemon was told: FFmpeg shall not guess among its hundreds of formats.
    private static func demuxer(of type: MediaType) -> String? {
        switch type {
        case .quicktime, .mp4: "mov"
        case .avi: "avi"
        case .mpegTS: "mpegts"
        case .matroska: "matroska"
        default: nil
        }
    }

    /// - Throws: `.memory`.
    init(file: Int32, size: Int64) throws(CodecFailure) {
        input = try MovieInput(file: file, size: size)
    }

    /// To be called once, before anything else.
    mutating func open(_ type: MediaType, maxPixels: Pixels) throws(CodecFailure) {
        guard let name = Self.demuxer(of: type), let demuxer = unsafe av_find_input_format(name) else {
            throw CodecFailure(.unsupported, "there is no decoder for \(type.rawValue)")
        }
        unsafe format = unsafe avformat_alloc_context()
        guard let context = unsafe format else { throw CodecFailure(.memory, "no memory for a movie") }
        unsafe context.pointee.pb = unsafe input.context
        // A movie may name other files to take its pictures from. None is opened here, and the sandbox has none.
        unsafe av_opt_set(context, "protocol_whitelist", "none", 0)
        // On failure it frees the context itself.
        try unsafe Self.check(avformat_open_input(&format, "", demuxer, nil), "the movie cannot be read")
        // What it cannot find out is found out by decoding.
        unsafe _ = avformat_find_stream_info(format, nil)
        try openDecoder(maxPixels)
    }

    deinit {
        var (frame, packet, codec, format) = unsafe (frame, packet, codec, format)
        unsafe av_frame_free(&frame)
        unsafe av_packet_free(&packet)
        unsafe avcodec_free_context(&codec)
        unsafe avformat_close_input(&format)
    }

    private mutating func openDecoder(_ maxPixels: Pixels) throws(CodecFailure) {
        let number = unsafe av_find_best_stream(format, AVMEDIA_TYPE_VIDEO, -1, -1, nil, 0)
        guard number >= 0, let format = unsafe format, let stream = unsafe shim_stream(format, number) else {
            throw CodecFailure(.truncated, "the movie has no picture track, or ends before it")
        }
        for other in unsafe 0..<Int32(format.pointee.nb_streams) where other != number {
            unsafe shim_stream(format, other)?.pointee.discard = AVDISCARD_ALL
        }
        unsafe self.stream = unsafe stream
        let parameters = unsafe stream.pointee.codecpar
        let (width, height) = unsafe (Int(parameters?.pointee.width ?? 0), Int(parameters?.pointee.height ?? 0))
        guard Int64(width) * Int64(height) <= maxPixels.count else { throw .tooLarge(width, height, limit: maxPixels) }
        let id = unsafe parameters?.pointee.codec_id ?? AV_CODEC_ID_NONE
        guard let decoder = unsafe avcodec_find_decoder(id) else {
            let name = unsafe String(cString: avcodec_get_name(id))
            throw CodecFailure(.unsupported, "the movie is coded as '\(SafeText.of(name))', which cannot be decoded")
        }
        unsafe codec = unsafe avcodec_alloc_context3(decoder)
        unsafe packet = unsafe av_packet_alloc()
        unsafe frame = unsafe av_frame_alloc()
        guard let codec = unsafe codec, unsafe packet != nil, unsafe frame != nil else {
            throw CodecFailure(.memory, "no memory for a movie's decoder")
        }
        try unsafe Self.check(avcodec_parameters_to_context(codec, parameters), "the movie cannot be decoded")
        unsafe codec.pointee.thread_count = 1
        unsafe codec.pointee.max_pixels = maxPixels.count
        unsafe codec.pointee.pkt_timebase = unsafe stream.pointee.time_base
        try unsafe Self.check(avcodec_open2(codec, decoder, nil), "the movie cannot be decoded")
    }

    /// From now on, what is no key frame is passed over.
    mutating func skipToKeyFrames() { unsafe codec?.pointee.skip_frame = AVDISCARD_NONKEY }

    /// Decodes up to the next frame; false at the end of what can be decoded.
    ///
    /// - Parameter packets: how many may still be read; counted down.
    mutating func next(_ packets: inout Int) throws(CodecFailure) -> Bool {
        while true {
            let code = unsafe avcodec_receive_frame(codec, frame)
            if code == 0 { return true }
            if code == shim_AVERROR_MEMORY { throw CodecFailure(.memory, "no memory for a movie's frame") }
            // Damaged frames are passed over: the next may be whole.
            if hasEnded { return false }
            try feed(&packets)
        }
    }

    private mutating func feed(_ packets: inout Int) throws(CodecFailure) {
        while packets > 0, unsafe av_read_frame(format, packet) >= 0 {
            packets -= 1
            defer { unsafe av_packet_unref(packet) }
            guard unsafe packet?.pointee.stream_index == stream?.pointee.index else { continue }
            // Only a packet that makes no sense is refused, for the decoder was emptied before.
            unsafe _ = avcodec_send_packet(codec, packet)
            return
        }
        hasEnded = true
        unsafe _ = avcodec_send_packet(codec, nil)
    }

    /// Seconds since the start of the track; nil when nobody knows.
    var frameTime: Double? {
        guard let frame = unsafe frame, let stream = unsafe stream else { return nil }
        let stamp = unsafe frame.pointee.best_effort_timestamp
        guard stamp != shim_AV_NOPTS_VALUE else { return nil }
        let start = unsafe stream.pointee.start_time == shim_AV_NOPTS_VALUE ? 0 : stream.pointee.start_time
        let base = unsafe stream.pointee.time_base
        guard base.den > 0 else { return nil }
        return Double(stamp &- start) * Double(base.num) / Double(base.den)
    }

    /// Width of a pixel per height.
    var pixelAspect: Double {
        let ratio = unsafe av_guess_sample_aspect_ratio(format, stream, frame)
        guard ratio.num > 0, ratio.den > 0 else { return 1 }
        let aspect = Double(ratio.num) / Double(ratio.den)
        return (0.1...10).contains(aspect) ? aspect : 1
    }

    /// By the track's display matrix: nine numbers of 32 bits, of which the first, second, fourth and fifth say where a
    /// step to the right and a step down lead (ISO/IEC 14496-12, 8.3.2). Turns that are none of the eight are rounded.
    var orientation: Orientation {
        var count = 0
        guard let stream = unsafe stream,
            let bytes = unsafe av_stream_get_side_data(stream, AV_PKT_DATA_DISPLAYMATRIX, &count), count >= 36
        else { return .upright }
        let matrix = UnsafeRawPointer(bytes)
        func value(_ number: Int) -> Int64 {
            Int64(unsafe matrix.loadUnaligned(fromByteOffset: 4 * number, as: Int32.self))
        }
        return Self.orientation(value(0), value(1), value(3), value(4))
    }

    static func orientation(_ a: Int64, _ b: Int64, _ c: Int64, _ d: Int64) -> Orientation {
        if abs(a) + abs(d) >= abs(b) + abs(c) {
            return Orientation(exif: a < 0 ? (d < 0 ? 3 : 2) : (d < 0 ? 4 : 1))
        }
        return Orientation(exif: b < 0 ? (c < 0 ? 7 : 8) : (c < 0 ? 6 : 5))
    }

    private static func check(_ code: Int32, _ what: String) throws(CodecFailure) {
        guard code < 0 else { return }
        if code == shim_AVERROR_MEMORY { throw CodecFailure(.memory, "no memory for a movie") }
        var text = [CChar](repeating: 0, count: 128)
        unsafe _ = av_strerror(code, &text, text.count)
        let words = String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        throw CodecFailure(.corrupt, "\(what): \(SafeText.of(words, limit: 100))")
    }
}
