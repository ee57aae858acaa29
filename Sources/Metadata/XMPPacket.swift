import PhotoModel

/// The few XMP properties that stand in for EXIF where a program has stripped it, found by name in the packet's text.
///
/// Not an RDF parser: a property under another prefix than the usual one is not found, which costs a fact, never a file.
enum XMPPacket {
    static let limit = 1 << 20

    static func add(_ packet: [UInt8], to inspection: inout Inspection) {
        let packet = Array(packet.prefix(limit))
        if !inspection.dates.contains(where: { $0.source == .xmp }) {
            for name in ["exif:DateTimeOriginal", "photoshop:DateCreated", "xmp:CreateDate"] {
                guard let text = value(of: name, in: packet), let (time, offset) = FactText.time(text) else { continue }
                inspection.dates.append(CaptureDate(time: time, offset: offset, source: .xmp))
                break
            }
        }
        inspection.facts.make = inspection.facts.make ?? value(of: "tiff:Make", in: packet)
        inspection.facts.model = inspection.facts.model ?? value(of: "tiff:Model", in: packet)
        if position(of: Array("Screenshot".utf8), in: packet, from: 0) != nil,
            position(of: Array("exif:UserComment".utf8), in: packet, from: 0) != nil
        {
            inspection.facts.isScreenshot = true
        }
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
