/// What can be said about an ICC profile before a colour library reads it (ICC.1:2022, 7.2).
enum ProfileCheck {
    enum DataSpace {
        case grey, rgb, cmyk
        /// Of other colours, which no picture here has.
        case other
    }

    /// Larger ones are no photo's; the largest printer profiles have 3 MB.
    static let largest = 8 << 20

    static let isDamaged = "the colour profile is damaged and was ignored"
    static let isForeign = "the colour profile is for another kind of picture and was ignored"

    /// The profile cut to the size in its own header, and what it is for; nil when the header cannot be right.
    static func checked(_ profile: [UInt8]) -> (profile: [UInt8], space: DataSpace)? {
        guard profile.count >= 132, profile.count <= largest else { return nil }
        let size = profile[0..<4].reduce(0) { $0 << 8 | Int($1) }
        guard size >= 132, size <= profile.count, word(profile, 36) == "acsp" else { return nil }
        let space: DataSpace
        switch word(profile, 16) {
        case "GRAY": space = .grey
        case "RGB ": space = .rgb
        case "CMYK": space = .cmyk
        default: space = .other
        }
        return (Array(profile[0..<size]), space)
    }

    private static func word(_ profile: [UInt8], _ offset: Int) -> String {
        String(decoding: profile[offset..<offset + 4], as: UTF8.self)
    }
}
