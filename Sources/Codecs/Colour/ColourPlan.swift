import PhotoModel

/// What is to be done so that a picture's colours come out right.
struct ColourPlan {
    enum Step {
        /// The numbers already are sRGB, or stay as they are with ``ColourPlan/embedded``.
        case none
        case grey(table: [UInt8])
        case transform(ProfileTransform)
        case toneMap(HighDynamicRange)
    }

    var step = Step.none
    /// The profile that goes along.
    var embedded: [UInt8]?
    var warning: String?
}

/// Decides ``ColourPlan``s, and remembers those of the last few profiles: a card's photos all carry the same one.
final class ColourPlanner {
    private struct Key: Hashable {
        var profile: [UInt8]
        var isGrey: Bool
        var colour: PreviewSpec.Colour
    }
    private var plans: [Key: ColourPlan] = [:]

    func plan(for space: ColourSpace, isGrey: Bool, colour: PreviewSpec.Colour) -> ColourPlan {
        switch space {
        case .unspecified: return ColourPlan()
        case .profile(let bytes):
            let key = Key(profile: bytes, isGrey: isGrey, colour: colour)
            if let known = plans[key] { return known }
            let made = plan(profile: bytes, isGrey: isGrey, colour: colour)
            if plans.count >= 8 { plans.removeAll() }
            plans[key] = made
            return made
        case .codePoints(let primaries, let transfer): return plan(primaries: primaries, transfer: transfer)
        case .gamma(let exponent, let chromaticities):
            let points = chromaticities.flatMap { Self.primaries($0) } ?? .sRGB
            // With sRGB's primaries 2.2 is how writers say sRGB (PNG, third edition, 11.3.2.5).
            if abs(exponent - 2.2) < 0.022, Self.areNearlySRGB(points) { return ColourPlan() }
            guard let transform = ProfileTransform.make(primaries: points, exponent: exponent)
            else { return ColourPlan(warning: "the gamma of the file makes no sense and was ignored") }
            return ColourPlan(step: .transform(transform))
        case .lostProfile: return ColourPlan(warning: ProfileCheck.isDamaged)
        }
    }

    private func plan(profile bytes: [UInt8], isGrey: Bool, colour: PreviewSpec.Colour) -> ColourPlan {
        let malformed = ColourPlan(warning: ProfileCheck.isDamaged)
        guard let (profile, space) = ProfileCheck.checked(bytes) else { return malformed }
        switch (space, isGrey) {
        case (.grey, true):
            // A preview has three components, and a grey profile does not fit those: converted even when kept.
            guard let transform = ProfileTransform.make(profile: profile, from: .grey) else { return malformed }
            return ColourPlan(step: .grey(table: transform.greyTable))
        case (.rgb, _):
            guard let transform = ProfileTransform.make(profile: profile, from: .rgb) else { return malformed }
            if transform.isNearlyIdentity { return ColourPlan() }
            return colour == .keep ? ColourPlan(embedded: profile) : ColourPlan(step: .transform(transform))
        case (.grey, false), (.cmyk, _), (.other, _): return ColourPlan(warning: ProfileCheck.isForeign)
        }
    }

    /// Without a profile to hand on, other spaces than sRGB are converted whatever `colour` says.
    private func plan(primaries: Int, transfer: Int) -> ColourPlan {
        let points = Primaries(codePoint: primaries)
        if let hdr = HighDynamicRange(primaries: points ?? .sRGB, transfer: transfer) {
            return ColourPlan(step: .toneMap(hdr))
        }
        let exponent: Double? =
            switch transfer {
            case 4: 2.2
            case 5: 2.8
            case 8: 1
            default: nil  // BT.709 and its kin are shown on sRGB screens as they are
            }
        // BT.601's primaries too: too near to be worth it, and often only a default somebody left there.
        guard let points, primaries != 1, primaries != 5, primaries != 6, primaries != 22 else {
            guard let exponent, let transform = ProfileTransform.make(primaries: .sRGB, exponent: exponent) else {
                return ColourPlan()
            }
            return ColourPlan(step: .transform(transform))
        }
        guard let transform = ProfileTransform.make(primaries: points, exponent: exponent) else { return ColourPlan() }
        return ColourPlan(step: .transform(transform))
    }

    private static func primaries(_ values: [Double]) -> Primaries? {
        guard values.count == 8, values.allSatisfy({ $0 > 0 && $0 < 1 }) else { return nil }
        return Primaries(
            values[0], values[1], values[2], values[3], values[4], values[5], values[6], values[7])
    }

    private static func areNearlySRGB(_ points: Primaries) -> Bool {
        func near(_ left: (x: Double, y: Double), _ right: (x: Double, y: Double)) -> Bool {
            abs(left.x - right.x) < 0.002 && abs(left.y - right.y) < 0.002
        }
        let target = Primaries.sRGB
        return near(points.white, target.white) && near(points.red, target.red) && near(points.green, target.green)
            && near(points.blue, target.blue)
    }
}
