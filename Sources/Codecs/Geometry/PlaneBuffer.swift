import Glibc
import PhotoModel

/// Memory that is used again from one photo to the next: first touch of fresh pages is a tenth of a preview's time
/// (12 MP: 44 ms without reuse, 40 with). What it held is lost at the next ``reserve(_:)``.
@safe final class PlaneBuffer {
    private var memory: UnsafeMutableRawPointer?
    private var capacity = 0

    deinit { unsafe free(memory) }

    /// Room for `count` bytes, aligned for any vector load, valid until the next call or ``trim(to:)``.
    ///
    /// - Throws: `.memory` when the system has no more, `.tooLarge` for a size nobody can mean.
    func reserve(_ count: Int) throws(CodecFailure) -> UnsafeMutablePointer<UInt8> {
        guard count >= 0, count < 1 << 40 else { throw CodecFailure(.tooLarge, "the picture is too large to decode") }
        if unsafe count > capacity || memory == nil {
            unsafe free(memory)
            unsafe memory = nil
            capacity = 0
            let rounded = (max(count, 1) + 4095) & ~4095
            guard let fresh = unsafe aligned_alloc(64, rounded) else {
                throw CodecFailure(.memory, "no memory for \(rounded) bytes of picture")
            }
            unsafe memory = fresh
            capacity = rounded
        }
        guard let memory = unsafe memory else { throw CodecFailure(.memory, "no memory for a picture") }
        return unsafe memory.assumingMemoryBound(to: UInt8.self)
    }

    /// Gives the memory back if it is more than `limit` bytes, so that one huge photo is not paid for ever.
    func trim(to limit: Int) {
        guard capacity > limit else { return }
        unsafe free(memory)
        unsafe memory = nil
        capacity = 0
    }
}
