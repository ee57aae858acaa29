/// What can be said about an ICC profile before a colour library reads it (ICC.1:2022, 7.2).
enum ProfileCheck {
    enum DataSpace { case grey, rgb, cmyk }

    /// Larger ones are no photo's; the largest printer profiles have 3 MB.
    static let largest = 8 << 20

    /// The profile cut to the size in its own header, and what it is for; nil when the header cannot be right.
    static func checked(_ profile: [UInt8]) -> (profile: [UInt8], space: DataSpace)? {
        guard profile.count >= 132, profile.count <= largest else { return nil }
        let size = profile[0..<4].reduce(0) { $0 << 8 | Int($1) }
        guard size >= 132, size <= profile.count, Array(profile[36..<40]) == Array("acsp".utf8) else { return nil }
        let space: DataSpace
        switch String(decoding: profile[16..<20], as: UTF8.self) {
        case "GRAY": space = .grey
        case "RGB ": space = .rgb
        case "CMYK": space = .cmyk
        default: return nil
        }
        return (Array(profile[0..<size]), space)
    }
}
