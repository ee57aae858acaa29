package import PhotoModel

/// A part of a list, newest first, and the way to the next part.
package struct Page<Element: Sendable>: Sendable {
    package var items: [Element]
    /// Opaque; hand it in as `after` for what follows. nil at the end. Stays good whatever is added or removed meanwhile:
    /// nothing is shown twice or passed over, and what is new stands before the first page.
    package var next: String?

    package init(items: [Element], next: String?) {
        self.items = items
        self.next = next
    }

    /// - Parameter found: up to one more than `limit`, which tells whether there is a next page.
    init(_ found: [Element], limit: Int, cursor: (Element) -> String) {
        items = Array(found.prefix(limit))
        next = found.count > limit ? items.last.map(cursor) : nil
    }
}

package struct JobFilter: Hashable, Sendable {
    package var state: JobState?
    package var drop: String?
    package var batch: Batch.ID?

    package init(state: JobState? = nil, drop: String? = nil, batch: Batch.ID? = nil) {
        self.state = state
        self.drop = drop
        self.batch = batch
    }
}

package struct AssetFilter: Hashable, Sendable {
    /// Captured at or after this.
    package var from: WallTime?
    /// Captured before this.
    package var to: WallTime?
    /// Part of "make model", in any case (ASCII): `canon`, `iphone 13`.
    package var camera: String?

    package init(from: WallTime? = nil, to: WallTime? = nil, camera: String? = nil) {
        self.from = from
        self.to = to
        self.camera = camera
    }
}

/// A keyset position: the columns a page is ordered by, as they were in its last row. Hexadecimal keeps it out of the
/// way of URL escaping and tells nobody to take it apart.
enum Cursor {
    static func make(_ parts: [String]) -> String { lowercaseHex(parts.joined(separator: "\n").utf8) }

    /// - Throws: `E_BAD_REQUEST` for what ``make(_:)`` did not make.
    static func parts(_ cursor: String, count: Int) throws(Problem) -> [String] {
        let digits = Array(cursor.utf8)
        var bytes: [UInt8] = []
        for position in stride(from: 0, to: digits.count - 1, by: 2) {
            guard let byte = UInt8(String(decoding: digits[position..<position + 2], as: UTF8.self), radix: 16)
            else { throw bad }
            bytes.append(byte)
        }
        let parts = String(decoding: bytes, as: UTF8.self)
            .split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        guard digits.count.isMultiple(of: 2), parts.count == count else { throw bad }
        return parts
    }

    static func number(_ cursor: String) throws(Problem) -> Int64 {
        guard let number = Int64(try parts(cursor, count: 1)[0]) else { throw bad }
        return number
    }

    static func checkedLimit(_ limit: Int) throws(Problem) -> Int {
        guard (1...200).contains(limit) else {
            throw Problem(.badRequest, "The limit \(limit) is not from 1 to 200.", todo: "Ask for 1 to 200.")
        }
        return limit
    }

    private static var bad: Problem {
        Problem(
            .badRequest, "The cursor is not one this service gave out.",
            todo: "Begin again without `after`, and pass `next` on as it is.")
    }
}
