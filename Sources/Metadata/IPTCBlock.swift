/// The datasets of IPTC-IIM (Information Interchange Model 4.2), as Photoshop put them into JPEG and TIFF.
struct IPTCBlock {
    private struct DataSet {
        let record: UInt8
        let number: UInt8
        let value: ArraySlice<UInt8>
    }

    private var sets: [DataSet] = []

    var isEmpty: Bool { sets.isEmpty }

    /// What follows something that is no dataset is padding, or nobody can tell where it begins.
    init(_ bytes: [UInt8]) {
        var position = 0
        while position + 5 <= bytes.count, bytes[position] == 0x1C {
            var length = Int(bytes[position + 3]) << 8 | Int(bytes[position + 4])
            var start = position + 5
            if length & 0x8000 != 0 {  // extended: the length of the length
                let width = length & 0x7FFF
                guard width <= 4, start + width <= bytes.count else { return }
                length = bytes[start..<start + width].reduce(0) { $0 << 8 | Int($1) }
                start += width
            }
            guard length <= bytes.count - start else { return }
            sets.append(
                DataSet(record: bytes[position + 1], number: bytes[position + 2], value: bytes[start..<start + length]))
            position = start + length
        }
    }

    /// A TIFF's tag 33723. Its type has long been "long", and then the bytes of each four are turned where the file's order
    /// is not the writer's.
    init(tag bytes: [UInt8]) {
        guard bytes.count >= 4, bytes[0] != 0x1C, bytes[3] == 0x1C else {
            self.init(bytes)
            return
        }
        self.init(
            stride(from: 0, to: bytes.count - 3, by: 4).flatMap { bytes[$0..<$0 + 4].reversed() })
    }

    /// Out of Photoshop's image resources (Adobe Photoshop File Formats Specification): number 0x0404.
    init(resources bytes: [UInt8]) {
        var position = 0
        while position + 12 <= bytes.count, bytes[position..<position + 4].elementsEqual("8BIM".utf8) {
            // A name with its length in front, to an even number of bytes.
            let size = position + 6 + ((Int(bytes[position + 6]) + 2) & ~1)
            guard size + 4 <= bytes.count else { break }
            let length = bytes[size..<size + 4].reduce(0) { $0 << 8 | Int($1) }
            guard length <= bytes.count - size - 4 else { break }
            if bytes[position + 4] == 4, bytes[position + 5] == 4 {
                self.init(Array(bytes[(size + 4)..<(size + 4 + length)]))
                return
            }
            position = size + 4 + ((length + 1) & ~1)
        }
        self.init([])
    }

    /// Without the preview picture that may be in it, which lies as the original does (2:200 to 2:202).
    ///
    /// - Parameter stripsLocation: only what cannot tell of places goes along: the character set, when it was taken and
    ///   digitized, by whom, and whose it is.
    func bytes(stripsLocation: Bool) -> [UInt8] {
        let kept = sets.filter { set in
            guard stripsLocation else { return !(set.record == 2 && (200...202).contains(set.number)) }
            return set.record == 1 && set.number == 90
                || set.record == 2 && [0, 55, 60, 62, 63, 80, 116].contains(set.number)
        }
        return kept.flatMap { set in
            let count = set.value.count
            let length =
                count < 0x8000
                ? [UInt8(count >> 8), UInt8(count & 255)]
                : [0x80, 4] + (0..<4).map { UInt8(truncatingIfNeeded: count >> (24 - 8 * $0)) }
            return [0x1C, set.record, set.number] + length + set.value
        }
    }
}
