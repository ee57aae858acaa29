import PhotoModel

/// AVI (RIFF): the size in `avih`, and `IDIT`, when the camera's clock said it was taken.
enum AVIWalk {
    static func add(_ source: ByteSource, to inspection: inout Inspection) {
        walk(source, from: 12, to: source.size, depth: 0, &inspection)
    }

    private static func walk(
        _ source: ByteSource, from start: Int64, to end: Int64, depth: Int, _ inspection: inout Inspection
    ) {
        var position = start
        for _ in 0..<64 {
            guard position + 8 <= end, let length = source.integer(at: position + 4, width: 4, bigEndian: false) else {
                return
            }
            let content = position + 8
            switch source.fourCharacters(at: position) {
            case "LIST" where depth < 4:
                // The frames' list is long and says nothing.
                if !source.has("movi", at: content) {
                    walk(
                        source, from: content + 4, to: min(end, content + Int64(length)), depth: depth + 1, &inspection)
                }
            case "avih":
                inspection.facts.size = ExifFacts.size(
                    source.integer(at: content + 32, width: 4, bigEndian: false),
                    source.integer(at: content + 36, width: 4, bigEndian: false))
            case "IDIT":
                let text = source.bytes(at: content, count: Int(min(length, 64)))
                if let time = time(text) { inspection.dates.append(CaptureDate(time: time, source: .quicktime)) }
            default: break
            }
            position = content + Int64(length) + Int64(length % 2)
        }
    }

    private static let months = [
        "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
    ]

    /// `Mon Mar 10 15:04:43 2003`, as C's asctime writes it, or as EXIF does.
    static func time(_ bytes: [UInt8]) -> WallTime? {
        guard let text = FactText.clean(bytes.prefix { $0 != 0 }) else { return nil }
        if let (time, _) = FactText.time(text) { return time }
        let words = text.split(separator: " ")
        guard words.count == 5, let month = months.firstIndex(of: words[1].lowercased()), let day = Int(words[2]),
            let year = Int(words[4])
        else { return nil }
        let clock = words[3].split(separator: ":").compactMap { Int($0) }
        guard clock.count == 3 else { return nil }
        let time = WallTime(
            year: year, month: month + 1, day: day, hour: clock[0], minute: clock[1], second: clock[2])
        return (1900...9999).contains(year) && time.isValid ? time : nil
    }
}
