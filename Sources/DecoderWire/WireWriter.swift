/// Puts fields of a message one after the other: integers little-endian, text with its length in front.
struct WireWriter {
    private(set) var bytes: [UInt8] = []

    mutating func put<Integer: FixedWidthInteger & Sendable>(_ value: Integer) {
        for shift in stride(from: 0, to: Integer.bitWidth, by: 8) {
            bytes.append(UInt8(truncatingIfNeeded: value >> Integer(shift)))
        }
    }

    mutating func put(_ value: Bool) { put(UInt8(value ? 1 : 0)) }
    mutating func put(_ value: Double) { put(value.bitPattern) }

    /// Cut to ``Wire/textLimit`` characters, so that no text can make a message too long.
    mutating func put(_ text: String) {
        let content = Array(String(text.unicodeScalars.prefix(Wire.textLimit)).utf8)
        put(UInt16(content.count))
        bytes += content
    }

    mutating func put<Value>(optional value: Value?, _ body: (inout WireWriter, Value) -> Void) {
        put(value != nil)
        if let value { body(&self, value) }
    }
}
