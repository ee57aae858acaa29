/// From four inks to sRGB by the profiles of pictures. Those of the last two are remembered: each holds a large table,
/// and a card's photos all carry the same one.
final class InkConversions {
    /// How a picture's inks become light.
    struct Conversion {
        /// nil: by the plain formula.
        var transform: ProfileTransform?
        var warning: String?
    }

    private struct Key: Hashable {
        var profile: [UInt8]
        var isInverted: Bool
    }
    private var transforms: [Key: ProfileTransform] = [:]

    /// - Parameter isInverted: 255 is no ink, as Adobe has it in JPEG.
    func conversion(for space: ColourSpace, isInverted: Bool) -> Conversion {
        switch space {
        case .profile(let bytes):
            guard let (profile, inks) = ProfileCheck.checked(bytes) else {
                return Conversion(warning: ProfileCheck.isDamaged)
            }
            guard inks == .cmyk else { return Conversion(warning: ProfileCheck.isForeign) }
            let key = Key(profile: profile, isInverted: isInverted)
            if let known = transforms[key] { return Conversion(transform: known) }
            guard let made = ProfileTransform.make(profile: profile, from: isInverted ? .invertedCMYK : .cmyk) else {
                return Conversion(warning: ProfileCheck.isDamaged)
            }
            if transforms.count >= 2 { transforms.removeAll() }
            transforms[key] = made
            return Conversion(transform: made)
        case .lostProfile: return Conversion(warning: ProfileCheck.isDamaged)
        case .unspecified, .codePoints, .gamma: return Conversion()
        }
    }
}
