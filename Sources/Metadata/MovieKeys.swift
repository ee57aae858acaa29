import PhotoModel

/// What QuickTime says of a movie by named keys: its content identifier, when it was taken, with its offset, where and by
/// what. QuickTime File Format, "Metadata atoms": `meta` holds the names in `keys` and the values in `ilst`, by number.
enum MovieKeys {
    private static let mostKeys = 64

    static func add(_ source: ByteSource, _ top: [Box], to inspection: inout Inspection) {
        let movie = top.first("moov")?.children(source) ?? []
        // Where QuickTime says, or among the user data, where other writers put it.
        guard let meta = movie.first("meta") ?? movie.first("udta")?.children(source).first("meta") else { return }
        // ISO media files have four bytes of version here, QuickTime's have none.
        let parts = [0, 4].map { meta.children(source, after: $0) }.first { $0.first("keys") != nil }
        guard let parts, let keys = parts.first("keys"), let list = parts.first("ilst") else { return }
        let names = names(source, keys)
        for value in list.children(source).prefix(mostKeys) {
            guard let number = source.integer(at: value.start - 4, width: 4).flatMap({ Int(exactly: $0) }),
                names.indices.contains(number - 1), let text = text(source, value)
            else { continue }
            switch names[number - 1] {
            case "com.apple.quicktime.content.identifier":
                inspection.facts.contentIdentifier = inspection.facts.contentIdentifier ?? text
            case "com.apple.quicktime.creationdate":
                guard let (time, offset) = FactText.time(text) else { break }
                inspection.dates.append(CaptureDate(time: time, offset: offset, source: .quicktime))
            case "com.apple.quicktime.make": inspection.facts.make = inspection.facts.make ?? text
            case "com.apple.quicktime.model": inspection.facts.model = inspection.facts.model ?? text
            case "com.apple.quicktime.location.ISO6709": UserData.addPlace(text, to: &inspection.facts)
            default: break
            }
        }
    }

    private static func names(_ source: ByteSource, _ keys: Box) -> [String] {
        var names: [String] = []
        var position = keys.start + 8  // behind version and count
        while names.count < mostKeys, position + 8 <= keys.end,
            let length = source.integer(at: position, width: 4).map(Int64.init), length >= 8
        {
            let name = source.bytes(at: position + 8, count: Int(min(length - 8, 128)))
            names.append(String(decoding: name, as: UTF8.self))
            position += length
        }
        return names
    }

    /// UTF-8 text (type 1) only.
    private static func text(_ source: ByteSource, _ value: Box) -> String? {
        guard let data = value.children(source).first("data"), source.integer(at: data.start, width: 4) == 1 else {
            return nil
        }
        return FactText.clean(
            source.bytes(at: data.start + 8, count: Int(min(max(data.end - data.start - 8, 0), 1024))))
    }
}
