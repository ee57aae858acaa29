import Codecs
import DecoderHost
import PhotoModel

/// Stills are taken into memory whole, one after the other into the same.
struct StillWork: DecoderWork {
    /// A file larger than this is not taken into memory to be decoded; inspecting one reads only parts.
    static let fileLimit: Int64 = 1 << 30

    private let decoder: StillDecoder
    private let memory = PlaneBuffer()

    init() throws(CodecFailure) { decoder = try StillDecoder() }

    func preview(
        of input: Int32, size: Int64, type: MediaType, orientation: Int, spec: PreviewSpec
    ) throws(CodecFailure) -> EncodedPreview {
        defer { memory.trim(to: StillDecoder.keptBuffer) }
        guard size <= Self.fileLimit else {
            throw CodecFailure(.tooLarge, "the file has \(size) bytes, more than \(Self.fileLimit) cannot be decoded")
        }
        let buffer: UnsafeMutableRawBufferPointer
        do throws(CodecFailure) {
            unsafe buffer = UnsafeMutableRawBufferPointer(start: try memory.reserve(Int(size)), count: Int(size))
        } catch {
            throw CodecFailure(.tooLarge, "the file does not fit into a decoder's memory")
        }
        guard unsafe readFully(input, into: buffer, at: 0) == Int(size) else {
            throw CodecFailure(.libraryIO, "the staged copy could not be read to its end")
        }
        return try decoder.preview(
            of: unsafe UnsafeRawBufferPointer(buffer).bytes, type: type, orientation: orientation, spec: spec)
    }
}
