/// Ids that sort by the time they were made (RFC 9562, section 5.7).
package enum UUIDv7 {
    /// - Parameters:
    ///   - milliseconds: since 1970, of which 48 bits count.
    ///   - random: ten random bytes; only the first ten are used, missing ones count as zero.
    package static func make(milliseconds: UInt64, random: [UInt8]) -> String {
        var bytes: [UInt8] = (0..<6).map { UInt8(truncatingIfNeeded: milliseconds >> UInt64(40 - 8 * $0)) }
        bytes += random.prefix(10)
        bytes += Array(repeating: 0, count: max(0, 16 - bytes.count))
        bytes[6] = bytes[6] & 0x0f | 0x70
        bytes[8] = bytes[8] & 0x3f | 0x80
        let hex = lowercaseHex(bytes)
        var text = ""
        for (position, digit) in hex.enumerated() {
            if [8, 12, 16, 20].contains(position) { text += "-" }
            text.append(digit)
        }
        return text
    }
}
