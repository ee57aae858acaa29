import PhotoModel

/// Changes an XMP packet as text, so that it is true of another picture of the same photo.
enum XMPEditor {
    /// Orientation 1, the picture's own size, no thumbnail, no word of what does not go along (a second part of the XMP, the
    /// video of a motion photo, further pictures), and no room to write more into the packet: of that some have 64 KiB.
    static func upright(_ packet: [UInt8], _ size: PixelSize) -> [UInt8] {
        var result = packet
        for name in [
            "xmp:Thumbnails", "xap:Thumbnails", "xmpNote:HasExtendedXMP", "Container:Directory", "GContainer:Directory",
        ] {
            result = without(name, in: result)
        }
        if let attribute = place(of: "xmpNote:HasExtendedXMP", in: result, from: 0, isNumber: false) {
            result.removeSubrange(attribute.name.lowerBound..<attribute.value.upperBound + 1)
        }
        let numbers = [
            ("tiff:Orientation", 1), ("tiff:ImageWidth", size.width), ("tiff:ImageLength", size.height),
            ("exif:PixelXDimension", size.width), ("exif:PixelYDimension", size.height), ("GCamera:MotionPhoto", 0),
            ("GCamera:MotionPhotoOffset", 0), ("GCamera:MicroVideo", 0), ("GCamera:MicroVideoOffset", 0),
        ]
        var replaced = 0
        for (name, number) in numbers {
            var from = 0
            while let found = place(of: name, in: result, from: from, isNumber: true) {
                // No photo has as many sizes: each costs as much as the packet is long.
                replaced += 1
                guard replaced <= 256 else { return [] }
                let text = Array(String(number).utf8)
                result.replaceSubrange(found.value, with: text)
                from = found.value.lowerBound + text.count
            }
        }
        return withoutPadding(result)
    }

    /// The packet without the elements of a name and what is in them.
    private static func without(_ name: String, in packet: [UInt8]) -> [UInt8] {
        let (opening, closing) = (Array("<\(name)".utf8), Array("</\(name)>".utf8))
        var rest: [UInt8] = []
        var from = 0
        while let start = ByteSearch.position(of: opening, in: packet, from: from),
            let end = ByteSearch.position(of: closing, in: packet, from: start)
        {
            rest += packet[from..<start]
            from = end + closing.count
        }
        return rest + packet[from...]
    }

    /// What is blank in front of the packet's end (XMP specification part 1, 7.3.2) is one line's end.
    private static func withoutPadding(_ packet: [UInt8]) -> [UInt8] {
        let blank: Set<UInt8> = [0, 0x09, 0x0A, 0x0D, 0x20]
        let end = packet.lastIndex { !blank.contains($0) }.map { $0 + 1 } ?? 0
        var trailer: ArraySlice<UInt8> = []
        var body = packet[..<end]
        let mark = Array("<?xpacket end".utf8)
        if let start = ByteSearch.position(of: mark, in: packet, from: max(0, end - 32)), start < end {
            trailer = packet[start..<end]
            body = packet[..<start]
        }
        let last = body.lastIndex { !blank.contains($0) }.map { $0 + 1 } ?? 0
        return last == 0 ? [] : Array(body[..<last]) + [0x0A] + trailer
    }

    /// Of `name="6"`, or `name>6<`.
    private static func place(
        of name: String, in packet: [UInt8], from: Int, isNumber: Bool
    ) -> (name: Range<Int>, value: Range<Int>)? {
        let wanted = Array(name.utf8)
        var from = from
        while let start = ByteSearch.position(of: wanted, in: packet, from: from) {
            let after = start + wanted.count
            from = after
            var place = after
            while place < packet.count, [0x20, 0x22, 0x27, 0x3D, 0x3E].contains(packet[place]) { place += 1 }
            let value = packet[place...].prefix {
                isNumber ? (0x30...0x39).contains($0) : ![0x22, 0x27, 0x3C].contains($0)
            }
            guard value.endIndex < packet.count else { return nil }
            guard place > after, !value.isEmpty else { continue }
            return (start..<after, value.startIndex..<value.endIndex)
        }
        return nil
    }
}
