/// The boxes of an ISO base media file (ISO/IEC 14496-12): where each starts and ends, nothing more.
struct Box {
    let type: String
    /// Of the content, behind the header.
    let start: Int64
    let end: Int64

    /// So many are looked at.
    static let most = 1024

    /// The boxes between two positions, at most 1024. A box that claims to be longer than its parent ends with it.
    static func all(in source: ByteSource, from start: Int64, to end: Int64) -> [Box] {
        var boxes: [Box] = []
        var position = start
        let end = min(end, source.size)
        while boxes.count < most, position + 8 <= end, let short = source.integer(at: position, width: 4) {
            var header: Int64 = 8
            var length = Int64(short)
            if short == 1 {
                guard let long = source.integer(at: position + 8, width: 8), let exact = Int64(exactly: long) else {
                    break
                }
                header = 16
                length = exact
            } else if short == 0 {
                length = end - position  // to the end of the file
            }
            guard length >= header else { break }
            let boxEnd = length > end - position ? end : position + length
            boxes.append(
                Box(type: source.fourCharacters(at: position + 4), start: position + header, end: boxEnd))
            position = boxEnd
        }
        return boxes
    }

    func children(_ source: ByteSource, after skipped: Int64 = 0) -> [Box] {
        Box.all(in: source, from: start + skipped, to: end)
    }
}

extension [Box] {
    func first(_ type: String) -> Box? { first { $0.type == type } }
}
