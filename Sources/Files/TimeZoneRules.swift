import Glibc
import PhotoModel

/// A zone of the system's time zone database (tzfile(5), RFC 8536), for a zone other than the machine's: glibc knows only
/// one at a time. Behind the last change that the file lists, its rule goes on, or, without one, that change's offset.
package struct TimeZoneRules: Sendable {
    /// When the offset changes, seconds since 1970, ascending.
    private let changes: [Int64]
    /// Seconds east from each change on.
    private let offsets: [Int]
    /// Before the first change.
    private let first: Int
    private let footer: TimeZoneFooter?

    /// - Parameter name: IANA's, as `Europe/Berlin`.
    /// - Throws: ``Errno/invalid`` when the file is none of the kind.
    package init(named name: String) throws(Errno) {
        let number = unsafe open("/usr/share/zoneinfo/" + name, O_RDONLY | O_CLOEXEC)
        guard number >= 0 else { throw Errno.last }
        let bytes = try Descriptor(adopting: number).readAll(limit: 1 << 20)
        guard let rules = TimeZoneRules(bytes) else { throw .invalid }
        self = rules
    }

    /// nil when it is no file of version 2 or later, which has times of 64 bits behind those of 32.
    init?(_ bytes: [UInt8]) {
        func number(_ at: Int, _ width: Int) -> Int64? {
            guard at >= 0, at + width <= bytes.count else { return nil }
            let bits = bytes[at..<at + width].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            return width == 8 ? Int64(bitPattern: bits) : Int64(Int32(truncatingIfNeeded: bits))
        }
        /// Of a header: how many of UTC marks, standard marks, leap seconds, changes, kinds and letters follow it.
        func counts(_ at: Int) -> [Int]? {
            guard bytes.count >= at + 44, bytes[at..<at + 4].elementsEqual("TZif".utf8) else { return nil }
            let counts = (0..<6).compactMap { number(at + 20 + $0 * 4, 4).map { Int($0) } }
            return counts.allSatisfy { (0...1 << 16).contains($0) } ? counts : nil
        }
        guard bytes.count > 44, bytes[4] >= UInt8(ascii: "2"), let short = counts(0) else { return nil }
        let start = 44 + short[3] * 5 + short[4] * 6 + short[5] + short[2] * 8 + short[1] + short[0]
        guard let long = counts(start) else { return nil }
        let times = start + 44
        let kinds = times + long[3] * 8
        let table = kinds + long[3]
        let east = (0..<long[4]).compactMap { number(table + $0 * 6, 4).map { Int($0) } }
        let changes = (0..<long[3]).compactMap { number(times + $0 * 8, 8) }
        guard let first = east.first, east.count == long[4], changes.count == long[3], table <= bytes.count else {
            return nil
        }
        let offsets = bytes[kinds..<table].compactMap { Int($0) < east.count ? east[Int($0)] : nil }
        guard offsets.count == changes.count else { return nil }
        let end = table + long[4] * 6 + long[5] + long[2] * 12 + long[1] + long[0]
        let line = bytes.dropFirst(end).dropFirst().prefix { $0 != UInt8(ascii: "\n") }
        footer = bytes.dropFirst(end).first == UInt8(ascii: "\n") ? TimeZoneFooter(line) : nil
        self.changes = changes
        self.offsets = offsets
        self.first = first
    }

    /// Seconds east of UTC at a time in seconds since 1970.
    package func offset(at seconds: Int64) -> Int {
        var (low, high) = (0, changes.count)  // the first change that is later
        while low < high {
            let middle = (low + high) / 2
            if changes[middle] <= seconds { low = middle + 1 } else { high = middle }
        }
        if low == changes.count, let footer { return footer.offset(at: seconds) }
        return low == 0 ? first : offsets[low - 1]
    }
}
