/// A pattern for names, as in gitignore(5): `*` and `?` stop at a slash, `**` does not, `[a-z]` and `[!a-z]` are sets,
/// `\` takes the next byte as it is. Without a slash it is held against the name, with one against the whole path below
/// the drop folder; a slash at the end means folders only. Upper and lower case of ASCII letters are the same, because
/// cards and shares do not keep them apart.
///
/// Matching takes time proportional to pattern times name at worst, whatever the pattern.
package struct Glob: Hashable, Sendable {
    package let text: String
    private let isForFolders: Bool
    private let isForPath: Bool
    private let steps: [Step]

    private enum Step: Hashable, Sendable {
        case byte(UInt8)
        case anyByte
        case set(ByteSet, negated: Bool)
        case star
        case doubleStar
        /// `**/`: any number of whole folders, none too.
        case folders
    }

    /// nil when the pattern is empty or a set in it is not closed.
    package init?(_ text: String) {
        var bytes = Array(text.utf8)
        self.text = text
        isForFolders = bytes.last == UInt8(ascii: "/")
        if isForFolders { bytes.removeLast() }
        let isAnchored = bytes.first == UInt8(ascii: "/")
        if isAnchored { bytes.removeFirst() }
        isForPath = isAnchored || bytes.contains(UInt8(ascii: "/"))
        guard !bytes.isEmpty, let steps = Self.steps(of: bytes) else { return nil }
        self.steps = steps
    }

    /// `path` is the file's path below the drop folder, `name` its last component.
    package func matches(name: Path, path: Path, isFolder: Bool) -> Bool {
        if isForFolders && !isFolder { return false }
        return matches((isForPath ? path : name).bytes)
    }

    /// Follows all ways through the pattern at once: `live[n]` while the first n steps match what was read.
    private func matches(_ bytes: [UInt8]) -> Bool {
        var live = [Bool](repeating: false, count: steps.count + 1)
        enter(0, &live)
        for raw in bytes {
            let byte = Self.folded(raw)
            let isSlash = byte == UInt8(ascii: "/")
            var next = [Bool](repeating: false, count: steps.count + 1)
            for (place, step) in steps.enumerated() where live[place] {
                switch step {
                case .byte(let wanted): if wanted == byte { enter(place + 1, &next) }
                case .anyByte: if !isSlash { enter(place + 1, &next) }
                case .set(let set, let negated):
                    if !isSlash && set.contains(byte) != negated { enter(place + 1, &next) }
                case .star: if !isSlash { enter(place, &next) }
                case .doubleStar: enter(place, &next)
                case .folders:
                    next[place] = true
                    if isSlash { enter(place + 1, &next) }
                }
            }
            guard next.contains(true) else { return false }
            live = next
        }
        return live[steps.count]
    }

    /// Marks a place as reached, and those behind it that a star lets through without a byte.
    private func enter(_ place: Int, _ live: inout [Bool]) {
        live[place] = true
        guard place < steps.count else { return }
        switch steps[place] {
        case .star, .doubleStar, .folders: enter(place + 1, &live)
        case .byte, .anyByte, .set: return
        }
    }

    private static func folded(_ byte: UInt8) -> UInt8 { (0x41...0x5A).contains(byte) ? byte | 0x20 : byte }

    private static func steps(of bytes: [UInt8]) -> [Step]? {
        var steps: [Step] = []
        var place = 0
        while place < bytes.count {
            let byte = bytes[place]
            place += 1
            switch byte {
            case UInt8(ascii: "*"):
                let isFirstInComponent = place == 1 || bytes[place - 2] == UInt8(ascii: "/")
                let rest = bytes[place...].drop { $0 == UInt8(ascii: "*") }
                let isDouble = rest.startIndex > place
                place = rest.startIndex
                if isDouble, isFirstInComponent, rest.first == UInt8(ascii: "/") {
                    place += 1
                    steps.append(.folders)
                } else {
                    steps.append(isDouble ? .doubleStar : .star)
                }
            case UInt8(ascii: "?"): steps.append(.anyByte)
            case UInt8(ascii: "["):
                guard let set = set(of: bytes, from: &place) else { return nil }
                steps.append(set)
            case UInt8(ascii: "\\") where place < bytes.count:
                steps.append(.byte(folded(bytes[place])))
                place += 1
            default: steps.append(.byte(folded(byte)))
            }
        }
        return steps
    }

    private static func set(of bytes: [UInt8], from place: inout Int) -> Step? {
        var set = ByteSet()
        var isNegated = false
        if place < bytes.count, bytes[place] == UInt8(ascii: "!") || bytes[place] == UInt8(ascii: "^") {
            isNegated = true
            place += 1
        }
        var isFirst = true
        while place < bytes.count, isFirst || bytes[place] != UInt8(ascii: "]") {
            isFirst = false
            let low = bytes[place]
            var high = low
            if place + 2 < bytes.count, bytes[place + 1] == UInt8(ascii: "-"), bytes[place + 2] != UInt8(ascii: "]") {
                high = bytes[place + 2]
                place += 2
            }
            place += 1
            guard low <= high else { continue }
            for byte in low...high { set.insert(folded(byte)) }
        }
        guard place < bytes.count else { return nil }
        place += 1
        return .set(set, negated: isNegated)
    }
}

/// A set of bytes in 32 bytes.
struct ByteSet: Hashable, Sendable {
    private var low: UInt128 = 0
    private var high: UInt128 = 0

    mutating func insert(_ byte: UInt8) {
        if byte < 128 { low |= 1 << UInt128(byte) } else { high |= 1 << UInt128(byte - 128) }
    }

    func contains(_ byte: UInt8) -> Bool {
        byte < 128 ? low & (1 << UInt128(byte)) != 0 : high & (1 << UInt128(byte - 128)) != 0
    }
}
