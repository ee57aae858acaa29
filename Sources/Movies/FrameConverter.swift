import CFFmpeg
import Codecs
import PhotoModel

/// What is in a frame of FFmpeg's, as planes. Planar YCbCr of 8 to 16 bits is used where it lies; everything else (packed,
/// semi-planar, RGB, palettes) is written out anew by swscale, in the size it has.
///
/// Safe: both handles go back with their owner; a frame's planes are looked at while it lives.
@safe final class FrameConverter {
    private var scaler: OpaquePointer?
    private var copy: UnsafeMutablePointer<AVFrame>?

    deinit {
        unsafe sws_freeContext(scaler)
        unsafe av_frame_free(&copy)
    }

    func planes(of frame: UnsafeMutablePointer<AVFrame>) throws(CodecFailure) -> FramePlanes {
        if let planes = try unsafe direct(frame) { return planes }
        return try unsafe converted(frame)
    }

    /// nil when the planes do not lie as needed.
    private func direct(_ frame: UnsafeMutablePointer<AVFrame>) throws(CodecFailure) -> FramePlanes? {
        let format = AVPixelFormat(rawValue: unsafe frame.pointee.format)
        guard let shape = unsafe av_pix_fmt_desc_get(format) else { return nil }
        let flags = unsafe shape.pointee.flags
        let (luma, count) = unsafe (shape.pointee.comp.0, shape.pointee.nb_components)
        let isRGB = flags & UInt64(AV_PIX_FMT_FLAG_RGB) != 0
        let forbidden =
            AV_PIX_FMT_FLAG_BE | AV_PIX_FMT_FLAG_PAL | AV_PIX_FMT_FLAG_BITSTREAM | AV_PIX_FMT_FLAG_HWACCEL
            | AV_PIX_FMT_FLAG_ALPHA | AV_PIX_FMT_FLAG_BAYER | AV_PIX_FMT_FLAG_FLOAT
        guard flags & UInt64(forbidden) == 0, count == 1 || (count == 3 && flags & UInt64(AV_PIX_FMT_FLAG_PLANAR) != 0),
            luma.shift == 0, (8...16).contains(luma.depth), luma.step == (luma.depth > 8 ? 2 : 1)
        else { return nil }
        if count == 3 {
            let (blue, red) = unsafe (shape.pointee.comp.1, shape.pointee.comp.2)
            guard blue.step == luma.step, red.step == luma.step, blue.plane != red.plane, blue.shift == 0,
                red.shift == 0
            else { return nil }
        }
        // FFmpeg's planes of RGB are green, blue, red; its "first" component is red.
        let (width, height) = unsafe (Int(frame.pointee.width), Int(frame.pointee.height))
        let wide = unsafe Int(shape.pointee.log2_chroma_w)
        let high = unsafe Int(shape.pointee.log2_chroma_h)
        let full = PixelSize(width: width, height: height)
        let part = PixelSize(width: (width + (1 << wide) - 1) >> wide, height: (height + (1 << high) - 1) >> high)
        guard
            let first = unsafe FramePlanes.Plane(
                frame.pointee.data.0, stride: Int(frame.pointee.linesize.0), size: full, depth: Int(luma.depth))
        else { return nil }
        var planes = unsafe FramePlanes(first: first, colour: Self.colour(of: frame, shape, isRGB: isRGB))
        if count == 3 {
            guard
                let second = unsafe FramePlanes.Plane(
                    frame.pointee.data.1, stride: Int(frame.pointee.linesize.1), size: part, depth: Int(luma.depth)),
                let third = unsafe FramePlanes.Plane(
                    frame.pointee.data.2, stride: Int(frame.pointee.linesize.2), size: part, depth: Int(luma.depth))
            else { return nil }
            planes.others = (second, third)
            planes.subsampling = (1 << wide, 1 << high)
        }
        planes.isDamaged =
            unsafe frame.pointee.flags & AV_FRAME_FLAG_CORRUPT != 0 || frame.pointee.decode_error_flags != 0
        return planes
    }

    private func converted(_ frame: UnsafeMutablePointer<AVFrame>) throws(CodecFailure) -> FramePlanes {
        let format = AVPixelFormat(rawValue: unsafe frame.pointee.format)
        let (width, height) = unsafe (frame.pointee.width, frame.pointee.height)
        guard let shape = unsafe av_pix_fmt_desc_get(format), width > 0, height > 0 else {
            throw CodecFailure(.unsupported, "the movie's pixels are of an unknown kind")
        }
        let isColour = unsafe shape.pointee.flags & UInt64(AV_PIX_FMT_FLAG_RGB | AV_PIX_FMT_FLAG_PAL) != 0
        let target = isColour ? AV_PIX_FMT_GBRP : AV_PIX_FMT_YUV444P
        unsafe scaler = sws_getCachedContext(
            scaler, width, height, format, width, height, target,
            SWS_POINT | SWS_ACCURATE_RND | SWS_BITEXACT | SWS_FULL_CHR_H_INP, nil, nil, nil)
        guard let scaler = unsafe scaler else {
            throw CodecFailure(.unsupported, "the movie's pixels are of a kind that cannot be converted")
        }
        unsafe av_frame_free(&copy)
        unsafe copy = unsafe av_frame_alloc()
        guard let copy = unsafe copy else { throw CodecFailure(.memory, "no memory for a movie's frame") }
        unsafe copy.pointee.format = target.rawValue
        unsafe copy.pointee.width = width
        unsafe copy.pointee.height = height
        unsafe copy.pointee.colorspace = unsafe frame.pointee.colorspace
        unsafe copy.pointee.color_range = isColour ? AVCOL_RANGE_JPEG : unsafe frame.pointee.color_range
        unsafe copy.pointee.color_primaries = unsafe frame.pointee.color_primaries
        unsafe copy.pointee.color_trc = unsafe frame.pointee.color_trc
        unsafe copy.pointee.decode_error_flags = unsafe frame.pointee.decode_error_flags
        guard unsafe av_frame_get_buffer(copy, 0) == 0 else {
            throw CodecFailure(.memory, "no memory for a movie's frame")
        }
        guard unsafe sws_scale_frame(scaler, copy, frame) >= 0, let planes = try unsafe direct(copy) else {
            throw CodecFailure(.unsupported, "the movie's pixels are of a kind that cannot be converted")
        }
        return planes
    }

    /// FFmpeg's numbers are those of ITU-T H.273. A movie that does not name its matrix has BT.709's from HD on and
    /// BT.601's below, as players have it.
    private static func colour(
        of frame: UnsafeMutablePointer<AVFrame>, _ shape: UnsafePointer<AVPixFmtDescriptor>, isRGB: Bool
    ) -> FramePlanes.Colour {
        let matrix = unsafe Int(frame.pointee.colorspace.rawValue)
        let isHD = unsafe frame.pointee.width >= 1280 || frame.pointee.height > 576
        let format = AVPixelFormat(rawValue: unsafe frame.pointee.format)
        let isJPEG = [
            AV_PIX_FMT_YUVJ420P, AV_PIX_FMT_YUVJ422P, AV_PIX_FMT_YUVJ444P, AV_PIX_FMT_YUVJ440P, AV_PIX_FMT_YUVJ411P,
        ].contains(format)
        let isGrey = unsafe shape.pointee.nb_components == 1
        let range = unsafe frame.pointee.color_range
        return unsafe FramePlanes.Colour(
            matrix: isRGB ? 0 : matrix == 2 || matrix == 0 ? (isHD ? 1 : 6) : matrix,
            isFullRange: isJPEG || range == AVCOL_RANGE_JPEG || (range != AVCOL_RANGE_MPEG && (isRGB || isGrey)),
            primaries: Int(frame.pointee.color_primaries.rawValue), transfer: Int(frame.pointee.color_trc.rawValue))
    }
}
