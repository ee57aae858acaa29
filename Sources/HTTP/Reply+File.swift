package import Files

extension Reply {
    /// A file as the request wants it: whole, one range of it, or not at all because the asker has it already.
    /// RFC 9110, sections 13 and 14.
    /// - Parameter etag: without quotes; of the content, so that equal tags are equal bytes.
    package static func file(
        _ file: OpenFile, size: Int64, mediaType: String, etag: String, for request: Request
    ) -> Reply {
        let tag = "\"\(etag)\""
        // The bytes come from strangers: no browser may take them for a page, or guess at their type.
        var headers: [(name: String, value: String)] = [
            ("ETag", tag), ("Cache-Control", "private, no-cache"), ("Accept-Ranges", "bytes"),
            ("X-Content-Type-Options", "nosniff"), ("Content-Security-Policy", "default-src 'none'; sandbox"),
        ]
        if let known = request.header("if-none-match"), matches(tag, known) {
            return Reply(status: 304, headers: headers)
        }
        headers.append(("Content-Type", mediaType))
        let range = request.method == "GET" ? wanted(of: size, by: request, tag: tag) : .whole
        switch range {
        case .whole:
            return Reply(status: 200, headers: headers, body: .file(file, offset: 0, length: size))
        case .part(let part):
            headers.append(("Content-Range", "bytes \(part.lowerBound)-\(part.upperBound)/\(size)"))
            let length = part.upperBound - part.lowerBound + 1
            return Reply(status: 206, headers: headers, body: .file(file, offset: part.lowerBound, length: length))
        case .unsatisfiable:
            return Reply(status: 416, headers: [("Content-Range", "bytes */\(size)"), ("ETag", tag)])
        }
    }

    /// Weak comparison, as If-None-Match wants it: `*`, or a list with the tag in it, `W/` passed over.
    static func matches(_ tag: String, _ list: String) -> Bool {
        list.split(separator: ",").contains { candidate in
            let candidate = trimmed(candidate)
            return candidate == "*" || candidate == tag || candidate == "W/" + tag
        }
    }

    private static func wanted(of size: Int64, by request: Request, tag: String) -> ByteRange {
        guard let range = request.header("range") else { return .whole }
        // A range is only good for the version it was asked about; a date or a weak tag says too little.
        if let version = request.header("if-range"), trimmed(version[...]) != tag { return .whole }
        return ByteRange(range, of: size)
    }
}

/// What a Range header asks for. Only `bytes` and one range are understood; anything else means the whole, which
/// RFC 9110 section 14.2 allows.
enum ByteRange: Equatable {
    case whole
    case part(ClosedRange<Int64>)
    case unsatisfiable

    init(_ header: String, of size: Int64) {
        self = .whole
        guard let equals = header.firstIndex(of: "="), trimmed(header[..<equals]).lowercased() == "bytes" else {
            return
        }
        let spec = trimmed(header[header.index(after: equals)...])
        guard let dash = spec.firstIndex(of: "-"), !spec.contains(",") else { return }
        let first = trimmed(spec[..<dash])
        let last = trimmed(spec[spec.index(after: dash)...])
        guard Self.isNumber(first) || first.isEmpty, Self.isNumber(last) || last.isEmpty else { return }
        if first.isEmpty {
            guard !last.isEmpty else { return }
            let count = min(Int64(last) ?? .max, size)
            self = count > 0 ? .part(size - count...size - 1) : .unsatisfiable
            return
        }
        let start = Int64(first) ?? .max
        let end = last.isEmpty ? Int64.max : Int64(last) ?? .max
        guard start <= end else { return }
        self = start < size ? .part(start...min(end, size - 1)) : .unsatisfiable
    }

    private static func isNumber(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    }
}

/// Without the blanks and tabs around it.
func trimmed(_ text: Substring) -> String {
    var text = text
    while let first = text.first, first == " " || first == "\t" { text.removeFirst() }
    while let last = text.last, last == " " || last == "\t" { text.removeLast() }
    return String(text)
}
