internal import CTOML

/// Where something stands in a file; both count from 1, columns in characters.
struct Place: Hashable, Sendable {
    var line: Int
    var column: Int
}

/// One value of a TOML file with its place.
struct TOMLValue: Sendable {
    enum Content: Sendable {
        case table([TOMLMember])
        case array([TOMLValue])
        case string(String)
        case integer(Int64)
        case float
        case boolean(Bool)
        case date
    }

    var content: Content
    var place: Place
    /// Whether the file shows a string as it is, in single quotation marks or double ones, without escapes.
    var isVerbatim = false

    /// The place of a character inside the string as exactly as it can be known.
    func place(ofCharacter offset: Int) -> Place {
        guard isVerbatim, case .string(let text) = content else { return place }
        return Place(line: place.line, column: place.column + 1 + text.prefix(offset).unicodeScalars.count)
    }

    /// For a message: "a string".
    var kind: String {
        switch content {
        case .table: "a table"
        case .array: "an array"
        case .string: "a string"
        case .integer: "an integer"
        case .float: "a number with a point"
        case .boolean: "a boolean"
        case .date: "a date or time"
        }
    }
}

/// A key and its value. Keys of a table come in the order of the file.
struct TOMLMember: Sendable {
    var key: String
    var place: Place
    var value: TOMLValue
}

/// The text is not TOML.
struct TOMLFault: Error {
    var place: Place
    var reason: String
}

/// The parser's own copy of a file, given back at the end.
@safe struct TOMLDocument: ~Copyable {
    private let handle: OpaquePointer
    private let lines: [[Unicode.Scalar]]

    /// - Throws: where and why the text is not TOML 1.0.
    init(_ text: [UInt8]) throws(TOMLFault) {
        let parsed = unsafe text.withUnsafeBytes { bytes in
            // An empty array may have no address; the parser wants one.
            unsafe bytes.baseAddress.map { unsafe ctoml_parse($0, bytes.count) } ?? ctoml_parse("", 0)
        }
        guard let parsed = unsafe parsed else {
            throw TOMLFault(place: Place(line: 1, column: 1), reason: "there is no memory to read it")
        }
        var reason = unsafe ctoml_text()
        var line: UInt32 = 0
        var column: UInt32 = 0
        if unsafe ctoml_error(parsed, &reason, &line, &column) {
            let reason = unsafe Self.copied(reason)
            unsafe ctoml_free(parsed)
            throw TOMLFault(place: Place(line: Int(line), column: Int(column)), reason: Self.core(of: reason))
        }
        unsafe handle = parsed
        lines = String(decoding: text, as: UTF8.self).unicodeScalars.split(
            separator: "\n", omittingEmptySubsequences: false
        ).map(Array.init)
    }

    deinit { unsafe ctoml_free(handle) }

    /// The members of the root table.
    func members() -> [TOMLMember] {
        // Children follow their parents in the list, so going backwards every node is complete when it is reached.
        var children: [Int: [TOMLMember]] = [:]
        let count = unsafe ctoml_count(handle)
        for index in (0..<count).reversed() {
            var node = unsafe ctoml_node()
            guard unsafe ctoml_node_at(handle, index, &node) else { continue }  // never: below the count
            let below = (children.removeValue(forKey: index) ?? []).sorted { left, right in
                (left.place.line, left.place.column) < (right.place.line, right.place.column)
            }
            if index == 0 { return below }
            let place = Place(line: unsafe Int(node.line), column: unsafe Int(node.column))
            var value = TOMLValue(content: unsafe content(of: node, below), place: place)
            value.isVerbatim = isVerbatim(value)
            let keyPlace =
                unsafe node.key_line == 0 ? place : Place(line: Int(node.key_line), column: Int(node.key_column))
            let member = TOMLMember(key: unsafe Self.copied(node.key), place: keyPlace, value: value)
            unsafe children[Int(node.parent), default: []].append(member)
        }
        return []
    }

    private func isVerbatim(_ value: TOMLValue) -> Bool {
        guard case .string(let text) = value.content, lines.indices.contains(value.place.line - 1) else { return false }
        let shown = lines[value.place.line - 1].dropFirst(value.place.column - 1)
        guard let quote = shown.first, quote == "\"" || quote == "'" else { return false }
        return shown.dropFirst().starts(with: Array(text.unicodeScalars) + [quote])
    }

    private func content(of node: ctoml_node, _ below: [TOMLMember]) -> TOMLValue.Content {
        switch unsafe node.kind {
        case CTOML_TABLE: .table(below)
        case CTOML_ARRAY: .array(below.map(\.value))
        case CTOML_STRING: .string(unsafe Self.copied(node.string))
        case CTOML_INTEGER: .integer(unsafe node.integer)
        case CTOML_FLOAT: .float
        case CTOML_BOOLEAN: .boolean(unsafe node.boolean)
        default: .date
        }
    }

    /// "Error while parsing key-value pair: expected value, saw '\n'": the part that says what is wrong.
    private static func core(of reason: String) -> String {
        guard reason.hasPrefix("Error while parsing"), let colon = reason.firstIndex(of: ":") else { return reason }
        return String(reason[colon...].dropFirst().drop { $0 == " " })
    }

    private static func copied(_ text: ctoml_text) -> String {
        guard let start = unsafe text.bytes else { return "" }
        return unsafe String(
            decoding: UnsafeRawBufferPointer(start: start, count: text.length), as: UTF8.self)
    }
}
