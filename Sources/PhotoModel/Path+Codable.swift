/// A path in JSON is its text; one that is not UTF-8 is `{"bytes": [...]}`, so that nothing is lost.
extension Path: Codable {
    private enum Key: String, CodingKey { case bytes }

    package init(from decoder: any Decoder) throws {
        if let text = try? decoder.singleValueContainer().decode(String.self) {  // not text: the other form, below
            self.init(text)
        } else {
            self.init(bytes: try decoder.container(keyedBy: Key.self).decode([UInt8].self, forKey: .bytes))
        }
    }

    package func encode(to encoder: any Encoder) throws {
        if isText {
            var container = encoder.singleValueContainer()
            try container.encode(shown)
        } else {
            var container = encoder.container(keyedBy: Key.self)
            try container.encode(bytes, forKey: .bytes)
        }
    }
}
