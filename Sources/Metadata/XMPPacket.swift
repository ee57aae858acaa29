import PhotoModel

/// The few XMP properties that stand in for EXIF where a program has stripped it, found by name in the packet's text.
///
/// Not an RDF parser: a property under another prefix than the usual one is not found, which costs a fact, never a file.
enum XMPPacket {
    static let limit = 1 << 20

    static func add(_ packet: [UInt8], to inspection: inout Inspection) {
        let packet = inUTF8(Array(packet.prefix(limit)))
        if !inspection.dates.contains(where: { $0.source == .xmp }) {
            for name in ["exif:DateTimeOriginal", "photoshop:DateCreated", "xmp:CreateDate"] {
                guard let text = value(of: name, in: packet), let (time, offset) = FactText.time(text) else { continue }
                inspection.dates.append(CaptureDate(time: time, offset: offset, source: .xmp))
                break
            }
        }
        inspection.facts.make = inspection.facts.make ?? value(of: "tiff:Make", in: packet)
        inspection.facts.model = inspection.facts.model ?? value(of: "tiff:Model", in: packet)
        inspection.facts.lens =
            inspection.facts.lens ?? value(of: "exifEX:LensModel", in: packet) ?? value(of: "aux:Lens", in: packet)
        addPlace(packet, to: &inspection.facts)
        if position(of: Array("Screenshot".utf8), in: packet, from: 0) != nil,
            position(of: Array("exif:UserComment".utf8), in: packet, from: 0) != nil
        {
            inspection.facts.isScreenshot = true
        }
    }

    /// As it is, or out of UTF-16, which XMP may be in as well (XMP specification part 1, 7.2), with its mark or without. What
    /// is half a character becomes U+FFFD.
    static func inUTF8(_ packet: [UInt8]) -> [UInt8] {
        guard packet.count >= 4 else { return packet }
        let isBigEndian: Bool
        switch (packet[0], packet[1]) {
        case (0xFF, 0xFE): isBigEndian = false
        case (0xFE, 0xFF): isBigEndian = true
        // `<` and another character of ASCII.
        case (0x3C, 0) where packet[2] != 0 && packet[3] == 0: isBigEndian = false
        case (0, 0x3C) where packet[2] == 0 && packet[3] != 0: isBigEndian = true
        default: return packet
        }
        let units = stride(from: 0, to: packet.count - 1, by: 2).map { place in
            let (first, second) = (UInt16(packet[place]), UInt16(packet[place + 1]))
            return isBigEndian ? first << 8 | second : second << 8 | first
        }
        return Array(String(decoding: units, as: UTF16.self).utf8)
    }

    private static func addPlace(_ whole: [UInt8], to facts: inout Facts) {
        guard facts.latitude == nil, facts.longitude == nil,
            position(of: Array("exif:GPSLatitude".utf8), in: whole, from: 0) != nil
        else { return }
        // Places that somebody described by the same names: none of them is where the camera was.
        let packet = ["LocationCreated", "LocationShown"].reduce(whole) { without("Iptc4xmpExt:" + $1, in: $0) }
        guard
            let latitude = value(of: "exif:GPSLatitude", in: packet).flatMap({ degrees($0, "N", "S", limit: 90) }),
            let longitude = value(of: "exif:GPSLongitude", in: packet).flatMap({ degrees($0, "E", "W", limit: 180) })
        else { return }
        facts.latitude = latitude
        facts.longitude = longitude
    }

    /// The packet without the elements of a name and what is in them.
    private static func without(_ name: String, in packet: [UInt8]) -> [UInt8] {
        let (opening, closing) = (Array("<\(name)".utf8), Array("</\(name)>".utf8))
        var rest: [UInt8] = []
        var from = 0
        while let start = position(of: opening, in: packet, from: from),
            let end = position(of: closing, in: packet, from: start)
        {
            rest += packet[from..<start]
            from = end + closing.count
        }
        return rest + packet[from...]
    }

    /// `34,47.847N` or `34,47,50.8N`: degrees, minutes and perhaps seconds, and the letter (XMP specification part 2,
    /// GPSCoordinate).
    static func degrees(_ text: String, _ positive: Character, _ negative: Character, limit: Double) -> Double? {
        guard let letter = text.last, letter == positive || letter == negative else { return nil }
        let parts = text.dropLast().split(separator: ",", omittingEmptySubsequences: false).map { Double($0) }
        guard (2...3).contains(parts.count) else { return nil }
        var whole = 0.0
        var unit = 1.0
        for part in parts {
            guard let part, part >= 0, part.isFinite, unit == 1 || part < 60 else { return nil }
            whole += part * unit
            unit /= 60
        }
        guard whole <= limit else { return nil }
        return letter == negative ? -whole : whole
    }

    /// The value of an attribute `name="…"` or an element `<name>…</name>`; nil when it is neither or holds markup.
    static func value(of name: String, in packet: [UInt8]) -> String? {
        let wanted = Array(name.utf8)
        var from = 0
        while let start = position(of: wanted, in: packet, from: from) {
            let after = start + wanted.count
            from = after
            guard after + 2 < packet.count else { return nil }
            let open = packet[after]
            let body: ArraySlice<UInt8>
            if open == UInt8(ascii: ">") {
                body = packet[(after + 1)...].prefix { $0 != UInt8(ascii: "<") }
            } else if open == UInt8(ascii: "="), [UInt8(ascii: "\""), UInt8(ascii: "'")].contains(packet[after + 1]) {
                body = packet[(after + 2)...].prefix { $0 != packet[after + 1] }
            } else {
                continue
            }
            if let text = FactText.clean(body), !text.contains("<") { return text }
        }
        return nil
    }

    static func position(of wanted: [UInt8], in bytes: [UInt8], from: Int) -> Int? {
        guard let first = wanted.first, bytes.count >= wanted.count else { return nil }
        var at = from
        while at <= bytes.count - wanted.count {
            if bytes[at] == first, bytes[at..<at + wanted.count].elementsEqual(wanted) { return at }
            at += 1
        }
        return nil
    }
}
