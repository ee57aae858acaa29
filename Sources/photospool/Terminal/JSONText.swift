/// JSON from the service, made fit for where it goes: the values are not touched.
enum JSONText {
    /// Characters that could steer a terminal or turn text around are written as `\uXXXX`, which means the same. Such
    /// characters stand only inside strings, for JSON allows nothing of the kind elsewhere.
    static func safe(_ bytes: [UInt8]) -> [UInt8] {
        guard bytes.contains(where: { $0 >= 0x7F }) else { return bytes }
        var result: [UInt8] = []
        for scalar in String(decoding: bytes, as: UTF8.self).unicodeScalars {
            if scalar.value >= 0x7F, isHarmful(scalar) {
                for unit in String(scalar).utf16 {
                    let hex = String(unit, radix: 16)
                    result += Array(("\\u" + String(repeating: "0", count: 4 - hex.count) + hex).utf8)
                }
            } else {
                result += Array(String(scalar).utf8)
            }
        }
        return result
    }

    /// One field a line, two spaces a level, for a person who asked for JSON.
    static func indented(_ bytes: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        var depth = 0
        var isString = false
        var isEscaped = false
        func newline() {
            result.append(0x0A)
            result += repeatElement(0x20, count: 2 * depth)
        }
        for (position, byte) in bytes.enumerated() {
            if isString {
                result.append(byte)
                if isEscaped {
                    isEscaped = false
                } else if byte == UInt8(ascii: "\\") {
                    isEscaped = true
                } else if byte == UInt8(ascii: "\"") {
                    isString = false
                }
                continue
            }
            switch byte {
            case 0x20, 0x09, 0x0A, 0x0D: continue
            case UInt8(ascii: "\""):
                isString = true
                result.append(byte)
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                result.append(byte)
                depth += 1
                let next = bytes[(position + 1)...].first { $0 > 0x20 }
                if next != UInt8(ascii: "}") && next != UInt8(ascii: "]") { newline() }
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                depth = max(0, depth - 1)
                if let last = result.last, last != UInt8(ascii: "{"), last != UInt8(ascii: "[") { newline() }
                result.append(byte)
            case UInt8(ascii: ","):
                result.append(byte)
                newline()
            case UInt8(ascii: ":"): result += [byte, 0x20]
            default: result.append(byte)
            }
        }
        return result
    }

    private static func isHarmful(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }
}

extension Console {
    /// One JSON document: a line of its own in a pipe, indented for a person.
    func print(json bytes: [UInt8]) {
        let safe = JSONText.safe(bytes)
        print(bytes: output.isTerminal ? JSONText.indented(safe) : safe.filter { $0 != 0x0A })
        print()
    }
}
