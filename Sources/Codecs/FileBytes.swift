import Glibc
import Metadata

/// The bytes of a whole file, lent for one call. Every read is checked; nothing outside is ever touched.
///
/// Safe as long as it does not outlive the call that lent the memory: ``StillDecoder`` makes one for the file and
/// ``PNGRepair`` one for its copy, and no codec keeps it.
@safe struct FileBytes {
    let memory: UnsafeRawBufferPointer

    init(lending memory: UnsafeRawBufferPointer) { unsafe self.memory = memory }

    var count: Int { unsafe memory.count }

    func byte(at offset: Int) -> Int? {
        guard offset >= 0, offset < count else { return nil }
        return unsafe Int(memory[offset])
    }

    /// For the walkers of Metadata; good as long as this is.
    var source: ByteSource {
        ByteSource(size: Int64(count), budget: .max) { offset, count in
            bytes(Int(offset)..<min(self.count, Int(offset) + count)) ?? []
        }
    }

    /// Big-endian, as JPEG, PNG, ISO-BMFF and ICC all have it; `width` is 1...4 bytes.
    func number(at offset: Int, width: Int) -> Int? {
        guard offset >= 0, offset <= count - width else { return nil }
        var value = 0
        for position in offset..<offset + width { value = unsafe value << 8 | Int(memory[position]) }
        return value
    }

    func bytes(_ range: Range<Int>) -> [UInt8]? {
        guard range.lowerBound >= 0, range.upperBound <= count else { return nil }
        return unsafe Array(memory[range])
    }

    func holds(_ text: StaticString, at offset: Int) -> Bool {
        guard offset >= 0, offset <= count - text.utf8CodeUnitCount else { return false }
        for position in 0..<text.utf8CodeUnitCount {
            if unsafe memory[offset + position] != text.utf8Start[position] { return false }
        }
        return true
    }

    /// Anywhere.
    func contains(_ text: StaticString) -> Bool {
        guard let base = unsafe memory.baseAddress, text.utf8CodeUnitCount > 0 else { return false }
        var at = 0
        while at < count, let hit = unsafe memchr(base + at, Int32(text.utf8Start[0]), count - at) {
            at = unsafe UnsafeRawPointer(hit) - base
            if holds(text, at: at) { return true }
            at += 1
        }
        return false
    }
}
