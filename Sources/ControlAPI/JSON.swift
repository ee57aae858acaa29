import FoundationEssentials

/// The one way a body becomes bytes and back: keys in sorted order, so that equal values are equal bytes.
package enum JSON {
    package static func encode(_ body: some Encodable) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return [UInt8](try encoder.encode(body))
    }

    /// - Throws: `DecodingError`, whose path names the field.
    package static func decode<Body: Decodable>(_ type: Body.Type, from bytes: [UInt8]) throws -> Body {
        try JSONDecoder().decode(type, from: Data(bytes))
    }
}

/// One sentence for a person about why some JSON was not what was expected.
package func sentence(about error: DecodingError) -> String {
    func field(_ path: [any CodingKey]) -> String {
        path.isEmpty
            ? "the body"
            : "`" + path.map { $0.intValue.map(String.init) ?? $0.stringValue }.joined(separator: ".") + "`"
    }
    switch error {
    case .keyNotFound(let key, let context): return "The field \(field(context.codingPath + [key])) is missing."
    case .typeMismatch(_, let context): return "The value of \(field(context.codingPath)) has the wrong type."
    case .valueNotFound(_, let context): return "The value of \(field(context.codingPath)) is null."
    case .dataCorrupted(let context):
        return context.codingPath.isEmpty
            ? "The body is not valid JSON." : "The value of \(field(context.codingPath)) is not allowed."
    @unknown default: return "The body is not what was expected."
    }
}
