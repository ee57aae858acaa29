import CResample
import Glibc

/// PQ and HLG to sRGB, simply: to linear light in units of reference white (203 cd/m2, ITU-R BT.2408), primaries
/// changed, everything up to half of white kept as it is, and what is above rolled off smoothly so that 1000 cd/m2
/// becomes white. HLG's system gamma (1.2) is applied to each channel. No metadata is read: a preview wants a plausible
/// picture, not a graded one.
struct HighDynamicRange {
    private let linear: [Float]
    private let matrix: [Float]
    private let tone: [UInt8]

    private static let peak = 1000.0 / 203
    private static let knee = 0.5

    /// nil unless `transfer` (H.273, table 3) is PQ or HLG.
    init?(primaries: Primaries, transfer: Int) {
        guard transfer == 16 || transfer == 18, let source = primaries.toXYZ, let target = Primaries.sRGB.toXYZ?.inverse
        else { return nil }
        // Normalised so that the peak is 1.
        linear = (0...255).map { code in
            let value = Double(code) / 255
            let candelas =
                transfer == 16 ? Self.perceptualQuantizer(value) : 1000 * pow(Self.hybridLogGamma(value), 1.2)
            return Float(min(candelas, 1000) / 1000)
        }
        matrix = target.times(source).values.map { Float($0) }
        tone = (0...65535).map { step in
            let light = Double(step) / 65535 * Self.peak
            return ColourCoding.clamped(255 * Self.sRGBCode(Self.rolledOff(light)))
        }
    }

    /// In place, `count` pixels of RGB.
    func apply(to rgb: UnsafeMutablePointer<UInt8>, count: Int) {
        unsafe cr_tone_map(rgb, count, linear, matrix, tone, Int32(tone.count))
    }

    /// Cd/m2 of a PQ code 0...1 (SMPTE ST 2084).
    private static func perceptualQuantizer(_ code: Double) -> Double {
        let root = pow(code, 1 / 78.84375)
        return 10000 * pow(max(root - 0.8359375, 0) / (18.8515625 - 18.6875 * root), 1 / 0.1593017578125)
    }

    /// Scene light 0...1 of an HLG code 0...1 (ITU-R BT.2100, table 5).
    private static func hybridLogGamma(_ code: Double) -> Double {
        code <= 0.5 ? code * code / 3 : (exp((code - 0.55991073) / 0.17883277) + 0.28466892) / 12
    }

    private static func rolledOff(_ light: Double) -> Double {
        guard light > knee else { return light }
        let above = (light - knee) / (1 - knee)
        let most = (peak - knee) / (1 - knee)
        return knee + (1 - knee) * above * (1 + above / (most * most)) / (1 + above)
    }

    private static func sRGBCode(_ light: Double) -> Double {
        light <= 0.0031308 ? 12.92 * light : 1.055 * pow(min(light, 1), 1 / 2.4) - 0.055
    }
}
