/// The order people expect of file names: folder first, then name, numbers compared as numbers (`IMG_2` before
/// `IMG_10`), everything else by bytes.
package enum NaturalOrder {
    /// Bytes whose plain order (memcmp(3), and so a BLOB index of SQLite) is the natural order of the paths.
    ///
    /// Each component of the folder ends in 0, a further 0 ends the folder, so that the files of a folder come before
    /// those of its sub-folders. A run of digits becomes `0`, its count of significant digits, and those digits: `0`
    /// keeps numbers where digits stand among bytes, the count makes the longer number the larger one. Leading zeros
    /// decide only between names that are otherwise equal.
    package static func key(of path: Path) -> [UInt8] {
        var key: [UInt8] = []
        var zeros: [UInt8] = []
        key.reserveCapacity(path.bytes.count + 16)
        for component in path.parent.components {
            append(component.bytes, to: &key, zeros: &zeros)
            key.append(0)
        }
        key.append(0)
        append(path.name.bytes, to: &key, zeros: &zeros)
        if zeros.contains(where: { $0 > 0 }) {
            key.append(0)
            key += zeros
        }
        return key
    }

    package static func precedes(_ left: Path, _ right: Path) -> Bool {
        key(of: left).lexicographicallyPrecedes(key(of: right))
    }

    private static func append(_ name: [UInt8], to key: inout [UInt8], zeros: inout [UInt8]) {
        var position = 0
        while position < name.count {
            guard isDigit(name[position]) else {
                key.append(name[position])
                position += 1
                continue
            }
            let end = name[position...].firstIndex { !isDigit($0) } ?? name.count
            let significant = name[position..<end].drop { $0 == UInt8(ascii: "0") }
            // A name has at most 255 bytes (NAME_MAX), so the count fits; a longer one only loses its exact place.
            key.append(UInt8(ascii: "0"))
            key.append(UInt8(min(significant.count, 255)))
            key += significant
            zeros.append(UInt8(min(end - position - significant.count, 255)))
            position = end
        }
    }

    private static func isDigit(_ byte: UInt8) -> Bool { byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") }
}
