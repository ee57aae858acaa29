import FoundationEssentials
package import PhotoModel

/// A path in JSON. Names are bytes and JSON is text, so ``text`` shows bytes that are not UTF-8 as U+FFFD, and only then
/// ``base64`` carries the bytes themselves.
package struct PathText: Hashable, Sendable {
    package var text: String
    package var base64: String?

    package init(_ path: Path) {
        text = path.shown
        base64 = path.isText ? nil : Data(path.bytes).base64EncodedString()
    }

    package init(text: String, base64: String?) {
        self.text = text
        self.base64 = base64
    }

    /// The path that leads to the file; nil when ``base64`` is not base64 or holds a NUL.
    package var path: Path? {
        guard let base64 else { return text.utf8.contains(0) ? nil : Path(text) }
        guard let bytes = Data(base64Encoded: base64), !bytes.contains(0) else { return nil }
        return Path(bytes: bytes)
    }
}

/// `{"path", "path_bytes"}`, or a plain string where a request gives a path that is text.
package struct PathBody: Codable, Hashable, Sendable {
    package var value: PathText

    package init(_ path: Path) { value = PathText(path) }

    private enum CodingKeys: String, CodingKey {
        case path
        case pathBytes = "path_bytes"
    }

    package init(from decoder: any Decoder) throws {
        if let text = try? decoder.singleValueContainer().decode(String.self) {  // not text: the other form, below
            value = PathText(text: text, base64: nil)
        } else {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            value = PathText(
                text: try container.decode(String.self, forKey: .path),
                base64: try container.decodeIfPresent(String.self, forKey: .pathBytes))
        }
    }

    package func encode(to encoder: any Encoder) throws {
        guard let base64 = value.base64 else {
            var container = encoder.singleValueContainer()
            return try container.encode(value.text)
        }
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(value.text, forKey: .path)
        try container.encode(base64, forKey: .pathBytes)
    }
}
