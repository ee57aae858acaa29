import Testing

extension HEIC {
    /// A file whose picture is no longer the photo itself but what is tone mapped from it (ISO/IEC 23008-12, `tmap`; the
    /// gain map is the photo once more). The boxes that describe the file are written anew behind it, so that everything
    /// else stays where it was.
    static func toneMapped(_ file: [UInt8]) throws -> [UInt8] {
        let meta = try #require(parts(file, 0..<file.count).first { $0.type == "meta" })
        let map = big(60_000, 2)
        var (content, photo): ([UInt8], [UInt8]) = (Array(file[meta.body.prefix(4)]), [])
        let boxes = parts(file, meta.body.dropFirst(4))
        if let pitm = boxes.first(where: { $0.type == "pitm" }) { photo = Array(file[pitm.body.dropFirst(4)]) }
        // No file of a camera has so many items that their numbers take four bytes here.
        try #require(photo.count == 2)
        for part in boxes where part.type != "iref" {
            var body = Array(file[part.body])
            switch part.type {
            case "pitm": body.replaceSubrange(4..<6, with: map)
            case "iinf":
                let count = body[4..<(body[0] == 0 ? 6 : 8)]
                body.replaceSubrange(count.indices, with: big(count.reduce(0) { $0 << 8 | Int($1) } + 1, count.count))
                body += full("infe", version: 2, map + [0, 0] + Array("tmap".utf8) + [0])
            case "iloc":
                try #require(body[0] < 2)
                let count = Int(body[6]) << 8 + Int(body[7]) + 1
                body.replaceSubrange(6..<8, with: big(count, 2))
                let (offset, length, base) = (Int(body[4] >> 4), Int(body[4] & 15), Int(body[5] >> 4))
                try #require(offset > 0 && length > 0)
                body += map + (body[0] == 1 ? [0, 0] : []) + [0, 0] + big(0, base) + [0, 1]
                body += big(0, body[0] == 1 ? Int(body[5] & 15) : 0) + big(file.count + 8, offset) + big(62, length)
            default: break
            }
            content += box(part.type, body)
        }
        let old = boxes.first { $0.type == "iref" }
        let references = old.map { Array(file[$0.body]) } ?? [0, 0, 0, 0]
        try #require(references[0] == 0)
        content += box("iref", references + box("dimg", map + big(2, 2) + photo + photo))
        var result = file
        result.replaceSubrange(meta.body.lowerBound - 4..<meta.body.lowerBound, with: "free".utf8)
        return result + box("mdat", [UInt8](repeating: 0, count: 62)) + box("meta", content)
    }

    private static func parts(_ file: [UInt8], _ range: Range<Int>) -> [(type: String, body: Range<Int>)] {
        var (parts, position): ([(String, Range<Int>)], Int) = ([], range.lowerBound)
        while position + 8 <= range.upperBound {
            let length = file[position..<position + 4].reduce(0) { $0 << 8 | Int($1) }
            guard length >= 8, position + length <= range.upperBound else { break }
            let type = String(decoding: file[position + 4..<position + 8], as: UTF8.self)
            parts.append((type, position + 8..<position + length))
            position += length
        }
        return parts
    }
}
