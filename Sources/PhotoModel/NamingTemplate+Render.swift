extension NamingTemplate {
    /// What a template is filled with; the same for all files of a shot.
    package struct Shot: Sendable {
        package var capturedAt: WallTime
        package var make: String?
        package var model: String?
        package var lens: String?
        /// The shot's name without extension, as the camera wrote it; bytes in no particular encoding.
        package var stem: Path
        package var drop: String
        package var batch: Batch.ID
        package var sequence: Int64
        /// Of the leading photo.
        package var sha256: SHA256Digest
        package var id: Asset.ID

        package init(
            capturedAt: WallTime, make: String? = nil, model: String? = nil, lens: String? = nil, stem: Path,
            drop: String, batch: Batch.ID, sequence: Int64, sha256: SHA256Digest, id: Asset.ID
        ) {
            self.capturedAt = capturedAt
            self.make = make
            self.model = model
            self.lens = lens
            self.stem = stem
            self.drop = drop
            self.batch = batch
            self.sequence = sequence
            self.sha256 = sha256
            self.id = id
        }
    }

    /// Where the files of one shot go: one path for each suffix, in their order, relative to the library.
    ///
    /// All paths lie in one folder and share everything before the suffix, also when it had to be cut. Each component
    /// has 1...`limit` bytes, does not start with a dot, and holds neither slash, NUL nor control byte; so no path
    /// leads out of the library or into its `.photospool`. A value that is not known reads `unknown`.
    ///
    /// - Parameters:
    ///   - suffixes: what follows the stem in each file's name: `.HEIC`, `.CR2.xmp`; see ``suffix(of:after:)``.
    ///   - collision: 0 for the plain name; n for the nth other, `IMG_0001_n.HEIC`.
    ///   - rules: of the filesystem, which forbid what they forbid in the template's own text, too.
    package func paths(
        for shot: Shot, suffixes: [Path], collision: Int = 0, rules: NameRules = NameRules()
    ) -> [Path] {
        let limit = rules.longest
        var folder = Path(bytes: [])
        for component in components.dropLast() {
            let bytes = rules.placeableEnd(rules.placeable(visible(component.flatMap { rendered($0, shot) })))
            folder = folder / Path(bytes: shortened(bytes, to: limit))
        }
        let lastPieces = components.last?.dropLast() ?? []
        var stem = rules.placeable(visible(lastPieces.flatMap { rendered($0, shot) }))
        if suffixes.contains(where: \.isEmpty) { stem = rules.placeableEnd(stem) }
        if collision > 0 { stem += Array("_\(collision)".utf8) }

        let cleaned = suffixes.map { suffix in
            shortenedSuffix(rules.placeableEnd(rules.placeable(harmless(suffix.bytes))), to: limit / 2)
        }
        let longest = cleaned.map(\.count).max() ?? 0
        stem = shortened(stem, to: limit - longest, keeping: collision > 0 ? "_\(collision)".utf8.count : 0)

        var taken: Set<Path> = []
        return cleaned.map { suffix in
            var name = Path(bytes: stem + suffix)
            var number = 2
            // Names that differ in bytes a library cannot hold come out alike; they still are different files. So do, where
            // the library takes `.xmp` and `.XMP` for one, names that differ in case: that shows only by a collision.
            while !taken.insert(collision > 0 ? Path(bytes: name.bytes.map(lowered)) : name).inserted {
                let mark = Array("-\(number)".utf8)
                name = Path(bytes: shortened(stem, to: limit - suffix.count - mark.count) + mark + suffix)
                number += 1
            }
            return folder / name
        }
    }

    /// What follows `stem` in `name`, that is what tells the files of one shot apart: `.HEIC`, or `.CR2.xmp` for a
    /// sidecar. ASCII case does not count. A name that does not start with the stem, as an edited `IMG_E0001.HEIC`
    /// beside `IMG_0001`, is kept whole behind an underscore.
    package static func suffix(of name: Path, after stem: Path) -> Path {
        let name = name.name.bytes
        guard name.count >= stem.bytes.count, zip(name, stem.bytes).allSatisfy({ lowered($0) == lowered($1) }) else {
            return Path(bytes: [UInt8(ascii: "_")] + name)
        }
        return Path(bytes: name[stem.bytes.count...])
    }

    private func rendered(_ piece: Piece, _ shot: Shot) -> [UInt8] {
        switch piece {
        case .literal(let bytes): bytes
        case .token(let token, let width): harmless(value(of: token, width, shot))
        }
    }

    private func value(of token: Token, _ width: Int?, _ shot: Shot) -> [UInt8] {
        let time = shot.capturedAt
        return switch token {
        case .year: Array(padded(time.year, 4).utf8)
        case .month: Array(padded(time.month, 2).utf8)
        case .day: Array(padded(time.day, 2).utf8)
        case .hour: Array(padded(time.hour, 2).utf8)
        case .minute: Array(padded(time.minute, 2).utf8)
        case .second: Array(padded(time.second, 2).utf8)
        case .subsec: Array((time.subseconds.isEmpty ? "0" : time.subseconds).utf8)
        case .make: known(shot.make)
        case .model: known(shot.model)
        case .lens: known(shot.lens)
        case .stem: shot.stem.name.bytes
        case .ext: []
        case .drop: Array(shot.drop.utf8)
        case .batch: Array(String(shot.batch).utf8)
        case .seq: Array(padded(Int(shot.sequence), width ?? 1).utf8)
        case .sha: Array(shot.sha256.hex.utf8.prefix(width ?? 64))
        case .id: Array(shot.id.utf8)
        }
    }

    /// EXIF strings carry padding of spaces and NUL.
    private func known(_ text: String?) -> [UInt8] {
        let isPadding = { (byte: UInt8) in byte <= 0x20 }
        let bytes = Array((text ?? "").utf8.drop(while: isPadding).reversed().drop(while: isPadding).reversed())
        return bytes.isEmpty ? Array("unknown".utf8) : bytes
    }
}

/// The byte of an ASCII capital as that of the small letter; every other one as it is.
private func lowered(_ byte: UInt8) -> UInt8 { (0x41...0x5A).contains(byte) ? byte | 0x20 : byte }

/// Slash, NUL and control bytes become `_`.
private func harmless(_ bytes: [UInt8]) -> [UInt8] {
    bytes.map { $0 == UInt8(ascii: "/") || $0 < 0x20 || $0 == 0x7F ? UInt8(ascii: "_") : $0 }
}

/// A component that is neither empty nor hidden, hence neither `.` nor `..` nor `.photospool`.
private func visible(_ bytes: [UInt8]) -> [UInt8] {
    guard let first = bytes.first else { return [UInt8(ascii: "_")] }
    return first == UInt8(ascii: ".") ? [UInt8(ascii: "_")] + bytes.dropFirst() : bytes
}

/// At most `limit` bytes: the start, up to a whole UTF-8 character, then `~` and a hash of all of it, so that names
/// that differ only behind the cut stay different. The last `kept` bytes stay as they are.
private func shortened(_ bytes: [UInt8], to limit: Int, keeping kept: Int = 0) -> [UInt8] {
    guard bytes.count > limit else { return bytes }
    let body = bytes.dropLast(kept)
    let tail = [UInt8(ascii: "~")] + hashDigits(Array(body)) + bytes.suffix(kept)
    return Array(body.prefix(wholeCharacters(of: body, within: max(1, limit - tail.count)))) + tail
}

/// The suffix as it is, or its last extension with as much before it as fits.
private func shortenedSuffix(_ bytes: [UInt8], to limit: Int) -> [UInt8] {
    guard bytes.count > limit else { return bytes }
    let lastExtension = bytes.lastIndex(of: UInt8(ascii: ".")).map { Array(bytes[$0...]) } ?? []
    let kept = lastExtension.count <= limit / 2 ? lastExtension.count : 0
    return shortened(bytes, to: limit, keeping: kept)
}

/// The largest count up to `limit` that does not cut a UTF-8 sequence in two; in other bytes just `limit`.
private func wholeCharacters(of bytes: ArraySlice<UInt8>, within limit: Int) -> Int {
    guard limit < bytes.count else { return bytes.count }
    for step in 0..<min(4, limit) where bytes[bytes.startIndex + limit - step] & 0xC0 != 0x80 { return limit - step }
    return limit
}

/// Eight hexadecimal digits of FNV-1a, 64 bit folded to 32: against chance, not against a forger, whom the no-replace
/// rename stops.
private func hashDigits(_ bytes: [UInt8]) -> [UInt8] {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
    let folded = UInt32(truncatingIfNeeded: hash ^ (hash >> 32))
    return Array(lowercaseHex((0..<4).map { UInt8(truncatingIfNeeded: folded >> UInt32(24 - 8 * $0)) }).utf8)
}
