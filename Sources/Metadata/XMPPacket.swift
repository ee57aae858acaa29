import PhotoModel

/// The few XMP properties that stand in for EXIF where a program has stripped it.
enum XMPPacket {
    static let limit = 1 << 20

    static func add(_ packet: [UInt8], to inspection: inout Inspection) {
        let properties = XMPProperties(inUTF8(Array(packet.prefix(limit))))
        if !inspection.dates.contains(where: { $0.source == .xmp }) {
            // Original over digitized. A program that changes the photo writes a time of its own, `xmp:ModifyDate`.
            for name in ["exif:DateTimeOriginal", "photoshop:DateCreated", "exif:DateTimeDigitized", "xmp:CreateDate"] {
                guard let (time, offset) = properties[name].flatMap({ FactText.time($0) }) else { continue }
                inspection.dates.append(CaptureDate(time: time, offset: offset, source: .xmp))
                break
            }
        }
        inspection.facts.make = inspection.facts.make ?? properties["tiff:Make"]
        inspection.facts.model = inspection.facts.model ?? properties["tiff:Model"]
        inspection.facts.lens = inspection.facts.lens ?? properties["exifEX:LensModel"] ?? properties["aux:Lens"]
        addPlace(properties, to: &inspection.facts)
        if properties["exif:UserComment"]?.contains("Screenshot") ?? false { inspection.facts.isScreenshot = true }
    }

    /// Only the photo's own: places that are shown or described are parts of a property.
    private static func addPlace(_ properties: XMPProperties, to facts: inout Facts) {
        guard facts.latitude == nil, facts.longitude == nil,
            let latitude = properties["exif:GPSLatitude"].flatMap({ degrees($0, "N", "S", limit: 90) }),
            let longitude = properties["exif:GPSLongitude"].flatMap({ degrees($0, "E", "W", limit: 180) })
        else { return }
        facts.latitude = latitude
        facts.longitude = longitude
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
}
