import PhotoModel

/// Takes fields off a message that may be forged: nothing is believed before it was checked.
struct WireReader {
    private let bytes: [UInt8]
    private var position = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    mutating func take<Integer: FixedWidthInteger & Sendable>(_: Integer.Type = Integer.self) throws(WireFault)
        -> Integer
    {
        let width = Integer.bitWidth / 8
        guard bytes.count - position >= width else { throw .short }
        var value: Integer = 0
        for offset in 0..<width { value |= Integer(truncatingIfNeeded: bytes[position + offset]) << (offset * 8) }
        position += width
        return value
    }

    mutating func takeBool() throws(WireFault) -> Bool {
        switch try take(UInt8.self) {
        case 0: return false
        case 1: return true
        default: throw .outOfRange("flag")
        }
    }

    /// A number that is one: neither infinite nor NaN.
    mutating func takeDouble(in range: ClosedRange<Double>, _ name: String) throws(WireFault) -> Double {
        let value = Double(bitPattern: try take())
        guard range.contains(value) else { throw .outOfRange(name) }
        return value
    }

    mutating func takeInt<Integer: FixedWidthInteger & Sendable>(
        _: Integer.Type, in range: ClosedRange<Int>, _ name: String
    ) throws(WireFault) -> Int {
        guard let value = Int(exactly: try take(Integer.self)), range.contains(value) else { throw .outOfRange(name) }
        return value
    }

    /// Text made harmless; bytes that are not UTF-8 become U+FFFD.
    mutating func takeText() throws(WireFault) -> String {
        let length = Int(try take(UInt16.self))
        guard bytes.count - position >= length else { throw .short }
        defer { position += length }
        return SafeText.of(
            String(decoding: bytes[position..<position + length], as: UTF8.self), limit: Wire.textLimit)
    }

    mutating func takeOptional<Value>(_ body: (inout WireReader) throws(WireFault) -> Value) throws(WireFault)
        -> Value?
    {
        try takeBool() ? try body(&self) : nil
    }

    /// Nothing may follow the last field.
    func finish() throws(WireFault) {
        guard position == bytes.count else { throw .trailingBytes }
    }
}
