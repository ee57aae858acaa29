import CLCMS

/// A colour conversion to sRGB, relative colorimetric with black-point compensation: in-gamut colours stay exact, and
/// shadows of print profiles do not go grey. Between display profiles it equals perceptual.
///
/// Safe: the handle is used only while the object lives, and lcms reads exactly the pixels it is told.
@safe final class ProfileTransform {
    enum Input { case grey, rgb, cmyk, invertedCMYK, lab }

    private let handle: cmsHTRANSFORM

    private init(_ handle: cmsHTRANSFORM) { unsafe self.handle = unsafe handle }

    deinit { unsafe cmsDeleteTransform(handle) }

    /// nil when lcms cannot make sense of the profile, or it is for other data than `input`.
    static func make(profile bytes: [UInt8], from input: Input) -> ProfileTransform? {
        guard
            let profile = unsafe bytes.withUnsafeBytes({
                unsafe cmsOpenProfileFromMem($0.baseAddress, UInt32($0.count))
            })
        else { return nil }
        defer { unsafe cmsCloseProfile(profile) }
        return unsafe make(from: profile, input)
    }

    /// For a space that is named and not described: `exponent` nil is sRGB's curve.
    static func make(primaries: Primaries, exponent: Double?) -> ProfileTransform? {
        // IEC 61966-2-1 as lcms' parametric curve of type 4.
        let sRGB = [2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045]
        let curve =
            if let exponent { unsafe cmsBuildGamma(nil, exponent) } else {
                unsafe cmsBuildParametricToneCurve(nil, 4, sRGB)
            }
        guard let curve = unsafe curve else { return nil }
        defer { unsafe cmsFreeToneCurve(curve) }
        var white = cmsCIExyY(x: primaries.white.x, y: primaries.white.y, Y: 1)
        var points = cmsCIExyYTRIPLE(
            Red: cmsCIExyY(x: primaries.red.x, y: primaries.red.y, Y: 1),
            Green: cmsCIExyY(x: primaries.green.x, y: primaries.green.y, Y: 1),
            Blue: cmsCIExyY(x: primaries.blue.x, y: primaries.blue.y, Y: 1))
        var curves: [OpaquePointer?] = unsafe [curve, curve, curve]
        guard let profile = unsafe cmsCreateRGBProfile(&white, &points, &curves) else { return nil }
        defer { unsafe cmsCloseProfile(profile) }
        return unsafe make(from: profile, .rgb)
    }

    /// From CIE L*a*b* by D50, 8 bits: L* 255 is 100, a* and b* 128 are 0.
    static func makeLab() -> ProfileTransform? {
        guard let profile = unsafe cmsCreateLab4Profile(nil) else { return nil }
        defer { unsafe cmsCloseProfile(profile) }
        return unsafe make(from: profile, .lab)
    }

    private static func make(from profile: cmsHPROFILE, _ input: Input) -> ProfileTransform? {
        let (space, format) =
            switch input {
            case .grey: (cmsSigGrayData, shim_TYPE_GRAY_8)
            case .rgb: (cmsSigRgbData, shim_TYPE_RGB_8)
            case .cmyk: (cmsSigCmykData, shim_TYPE_CMYK_8)
            case .invertedCMYK: (cmsSigCmykData, shim_TYPE_CMYK_8_REV)
            case .lab: (cmsSigLabData, shim_TYPE_Lab_8)
            }
        guard unsafe cmsGetColorSpace(profile) == space, let target = unsafe cmsCreate_sRGBProfile() else { return nil }
        defer { unsafe cmsCloseProfile(target) }
        // Grey is converted once for each of 256 levels, so it needs no tables, which cost a linear curve its shadows.
        let exactness = input == .grey ? shim_no_optimization : 0
        guard
            let handle = unsafe cmsCreateTransform(
                profile, format, target, shim_TYPE_RGB_8, shim_relative_intent,
                shim_black_point_compensation | exactness)
        else { return nil }
        return unsafe ProfileTransform(handle)
    }

    /// `count` pixels; `target` may be `source` when both are RGB.
    func apply(_ source: UnsafePointer<UInt8>, to target: UnsafeMutablePointer<UInt8>, count: Int) {
        var done = 0
        while done < count {  // lcms counts in 32 bits
            let now = min(count - done, 1 << 24)
            unsafe cmsDoTransform(handle, source + done * bytesPerPixel, target + done * 3, UInt32(now))
            done += now
        }
    }

    private var bytesPerPixel: Int {
        let channels = unsafe cmsGetTransformInputFormat(handle) >> 3 & 15
        return Int(channels)
    }

    /// Whether RGB comes out as it went in, to 2 of 255: then converting is not worth an error of rounding.
    var isNearlyIdentity: Bool {
        let steps: [UInt8] = [0, 32, 64, 96, 128, 160, 192, 224, 255]
        var colours: [UInt8] = []
        for red in steps { for green in steps { for blue in steps { colours += [red, green, blue] } } }
        var converted = [UInt8](repeating: 0, count: colours.count)
        unsafe converted.withUnsafeMutableBufferPointer { target in
            unsafe colours.withUnsafeBufferPointer { source in
                guard let from = source.baseAddress, let to = target.baseAddress else { return }
                unsafe apply(from, to: to, count: colours.count / 3)
            }
        }
        return zip(colours, converted).allSatisfy { abs(Int($0) - Int($1)) <= 2 }
    }

    /// What each grey level becomes.
    var greyTable: [UInt8] {
        let levels = (0...255).map { UInt8($0) }
        var converted = [UInt8](repeating: 0, count: 768)
        unsafe converted.withUnsafeMutableBufferPointer { target in
            unsafe levels.withUnsafeBufferPointer { source in
                guard let from = source.baseAddress, let to = target.baseAddress else { return }
                unsafe apply(from, to: to, count: 256)
            }
        }
        return (0...255).map { converted[3 * $0 + 1] }
    }
}
