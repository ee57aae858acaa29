import Glibc
import PhotoModel

/// The names of one folder, kept close together and given back in order: those that begin alike one after the other, so
/// that the files of a shot are found together, and neighbours are looked up in the index one after the other.
///
/// Some 6 bytes more than the name itself for each. They are sorted in runs as they come, and the runs are merged as they
/// go, so that a million names never make anybody wait long.
struct NameList {
    /// What a name begins with: all before its first dot. Names of one shot begin alike, but for a number of Takeout's,
    /// and that stands before the photo it belongs to.
    struct Beginning: Hashable, Comparable {
        private let bytes: [UInt8]

        init(of name: Path) { bytes = Array(name.bytes.prefix { $0 != NameList.dot }) }

        static func < (left: Beginning, right: Beginning) -> Bool {
            left.bytes.lexicographicallyPrecedes(right.bytes)
        }
    }

    /// A length in two bytes, then so many, for each name: vfat, NTFS and shares allow 255 characters, not bytes. The first
    /// dot is kept as NUL, which no name contains and which sorts before everything: so bytes alone tell the order.
    private struct Run {
        var bytes: [UInt8] = []
        var places: [UInt32] = []
        /// Which of `places` comes next.
        var next = 0

        mutating func append(_ name: [UInt8]) {
            places.append(UInt32(bytes.count))
            let count = UInt16(clamping: name.count)
            bytes += [UInt8(count >> 8), UInt8(count & 255)]
            let start = bytes.count
            bytes += name
            if let dot = name.firstIndex(of: NameList.dot) { bytes[start + dot] = 0 }
        }

        mutating func sort() {
            let bytes = bytes
            unsafe bytes.withUnsafeBytes { bytes in
                places.sort { unsafe NameList.precedes(bytes, $0, bytes, $1) }
            }
        }

        mutating func take() -> Path {
            let place = Int(places[next])
            next += 1
            let start = place + 2
            var name = Array(bytes[start..<start + (Int(bytes[place]) << 8 | Int(bytes[place + 1]))])
            if let dot = name.firstIndex(of: 0) { name[dot] = NameList.dot }
            return Path(bytes: name)
        }
    }

    private static let dot = UInt8(ascii: ".")
    /// Sorted in about a millisecond.
    private static let runLength = 4096

    private var runs: [Run] = []
    /// The runs that have names left: a binary heap, the one whose next name comes first on top.
    private var heap: [Int] = []

    /// - Precondition: a name as a folder gives it, 1 to 65,535 bytes: getdents64(2) has no more.
    mutating func append(_ name: Path) {
        if runs.last.map({ $0.places.count == Self.runLength }) ?? true {
            endRun()
            runs.append(Run())
        }
        runs[runs.count - 1].append(name.bytes)
    }

    /// All names are there; from now on they are taken.
    mutating func endFilling() {
        endRun()
        heap = []
        for run in runs.indices {
            heap.append(run)
            var place = heap.count - 1
            while place > 0, precedes(heap[place], heap[(place - 1) / 2]) {
                heap.swapAt(place, (place - 1) / 2)
                place = (place - 1) / 2
            }
        }
    }

    mutating func next() -> Path? {
        guard let first = heap.first else { return nil }
        let name = runs[first].take()
        if runs[first].next == runs[first].places.count {
            runs[first] = Run()  // its memory goes back now, not with the last one's
            let last = heap.removeLast()
            if heap.isEmpty { return name }
            heap[0] = last
        }
        var place = 0
        while true {
            var least = place
            for child in [2 * place + 1, 2 * place + 2] where child < heap.count && precedes(heap[child], heap[least]) {
                least = child
            }
            if least == place { return name }
            heap.swapAt(place, least)
            place = least
        }
    }

    /// Whether the next one begins like `name`.
    func continues(_ name: Path) -> Bool {
        guard let first = heap.first else { return false }
        var next = runs[first]
        return Beginning(of: next.take()) == Beginning(of: name)
    }

    private mutating func endRun() {
        guard !runs.isEmpty else { return }
        runs[runs.count - 1].sort()
    }

    /// Whether the next name of one run comes before that of another.
    private func precedes(_ left: Int, _ right: Int) -> Bool {
        let (one, other) = (runs[left], runs[right])
        return unsafe one.bytes.withUnsafeBytes { ours in
            unsafe other.bytes.withUnsafeBytes { theirs in
                unsafe Self.precedes(ours, one.places[one.next], theirs, other.places[other.next])
            }
        }
    }

    /// In the order of their bytes, and what the other begins with before it.
    private static func precedes(
        _ ours: UnsafeRawBufferPointer, _ one: UInt32, _ theirs: UnsafeRawBufferPointer, _ other: UInt32
    ) -> Bool {
        func length(_ bytes: UnsafeRawBufferPointer, _ place: UInt32) -> Int {
            unsafe Int(bytes[Int(place)]) << 8 | Int(bytes[Int(place) + 1])
        }
        let (count, otherCount) = unsafe (length(ours, one), length(theirs, other))
        guard let ours = ours.baseAddress, let theirs = theirs.baseAddress else { return false }
        let order = unsafe memcmp(ours + Int(one) + 2, theirs + Int(other) + 2, min(count, otherCount))
        return order == 0 ? count < otherCount : order < 0
    }
}
