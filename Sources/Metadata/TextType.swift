import PhotoModel

/// Which kind of sidecar a file is.
enum TextType {
    static func of(_ head: [UInt8]) -> MediaType {
        let text = XMPPacket.inUTF8(head)
        // Of them only XMP may be in UTF-16.
        return text == head ? ofText(head) : ofText(text) == .xmp ? .xmp : .unknown
    }

    private static func ofText(_ head: [UInt8]) -> MediaType {
        if head.starts(with: "bplist00".utf8) {
            return contains("adjustment", head) ? .appleAdjustment : .unknown
        }
        var body = head[...]
        if body.starts(with: [0xEF, 0xBB, 0xBF]) { body = body.dropFirst(3) }
        body = body.drop { [0x20, 0x09, 0x0A, 0x0D].contains($0) }
        guard !body.contains(0) else { return .unknown }
        switch body.first {
        case UInt8(ascii: "<"):
            if contains("<x:xmpmeta", head) || contains("<?xpacket", head) || contains("<rdf:RDF", head) { return .xmp }
            let isPropertyList = contains("<plist", head) || contains("<!DOCTYPE plist", head)
            return isPropertyList && contains("adjustment", head) ? .appleAdjustment : .unknown
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            let second = body.dropFirst().first { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }
            let starts = Array("\"}]{[".utf8)
            return second.map(starts.contains) ?? false ? .json : .unknown
        default: return .unknown
        }
    }

    private static func contains(_ text: String, _ bytes: [UInt8]) -> Bool {
        ByteSearch.position(of: Array(text.utf8), in: bytes, from: 0) != nil
    }
}
