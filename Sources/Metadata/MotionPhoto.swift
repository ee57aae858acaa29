import PhotoModel

/// Whether a picture has the video inside that belongs to it, and not only says so.
///
/// Google: Motion Photo format 1.0 (an item of semantic `MotionPhoto` behind the picture; in HEIF the box `mpvd`), and
/// before that MicroVideo, counted from the file's end. Samsung: a trailer with a directory, as ExifTool documents it. An
/// Ultra HDR picture has a second picture behind it, and no video.
enum MotionPhoto {
    static func add(_ source: ByteSource, xmp: [UInt8], to inspection: inout Inspection) {
        let starts = boxStart(source, inspection.mediaType) + samsungStart(source)
        let claims = claims(xmp, source)
        inspection.holdsVideo = (starts + (claims ?? [])).contains { isMovie(source, at: $0) }
        if !inspection.holdsVideo, claims != nil {
            inspection.notes.append("It says that it has a video inside, and none is there.")
        }
    }

    private static func isMovie(_ source: ByteSource, at start: Int64) -> Bool { source.has("ftyp", at: start + 4) }

    private static func boxStart(_ source: ByteSource, _ type: MediaType) -> [Int64] {
        guard [.heic, .heif, .avif].contains(type) else { return [] }
        return Box.all(in: source, from: 0, to: source.size).filter { $0.type == "mpvd" }.map(\.start)
    }

    /// Where the XMP packet says that the video starts; nil when it speaks of none.
    private static func claims(_ xmp: [UInt8], _ source: ByteSource) -> [Int64]? {
        let properties = XMPProperties(XMPPacket.inUTF8(xmp))
        func number(_ text: String?) -> Int64? { text.flatMap { Int64($0) }.flatMap { $0 > 0 ? $0 : nil } }
        let isMicro = number(properties["GCamera:MicroVideo"]) == 1
        guard isMicro || number(properties["GCamera:MotionPhoto"]) == 1 else { return nil }
        let video = properties.parts.first { $0["Item:Semantic"] == "MotionPhoto" }
        let lengths = [
            properties["GCamera:MicroVideoOffset"], properties["GCamera:MotionPhotoOffset"], video?["Item:Length"],
        ]
        return lengths.compactMap(number).map { source.size - $0 }
    }

    /// The file ends in a directory, its length and `SEFT`; an entry says how far in front of the directory its data lie,
    /// which begin with their type and their name.
    private static func samsungStart(_ source: ByteSource) -> [Int64] {
        guard source.has("SEFT", at: source.size - 4),
            let length = source.integer(at: source.size - 8, width: 4, bigEndian: false).map(Int64.init)
        else { return [] }
        let directory = source.size - 8 - length
        guard source.has("SEFH", at: directory),
            let count = source.integer(at: directory + 8, width: 4, bigEndian: false)
        else { return [] }
        for entry in 0..<Int64(min(count, 64)) {
            let place = directory + 12 + entry * 12
            guard source.integer(at: place + 2, width: 2, bigEndian: false) == 0x0A30,
                let back = source.integer(at: place + 4, width: 4, bigEndian: false).map(Int64.init)
            else { continue }
            guard let name = source.integer(at: directory - back + 4, width: 4, bigEndian: false) else { return [] }
            return [directory - back + 8 + Int64(name)]
        }
        return []
    }
}
