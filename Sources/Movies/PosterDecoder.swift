import CFFmpeg
package import Codecs
package import PhotoModel

/// Makes a movie's poster: its first key frame that is not nearly black, of the first seconds, upright. The same movie
/// always gives the same frame.
///
/// Not for several threads at once. Starts no thread, opens no file, reads only the descriptor it is lent.
package final class PosterDecoder {
    private let composer: FrameComposer
    private let converter = FrameConverter()

    /// How far it looks for a frame that is not black.
    private static let seconds = 5.0
    /// Packets that are read for it at most: 5 s of a movie with many tracks.
    private static let mostPackets = 4000

    /// - Throws: `.memory`.
    package init() throws(CodecFailure) {
        // What the libraries think of a damaged movie is for nobody to read.
        av_log_set_level(AV_LOG_QUIET)
        composer = try FrameComposer()
    }

    package static var version: String { unsafe "ffmpeg " + String(cString: shim_av_version()) }

    package func trim(to limit: Int) { composer.trim(to: limit) }

    /// - Throws: `.corrupt`, `.truncated`, `.unsupported`, `.tooLarge`, `.encode`, `.memory`.
    package func preview(
        of file: Int32, size: Int64, type: MediaType, spec: PreviewSpec
    ) throws(CodecFailure) -> EncodedPreview {
        var movie = try MovieFile(file: file, size: size)
        try movie.open(type, maxPixels: spec.maxPixels)
        var fallback: EncodedPreview?
        var left = Self.mostPackets
        while try movie.next(&left) {
            guard let frame = unsafe movie.frame else { break }
            let isKey = unsafe frame.pointee.key_frame != 0
            if fallback != nil, movie.frameTime.map({ $0 > Self.seconds }) ?? false { break }
            // Until the first key frame is there, anything else is better than nothing.
            guard isKey || fallback == nil else { continue }
            let planes = try unsafe converter.planes(of: frame)
            let picture = try composer.preview(
                planes, orientation: movie.orientation, pixelAspect: movie.pixelAspect, spec: spec)
            guard isKey else {
                fallback = picture
                continue
            }
            guard planes.isNearlyBlack else { return picture }
            fallback = picture
            movie.skipToKeyFrames()
            break
        }
        // Black: from here on only key frames are decoded.
        while fallback != nil, try movie.next(&left) {
            guard let frame = unsafe movie.frame, movie.frameTime.map({ $0 <= Self.seconds }) ?? true else { break }
            let planes = try unsafe converter.planes(of: frame)
            if unsafe frame.pointee.key_frame == 0 || planes.isNearlyBlack { continue }
            return try composer.preview(
                planes, orientation: movie.orientation, pixelAspect: movie.pixelAspect, spec: spec)
        }
        guard let fallback else { throw CodecFailure(.truncated, "the movie ends before its first picture") }
        return fallback
    }
}
