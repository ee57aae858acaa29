import Glibc
import PhotoModel

/// Memory that is used again from one photo to the next: first touch of fresh pages is a tenth of a preview's time
/// (12 MP: 44 ms without reuse, 40 with). What it held is lost at the next ``reserve(_:)``.
///
/// Pages of its own, not a part of the heap: there the buffers of photos of several shapes leave holes behind that no
/// later one fills, and a decoder of 12 MP photos keeps 25 MB instead of 17.
@safe package final class PlaneBuffer {
    private var memory: UnsafeMutableRawPointer?
    private var capacity = 0

    package init() {}

    deinit { release() }

    /// Room for `count` bytes, aligned for any vector load, valid until the next call or ``trim(to:)``.
    ///
    /// - Throws: `.memory` when the system has no more, `.tooLarge` for a size nobody can mean.
    package func reserve(_ count: Int) throws(CodecFailure) -> UnsafeMutablePointer<UInt8> {
        guard count >= 0, count < 1 << 40 else { throw CodecFailure(.tooLarge, "the picture is too large to decode") }
        if unsafe count > capacity || memory == nil {
            release()
            let rounded = (max(count, 1) + 4095) & ~4095
            let fresh = unsafe mmap(nil, rounded, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
            guard let fresh = unsafe fresh, unsafe fresh != MAP_FAILED else {
                throw CodecFailure(.memory, "no memory for \(rounded) bytes of picture")
            }
            unsafe memory = fresh
            capacity = rounded
        }
        guard let memory = unsafe memory else { throw CodecFailure(.memory, "no memory for a picture") }
        return unsafe memory.assumingMemoryBound(to: UInt8.self)
    }

    /// Gives the memory back if it is more than `limit` bytes, so that one huge photo is not paid for ever.
    package func trim(to limit: Int) {
        if capacity > limit { release() }
    }

    private func release() {
        if let memory = unsafe memory { unsafe munmap(memory, capacity) }
        unsafe memory = nil
        capacity = 0
    }
}
