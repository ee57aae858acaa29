import PhotoModel

/// Changes an EXIF block where it stands: nothing moves, so that offsets into maker notes stay right. What is taken out is
/// overwritten with zeros, not only unlinked.
struct ExifEditor {
    private(set) var bytes: [UInt8]
    let isBig: Bool
    /// Bytes, counted each time.
    private var erased = 0

    /// nil for what is no TIFF of the usual kind.
    init?(_ bytes: [UInt8]) {
        guard bytes.count >= 14 else { return nil }
        switch (bytes[0], bytes[1]) {
        case (0x49, 0x49): isBig = false
        case (0x4D, 0x4D): isBig = true
        default: return nil
        }
        self.bytes = bytes
        guard number(at: 2, 2) == 42 else { return nil }
    }

    /// - Returns: false when it is damaged so that nobody can tell what is in it; then it is not to be carried.
    mutating func edit(_ size: PixelSize) -> Bool {
        let whole = bytes.count
        guard let first = number(at: 4, 4), let count = entries(at: first) else { return false }
        if let sub = value(0x8769, in: first) {
            guard entries(at: sub) != nil else { return false }
            set(0xA002, in: sub, to: size.width)
            set(0xA003, in: sub, to: size.height)
            if let related = value(0xA005, in: sub) {  // of DCF: RelatedImageWidth and -Length
                set(0x1001, in: related, to: size.width)
                set(0x1002, in: related, to: size.height)
            }
        }
        set(0x0112, in: first, to: 1)
        set(0x0100, in: first, to: size.width)
        set(0x0101, in: first, to: size.height)
        // The directory behind the first one is the thumbnail's. Its place is where the entries ended before any was removed.
        let link = first + 2 + 12 * count
        if let next = number(at: link, 4), next > 0 {
            let thumbnail = (start: value(0x0201, in: next) ?? 0, length: value(0x0202, in: next) ?? 0)
            erase(thumbnail.start, thumbnail.length)
            erase(directory: next)
            // Mostly it comes last, and then nothing is left to carry.
            if thumbnail.start > max(next, 8), thumbnail.start + thumbnail.length + 4 >= bytes.count {
                bytes.removeSubrange(min(thumbnail.start, bytes.count)...)
            }
        }
        let end = first + 2 + 12 * (entries(at: first) ?? count)
        put(0, at: end, 4)
        return erased <= 8 * whole
    }

    func number(at offset: Int, _ width: Int) -> Int? {
        guard offset >= 0, offset <= bytes.count - width else { return nil }
        return Int(ByteSource.integer(bytes[offset..<offset + width], bigEndian: isBig))
    }

    private mutating func put(_ value: Int, at offset: Int, _ width: Int) {
        guard offset >= 0, offset <= bytes.count - width else { return }
        for place in 0..<width {
            let shift = 8 * (isBig ? width - 1 - place : place)
            bytes[offset + place] = UInt8(truncatingIfNeeded: value >> shift)
        }
    }

    /// How many entries a directory has; nil when it is not there whole.
    func entries(at directory: Int) -> Int? {
        guard directory >= 8, let count = number(at: directory, 2), directory + 2 + 12 * count <= bytes.count else {
            return nil
        }
        return count
    }

    private func place(_ tag: Int, in directory: Int) -> Int? {
        guard let count = entries(at: directory) else { return nil }
        return (0..<count).map { directory + 2 + 12 * $0 }.first { number(at: $0, 2) == tag }
    }

    /// Of one number, or where a directory lies.
    func value(_ tag: Int, in directory: Int) -> Int? {
        guard let place = place(tag, in: directory) else { return nil }
        return number(at: place + 2, 2) == 3 ? number(at: place + 8, 2) : number(at: place + 8, 4)
    }

    private mutating func set(_ tag: Int, in directory: Int, to value: Int) {
        guard let place = place(tag, in: directory) else { return }
        put(tag == 0x0112 ? 3 : 4, at: place + 2, 2)
        put(1, at: place + 4, 4)
        put(0, at: place + 8, 4)
        put(value, at: place + 8, tag == 0x0112 ? 2 : 4)
    }

    /// So many that no directory of a camera is like that: one may name the same bytes tens of thousands of times. Then the
    /// block is none to carry.
    private mutating func erase(_ start: Int, _ length: Int) {
        guard start >= 8, length > 0, start < bytes.count, erased <= 8 * bytes.count else { return }
        erased += min(length, bytes.count)
        for place in start..<min(bytes.count, start + min(length, bytes.count)) { bytes[place] = 0 }
    }

    /// Bytes of the value of an entry that lies elsewhere; 0 for one in the entry itself.
    private func outside(_ place: Int) -> (start: Int, length: Int) {
        let widths = [1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8]
        guard let type = number(at: place + 2, 2), let count = number(at: place + 4, 4),
            let start = number(at: place + 8, 4), type >= 1, type <= 12
        else { return (0, 0) }
        let length = min(count, bytes.count) * widths[type - 1]
        return length > 4 ? (start, length) : (0, 0)
    }

    private mutating func erase(directory: Int) {
        guard let count = entries(at: directory) else { return }
        for index in 0..<count {
            let (start, length) = outside(directory + 2 + 12 * index)
            erase(start, length)
        }
        erase(directory, 2 + 12 * count + 4)
    }
}
