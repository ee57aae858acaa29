/// Random access to a file's bytes that costs no more than it must: a 4 GB video is looked at in a few windows of 64 KiB.
///
/// Reading past the end, or past the budget, gives fewer bytes or none, never an error: a walker that gets too few stops,
/// and the facts it was after stay unknown. Not Sendable: one inspection, one thread.
package final class ByteSource {
    package let size: Int64
    /// Bytes that may still be loaded. A crafted file cannot make an inspection read for ever.
    private var budget: Int
    private let load: (_ offset: Int64, _ count: Int) -> [UInt8]
    private var window: [UInt8] = []
    private var windowStart: Int64 = 0
    private static let windowSize = 64 << 10

    /// - Parameter load: the bytes at an offset: as many as asked for, fewer only at the end or on an error.
    package init(size: Int64, budget: Int = 64 << 20, load: @escaping (Int64, Int) -> [UInt8]) {
        self.size = size
        self.budget = budget
        self.load = load
    }

    package convenience init(_ bytes: [UInt8]) {
        self.init(size: Int64(bytes.count), budget: .max) { offset, count in
            Array(bytes[Int(offset)..<min(bytes.count, Int(offset) + count)])
        }
    }

    /// The bytes from `offset` on, fewer than `count` when there are not so many.
    package func bytes(at offset: Int64, count: Int) -> [UInt8] {
        guard offset >= 0, offset < size, count > 0 else { return [] }
        let count = Int(min(Int64(count), size - offset))
        let start = offset - windowStart
        if start >= 0, start + Int64(count) <= Int64(window.count) {
            return Array(window[Int(start)..<Int(start) + count])
        }
        guard count <= ByteSource.windowSize else { return spend(offset, count) }
        window = spend(offset, Int(min(Int64(ByteSource.windowSize), size - offset)))
        windowStart = offset
        return Array(window.prefix(count))
    }

    private func spend(_ offset: Int64, _ count: Int) -> [UInt8] {
        guard count <= budget else { return [] }
        budget -= count
        return load(offset, count)
    }

    /// An unsigned integer of `width` bytes, 1...8; nil past the end.
    package func integer(at offset: Int64, width: Int, bigEndian: Bool = true) -> UInt64? {
        let bytes = bytes(at: offset, count: width)
        return bytes.count == width ? ByteSource.integer(bytes[...], bigEndian: bigEndian) : nil
    }

    static func integer(_ bytes: ArraySlice<UInt8>, bigEndian: Bool) -> UInt64 {
        bigEndian
            ? bytes.reduce(0) { $0 << 8 | UInt64($1) }
            : bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// Whether the bytes at `offset` are those of `text`.
    package func has(_ text: String, at offset: Int64) -> Bool {
        let wanted = Array(text.utf8)
        return bytes(at: offset, count: wanted.count) == wanted
    }

    /// Four characters, as boxes and chunks are named; bytes outside ASCII become U+FFFD.
    package func fourCharacters(at offset: Int64) -> String {
        String(decoding: bytes(at: offset, count: 4), as: UTF8.self)
    }
}
