import CFFmpeg
import Codecs
import Glibc
import PhotoModel

/// The bytes of a movie as FFmpeg reads them: by pread(2) from the descriptor that the daemon handed over. No name is
/// opened, and no protocol of FFmpeg's is used.
///
/// Safe: what C holds goes back with its owner, and nobody else has it.
@safe struct MovieInput: ~Copyable {
    /// What the callbacks work on.
    private struct State {
        let file: Int32
        let size: Int64
        var position: Int64 = 0
        /// Bytes that may still be read: a crafted file cannot make a poster read for ever.
        var budget: Int64 = 1 << 30
    }

    private let state: UnsafeMutablePointer<State>
    let context: UnsafeMutablePointer<AVIOContext>

    /// - Throws: `.memory`.
    init(file: Int32, size: Int64) throws(CodecFailure) {
        let state = UnsafeMutablePointer<State>.allocate(capacity: 1)
        unsafe state.initialize(to: State(file: file, size: size))
        let count = 64 << 10
        guard let buffer = unsafe av_malloc(count),
            let context = unsafe avio_alloc_context(
                buffer.assumingMemoryBound(to: UInt8.self), Int32(count), 0, state, Self.read, nil, Self.seek)
        else {
            unsafe state.deallocate()
            throw CodecFailure(.memory, "no memory for a movie")
        }
        unsafe self.state = unsafe state
        unsafe self.context = unsafe context
    }

    deinit {
        // FFmpeg may have exchanged the buffer.
        unsafe av_free(context.pointee.buffer)
        unsafe context.pointee.buffer = nil
        var context: UnsafeMutablePointer<AVIOContext>? = unsafe context
        unsafe avio_context_free(&context)
        unsafe state.deallocate()
    }

    private static let read: @convention(c) (UnsafeMutableRawPointer?, UnsafeMutablePointer<UInt8>?, Int32) -> Int32 = {
        unsafe fill($0, $1, $2)
    }

    private static func fill(
        _ opaque: UnsafeMutableRawPointer?, _ buffer: UnsafeMutablePointer<UInt8>?, _ count: Int32
    ) -> Int32 {
        guard let state = unsafe opaque?.assumingMemoryBound(to: State.self), let buffer = unsafe buffer, count > 0
        else {
            return shim_AVERROR_IO
        }
        let left = unsafe min(Int64(count), state.pointee.size - state.pointee.position, state.pointee.budget)
        guard left > 0 else { return shim_AVERROR_EOF }
        while true {
            let got = unsafe pread(state.pointee.file, buffer, Int(left), off_t(state.pointee.position))
            if got < 0, errno == EINTR { continue }
            if got < 0 { return shim_AVERROR_IO }
            if got == 0 { return shim_AVERROR_EOF }
            unsafe state.pointee.position += Int64(got)
            unsafe state.pointee.budget -= Int64(got)
            return Int32(got)
        }
    }

    private static let seek: @convention(c) (UnsafeMutableRawPointer?, Int64, Int32) -> Int64 = {
        unsafe move($0, $1, $2)
    }

    private static func move(_ opaque: UnsafeMutableRawPointer?, _ offset: Int64, _ whence: Int32) -> Int64 {
        guard let state = unsafe opaque?.assumingMemoryBound(to: State.self) else { return Int64(shim_AVERROR_IO) }
        let base: Int64
        switch whence & ~AVSEEK_FORCE {
        case AVSEEK_SIZE: return unsafe state.pointee.size
        case SEEK_SET: base = 0
        case SEEK_CUR: base = unsafe state.pointee.position
        case SEEK_END: base = unsafe state.pointee.size
        default: return Int64(shim_AVERROR_IO)
        }
        let (target, overflow) = base.addingReportingOverflow(offset)
        guard !overflow, target >= 0 else { return Int64(shim_AVERROR_IO) }
        unsafe state.pointee.position = target
        return target
    }
}
