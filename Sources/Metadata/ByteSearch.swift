enum ByteSearch {
    /// Where `wanted` first is in `bytes`, at `from` or behind it; nil when it is nowhere there, or empty.
    static func position(of wanted: [UInt8], in bytes: [UInt8], from: Int) -> Int? {
        guard let first = wanted.first, bytes.count >= wanted.count else { return nil }
        var at = from
        while at <= bytes.count - wanted.count {
            if bytes[at] == first, bytes[at..<at + wanted.count].elementsEqual(wanted) { return at }
            at += 1
        }
        return nil
    }
}
