/// Values of a JSON text (RFC 8259) by where they stand, without a tree of it: `geoData/latitude`. Lenient, for nothing
/// depends on the rest of the text; of a value that stands twice the first counts.
enum JSONWalk {
    static let limit = 1 << 20
    private static let deepest = 64

    /// - Returns: the wanted values that are there: texts without their quotes and escapes, everything else as it stands.
    static func values(_ bytes: [UInt8], wanted: Set<String>) -> [String: String] {
        var found: [String: String] = [:]
        var names: [String] = []  // of what is open
        var key: String?
        var isObject: [Bool] = []
        var position = 0
        func take(_ text: String) {
            // What is wanted lies near the top.
            if let name = key, isObject.last == true, names.count <= 4 {
                let path = (names.dropFirst() + [name]).joined(separator: "/")
                if wanted.contains(path), found[path] == nil { found[path] = text }
            }
            key = nil
        }
        while position < bytes.count {
            let byte = bytes[position]
            position += 1
            switch byte {
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                guard names.count < deepest else { return found }
                // What lies in a list has no name of its own.
                names.append(isObject.last == false ? "[]" : key ?? "")
                isObject.append(byte == UInt8(ascii: "{"))
                key = nil
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                guard !names.isEmpty else { return found }
                names.removeLast()
                isObject.removeLast()
                key = nil
            case UInt8(ascii: "\""):
                let text = text(bytes, &position)
                if key == nil, isObject.last == true { key = text } else { take(text) }
            case 0x20, 0x09, 0x0A, 0x0D, UInt8(ascii: ","), UInt8(ascii: ":"): break
            default:
                let rest = bytes[position...].prefix { !Array("{}[]\",: \t\r\n".utf8).contains($0) }
                position += rest.count
                take(String(decoding: [byte] + rest, as: UTF8.self))
            }
        }
        return found
    }

    /// From behind the first quote to behind the second one. Escapes are left out: no wanted value has any.
    private static func text(_ bytes: [UInt8], _ position: inout Int) -> String {
        var text: [UInt8] = []
        while position < bytes.count {
            let byte = bytes[position]
            position += 1
            if byte == UInt8(ascii: "\"") { break }
            if byte == UInt8(ascii: "\\") { position += 1 } else { text.append(byte) }
        }
        return String(decoding: text, as: UTF8.self)
    }
}
