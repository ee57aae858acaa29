import CTurboJPEG
import Metadata
package import PhotoModel

/// Makes previews of stills: bytes in, upright JPEG out. Keep one per process and hand it photo after photo: its buffers
/// and colour conversions are used again.
///
/// Not for several threads at once. Opens no file, starts no thread, and reads nothing outside the bytes it is lent.
package final class StillDecoder {
    private let composer: PreviewComposer
    private let jpeg: JPEGDecoder
    private let png = PNGDecoder()
    private let webp = WebPDecoder()
    private let tiff = TIFFDecoder()
    private let gif = GIFDecoder()
    private let jxl = JXLDecoder()
    private let avif = AVIFDecoder()
    private let heif = HEIFDecoder()
    private let raw: RAWDecoder

    /// Buffers that one huge photo made larger than this go back to the system after it.
    package static let keptBuffer = 64 << 20

    /// - Throws: `.memory`.
    package init() throws(CodecFailure) {
        Self.keepFreedMemory()
        composer = try PreviewComposer()
        jpeg = try JPEGDecoder()
        raw = RAWDecoder(jpeg: jpeg)
    }

    /// - Parameters:
    ///   - bytes: the whole file.
    ///   - type: by content.
    ///   - orientation: the EXIF tag's value; ignored where the container turns its pictures itself (HEIF, AVIF, JPEG XL).
    /// - Throws: `.corrupt`, `.truncated` (nothing of the picture is there), `.unsupported`, `.tooLarge`, `.encode`,
    ///   `.memory`.
    package func preview(
        of bytes: RawSpan, type: MediaType, orientation: Int, spec: PreviewSpec
    ) throws(CodecFailure) -> EncodedPreview {
        defer { trim() }
        return try unsafe bytes.withUnsafeBytes { memory throws(CodecFailure) in
            try preview(of: unsafe FileBytes(lending: memory), type: type, orientation: orientation, spec: spec)
        }
    }

    /// With a decoder of its own, for a single photo.
    package static func preview(
        of bytes: RawSpan, type: MediaType, orientation: Int, spec: PreviewSpec
    ) throws(CodecFailure) -> EncodedPreview {
        try StillDecoder().preview(of: bytes, type: type, orientation: orientation, spec: spec)
    }

    private func preview(
        of file: FileBytes, type: MediaType, orientation: Int, spec: PreviewSpec
    ) throws(CodecFailure) -> EncodedPreview {
        guard file.count > 0 else { throw CodecFailure(.corrupt, "the file is empty") }
        composer.carried = spec.export.map { _ in CarriedMetadata(of: file.source, type: type) }
        switch type {
        case .jpeg:
            return try composer.compose(jpeg.decode(file, orientation: orientation, spec: spec), spec: spec)
        case .png:
            return try composer.compose(png.decode(file, orientation: orientation, spec: spec), spec: spec)
        case .webp:
            return try composer.compose(webp.decode(file, orientation: orientation, spec: spec), spec: spec)
        case .tiff:
            return try composer.compose(tiff.decode(file, orientation: orientation, spec: spec), spec: spec)
        case .gif:
            return try composer.compose(gif.decode(file, orientation: orientation, spec: spec), spec: spec)
        case .jpegXL: return try composer.compose(jxl.decode(file, spec: spec), spec: spec)
        case .avif: return try avifPreview(of: file, spec: spec)
        case .heic, .heif: return try heif.preview(of: file, spec: spec, composer: composer)
        case .raw:
            return try composer.compose(raw.decode(file, orientation: orientation, spec: spec), spec: spec)
        default:
            throw CodecFailure(.unsupported, "there is no decoder for \(type.rawValue)")
        }
    }

    /// libavif reads few of the structures that the container can have; those that it leaves are libheif's.
    private func avifPreview(of file: FileBytes, spec: PreviewSpec) throws(CodecFailure) -> EncodedPreview {
        do throws(CodecFailure) {
            return try avif.preview(of: file, spec: spec, composer: composer)
        } catch {
            guard error.code == .unsupported else { throw error }
            do throws(CodecFailure) {
                return try heif.preview(of: file, isAVIF: true, spec: spec, composer: composer)
            } catch let further {
                // Who knows less of the file cannot call it damaged.
                throw [.corrupt, .unsupported].contains(further.code) ? error : further
            }
        }
    }

    /// The libraries take and give back tens of megabytes for every photo. Kept in the process instead of given to the
    /// system each time, a progressive 12 MP photo takes a fifth less time.
    private static func keepFreedMemory() {
        shim_keep_freed_memory(32 << 20, Int32(keptBuffer))  // 32 MiB is the most that glibc takes
    }

    private func trim() {
        composer.trim(to: Self.keptBuffer)
        jpeg.trim(to: Self.keptBuffer)
        png.trim(to: Self.keptBuffer)
        webp.trim(to: Self.keptBuffer)
        tiff.trim(to: Self.keptBuffer)
        gif.trim(to: Self.keptBuffer)
        jxl.trim(to: Self.keptBuffer)
        avif.trim(to: Self.keptBuffer)
        heif.trim(to: Self.keptBuffer)
        raw.trim(to: Self.keptBuffer)
    }
}
