/// One call: what is asked of the other side.
package struct HTTPRequest: Hashable, Sendable {
    package enum Method: String, Sendable {
        case get = "GET"
        case post = "POST"
        case delete = "DELETE"
    }

    package var method: Method
    /// Path and query, percent-encoded, from the slash on; see ``target(_:query:)``.
    package var target: String
    /// JSON; nil for none.
    package var body: [UInt8]?

    package init(_ method: Method, _ target: String, body: [UInt8]? = nil) {
        self.method = method
        self.target = target
        self.body = body
    }

    /// A path with a query. Parameters without a value are left out.
    package static func target(_ path: String, query: [(name: String, value: String?)]) -> String {
        let pairs = query.compactMap { name, value in value.map { escaped(name) + "=" + escaped($0) } }
        return pairs.isEmpty ? path : path + "?" + pairs.joined(separator: "&")
    }

    /// Percent-encoded but for the unreserved characters of RFC 3986, section 2.3, so good in a path and in a query.
    package static func escaped(_ text: String) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var result: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                result.append(byte)
            default:
                result += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: result, as: UTF8.self)
    }
}

/// What the other side answered.
package struct HTTPReply: Hashable, Sendable {
    package var status: Int
    /// In lower case and without parameters: `application/json`; empty when the reply names none.
    package var mediaType: String
    package var body: [UInt8]
    /// Of its headers those that are photospool's own, by their names in lower case: `photospool-picture`.
    package var ownHeaders: [String: String]

    package init(status: Int, mediaType: String, body: [UInt8], ownHeaders: [String: String] = [:]) {
        self.status = status
        self.mediaType = mediaType
        self.body = body
        self.ownHeaders = ownHeaders
    }

    package var isSuccess: Bool { (200...299).contains(status) }
}
