import PhotoModel

/// What movies say of themselves outside the named keys: the header's time, and QuickTime's user data with 3GPP's place
/// (QuickTime File Format, "User Data Atoms"; 3GPP TS 26.244, 8.13).
enum UserData {
    static func add(_ source: ByteSource, _ top: [Box], to inspection: inout Inspection) {
        guard let movie = top.first("moov")?.children(source) else { return }
        for item in movie.first("udta")?.children(source) ?? [] {
            let type = source.bytes(at: item.start - 4, count: 4)
            guard type.count == 4 else { continue }
            switch (type[0], String(decoding: type[1...], as: UTF8.self)) {
            case (0xA9, "xyz"): if let text = text(source, item) { addPlace(text, to: &inspection.facts) }
            case (0xA9, "mak"): inspection.facts.make = inspection.facts.make ?? text(source, item)
            case (0xA9, "mod"): inspection.facts.model = inspection.facts.model ?? text(source, item)
            case (UInt8(ascii: "l"), "oci"): addPlace(source, item, to: &inspection.facts)
            default: break
            }
        }
        if let header = movie.first("mvhd"), !inspection.dates.contains(where: { $0.source == .quicktime }) {
            addTime(source, header, to: &inspection)
        }
    }

    /// Length and language, then the text.
    private static func text(_ source: ByteSource, _ item: Box) -> String? {
        guard let length = source.integer(at: item.start, width: 2) else { return nil }
        return FactText.clean(source.bytes(at: item.start + 4, count: Int(min(length, 256))))
    }

    /// `+27.2939+112.6932/` (ISO 6709, annex H): degrees, degrees and minutes, or those and seconds, as the number of digits
    /// says; an altitude may follow. What is there already stays.
    static func addPlace(_ text: String, to facts: inout Facts) {
        var numbers: [(value: Double, digits: Int)] = []
        var rest = Substring(text)
        while numbers.count < 2, let sign = rest.first, sign == "+" || sign == "-" {
            let body = rest.dropFirst().prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
            guard let value = Double(body) else { return }
            numbers.append((sign == "-" ? -value : value, body.prefix { $0 != "." }.count))
            rest = rest.dropFirst(1 + body.count)
        }
        guard facts.latitude == nil, numbers.count == 2,
            let latitude = degrees(numbers[0].value, extra: numbers[0].digits - 2, limit: 90),
            let longitude = degrees(numbers[1].value, extra: numbers[1].digits - 3, limit: 180)
        else { return }
        facts.latitude = latitude
        facts.longitude = longitude
    }

    private static func degrees(_ value: Double, extra: Int, limit: Double) -> Double? {
        let size = value.magnitude
        let whole: Double
        switch extra {
        case 4...:
            let degrees = (size / 10_000).rounded(.down)
            let minutes = (size / 100).rounded(.down) - degrees * 100
            whole = degrees + minutes / 60 + size.truncatingRemainder(dividingBy: 100) / 3600
        case 2...3:
            whole = (size / 100).rounded(.down) + size.truncatingRemainder(dividingBy: 100) / 60
        default: whole = size
        }
        guard whole.isFinite, whole <= limit else { return nil }
        return value < 0 ? -whole : whole
    }

    /// Version, language, a name that ends in NUL, a role, then longitude and latitude in 16.16 fixed point.
    private static func addPlace(_ source: ByteSource, _ item: Box, to facts: inout Facts) {
        let body = source.bytes(at: item.start + 6, count: Int(min(max(item.end - item.start - 6, 0), 512)))
        guard facts.latitude == nil, let end = body.firstIndex(of: 0), end + 10 <= body.count else { return }
        func degrees(_ at: Int) -> Double {
            let bits = ByteSource.integer(body[at..<at + 4], bigEndian: true)
            return Double(Int32(truncatingIfNeeded: bits)) / 65_536
        }
        let (longitude, latitude) = (degrees(end + 2), degrees(end + 6))
        guard abs(latitude) <= 90, abs(longitude) <= 180 else { return }
        facts.latitude = latitude
        facts.longitude = longitude
    }

    /// Seconds since 1904 in UTC; 0 for unknown. Where that was, nobody says.
    private static func addTime(_ source: ByteSource, _ header: Box, to inspection: inout Inspection) {
        let isLong = source.integer(at: header.start, width: 1) == 1
        guard let seconds = source.integer(at: header.start + 4, width: isLong ? 8 : 4),
            (1...1 << 40).contains(seconds)
        else { return }
        let time = WallTime(secondsSince1970: Int64(seconds) - 2_082_844_800)
        guard (1904...9999).contains(time.year) else { return }
        inspection.dates.append(CaptureDate(time: time, source: .quicktime, isUniversal: true))
    }
}
