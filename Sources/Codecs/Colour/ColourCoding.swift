import CResample

/// How the numbers of the planes make red, green and blue.
enum ColourCoding: Equatable {
    /// Luma and colour differences with the weights of red and blue in the luma.
    case ycc(red: Double, blue: Double, isFullRange: Bool)
    /// Planes are green, blue, red themselves.
    case gbr(isFullRange: Bool)

    /// What JPEG has: BT.601, full range (ITU-T T.871).
    static let jfif = ColourCoding.ycc(red: 0.299, blue: 0.114, isFullRange: true)

    /// By MatrixCoefficients of ITU-T H.273, table 4; nil for those that are no plain matrix (YCgCo, ICtCp, constant
    /// luminance, ...). Unspecified is 601, as every decoder has it.
    init?(matrix: Int, isFullRange: Bool) {
        switch matrix {
        case 0: self = .gbr(isFullRange: isFullRange)
        case 1: self = .ycc(red: 0.2126, blue: 0.0722, isFullRange: isFullRange)
        case 4: self = .ycc(red: 0.30, blue: 0.11, isFullRange: isFullRange)
        case 2, 5, 6: self = .ycc(red: 0.299, blue: 0.114, isFullRange: isFullRange)
        case 7: self = .ycc(red: 0.212, blue: 0.087, isFullRange: isFullRange)
        case 9: self = .ycc(red: 0.2627, blue: 0.0593, isFullRange: isFullRange)
        default: return nil
        }
    }

    var isFullRange: Bool {
        switch self {
        case .ycc(_, _, let isFullRange), .gbr(let isFullRange): isFullRange
        }
    }

    /// Whether the planes can go into a JPEG once their range is right.
    var hasJFIFWeights: Bool {
        switch self {
        case .ycc(let red, let blue, _): red == 0.299 && blue == 0.114
        case .gbr: false
        }
    }

    /// The value of white in the first plane.
    var white: UInt8 { isFullRange ? 255 : 235 }
    /// And of black.
    var black: UInt8 { isFullRange ? 0 : 16 }

    /// To full-range RGB, in the fixed point of `cr_ycc_to_rgb`.
    var matrix: cr_matrix {
        guard case .ycc(let red, let blue, let isFullRange) = self else { return cr_matrix() }
        let luma = isFullRange ? 1 : 255.0 / 219
        let chroma = isFullRange ? 1 : 255.0 / 224
        let green = 1 - red - blue
        func fixed(_ factor: Double) -> Int32 { Int32((factor * 65536).rounded()) }
        return cr_matrix(
            black: isFullRange ? 0 : 16, luma_gain: fixed(luma), red_cr: fixed(2 * (1 - red) * chroma),
            green_cb: fixed(2 * blue * (1 - blue) / green * chroma),
            green_cr: fixed(2 * red * (1 - red) / green * chroma), blue_cb: fixed(2 * (1 - blue) * chroma))
    }

    /// From video range (16...235) to full range, for luma and R, G, B.
    static let expandedLuma: [UInt8] = (0...255).map { clamped((Double($0) - 16) * 255 / 219) }
    /// From video range (16...240 around 128) to full range, for Cb and Cr.
    static let expandedChroma: [UInt8] = (0...255).map { clamped((Double($0) - 128) * 255 / 224 + 128) }

    static func clamped(_ value: Double) -> UInt8 { UInt8(min(max(value.rounded(), 0), 255)) }
}

/// What red, green and blue look like.
enum ColourSpace: Equatable {
    /// Nothing said: sRGB, as everywhere.
    case unspecified
    /// An ICC profile as it stood in the file, not yet checked.
    case profile([UInt8])
    /// ColourPrimaries and TransferCharacteristics of ITU-T H.273.
    case codePoints(primaries: Int, transfer: Int)
    /// PNG's gAMA as decoding exponent, and cHRM as x, y of white, red, green and blue; nil means sRGB's.
    case gamma(Double, chromaticities: [Double]?)
    /// The file has a profile that cannot be had: its parts are not all there, or it is larger than any is.
    case lostProfile

    /// A profile that only grey pictures can have.
    var isOfGrey: Bool {
        guard case .profile(let bytes) = self else { return false }
        return ProfileCheck.checked(bytes)?.space == .grey
    }

    /// Adobe RGB (1998), 4.3.
    static let adobeRGB = ColourSpace.gamma(
        563 / 256, chromaticities: [0.3127, 0.3290, 0.64, 0.33, 0.21, 0.71, 0.15, 0.06])
    /// ROMM RGB (ISO 22028-2), without the straight piece at its dark end.
    static let proPhotoRGB = ColourSpace.gamma(
        1.8, chromaticities: [0.3457, 0.3585, 0.7347, 0.2653, 0.1596, 0.8404, 0.0366, 0.0001])
}
