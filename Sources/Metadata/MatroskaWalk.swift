import PhotoModel

/// Matroska and WebM (RFC 9559, RFC 8794): when it was made, in UTC, and the size of its first picture track as shown.
enum MatroskaWalk {
    private static let segment: UInt64 = 0x1853_8067
    private static let information: UInt64 = 0x1549_A966
    private static let date: UInt64 = 0x4461
    private static let tracks: UInt64 = 0x1654_AE6B
    private static let track: UInt64 = 0xAE
    private static let video: UInt64 = 0xE0
    private static let (width, height): (UInt64, UInt64) = (0xB0, 0xBA)
    private static let (shownWidth, shownHeight, shownUnit): (UInt64, UInt64, UInt64) = (0x54B0, 0x54BA, 0x54B2)
    /// The pictures themselves; what is wanted stands in front of them.
    private static let cluster: UInt64 = 0x1F43_B675

    private struct Element {
        var id: UInt64
        var start: Int64
        var end: Int64
    }

    static func add(_ source: ByteSource, to inspection: inout Inspection) {
        guard let segment = elements(source, 0, source.size).first(where: { $0.id == segment }) else { return }
        let parts = elements(source, segment.start, segment.end)
        if let information = parts.first(where: { $0.id == information }),
            let date = child(date, of: information, source), date.end - date.start == 8,
            let bits = source.integer(at: date.start, width: 8)
        {
            addTime(Int64(bitPattern: bits), to: &inspection)
        }
        guard let tracks = parts.first(where: { $0.id == tracks }) else { return }
        for track in elements(source, tracks.start, tracks.end) where track.id == Self.track {
            guard let video = child(video, of: track, source) else { continue }
            inspection.facts.size = size(video, source)
            return
        }
    }

    /// Nanoseconds since the millennium.
    private static func addTime(_ nanoseconds: Int64, to inspection: inout Inspection) {
        let seconds = nanoseconds / 1_000_000_000 + 978_307_200
        guard nanoseconds != 0 else { return }
        inspection.dates.append(
            CaptureDate(time: WallTime(secondsSince1970: seconds), source: .quicktime, isUniversal: true))
    }

    private static func size(_ video: Element, _ source: ByteSource) -> PixelSize? {
        func number(_ id: UInt64) -> UInt64? {
            guard let element = child(id, of: video, source), (1...8).contains(element.end - element.start) else {
                return nil
            }
            return source.integer(at: element.start, width: Int(element.end - element.start))
        }
        guard let stored = ExifFacts.size(number(width), number(height)) else { return nil }
        guard let shown = ExifFacts.size(number(shownWidth), number(shownHeight)) else { return stored }
        // In pixels; in centimetres or inches, or as a ratio, it is the shape alone.
        if (number(shownUnit) ?? 0) == 0 { return shown }
        let wide = (stored.height * shown.width + shown.height / 2) / shown.height
        return ExifFacts.size(UInt64(wide), UInt64(stored.height)) ?? stored
    }

    private static func child(_ id: UInt64, of parent: Element, _ source: ByteSource) -> Element? {
        elements(source, parent.start, parent.end).first { $0.id == id }
    }

    private static func elements(_ source: ByteSource, _ start: Int64, _ end: Int64) -> [Element] {
        var elements: [Element] = []
        var position = start
        while elements.count < 256, position < end {
            guard let id = number(source, &position, keepsMark: true), let length = number(source, &position) else {
                break
            }
            // All ones: unknown, to the end of its parent.
            let isKnown = length.value != length.limit
            guard !isKnown || length.value <= UInt64(max(0, end - position)) else {
                elements.append(Element(id: id.value, start: position, end: end))
                break
            }
            let stop = isKnown ? position + Int64(length.value) : end
            elements.append(Element(id: id.value, start: position, end: stop))
            if id.value == cluster { break }
            position = stop
        }
        return elements
    }

    /// As many bytes as the first has zeros in front, and one.
    private static func number(
        _ source: ByteSource, _ position: inout Int64, keepsMark: Bool = false
    ) -> (value: UInt64, limit: UInt64)? {
        guard let first = source.integer(at: position, width: 1), first != 0 else { return nil }
        let width = UInt8(first).leadingZeroBitCount + 1
        guard let value = source.integer(at: position, width: width) else { return nil }
        position += Int64(width)
        let limit = UInt64(1) << UInt64(7 * width) - 1
        return (keepsMark ? value : value & limit, limit)
    }
}
