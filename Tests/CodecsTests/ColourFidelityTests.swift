import Codecs
import Foundation
import PhotoModel
import TestSupport
import Testing

/// ΔE (CIE 1976) between the preview, decoded again, and transicc's floating point. The allowance is for what a JPEG of
/// quality 100 does to a flat colour: YCbCr is rounded, and so is RGB, twice.
@Suite("Colours of a preview against another conversion") struct ColourFidelityTests {
    private static let profiles = "/usr/share/color/icc/ghostscript/"

    /// nil, said aloud, where Debian's libgs-common is not installed.
    private static func profile(_ name: String) -> String? {
        let path = profiles + name
        if FileManager.default.fileExists(atPath: path) { return path }
        print("skipped: colours by \(name) (not installed)")
        return nil
    }

    private static func expect(
        _ photo: [UInt8], _ type: MediaType, _ patches: Patches, by wanted: [[Double]], mean: Double, most: Double
    ) throws {
        let result = try preview(photo, type, spec: PreviewSpec(quality: 100))
        #expect(result.warning == nil)
        let distances = try patches.distances(of: result.jpeg, from: wanted)
        let average = distances.reduce(0, +) / Double(distances.count)
        let worst = distances.max() ?? .infinity
        #expect(
            average <= mean && worst <= most,
            "mean \(average), worst \(worst) at \(patches.colours[distances.firstIndex(of: worst) ?? 0])")
    }

    /// Three coordinates of 5 levels each, in PNG: what goes in is exact.
    @Test(arguments: ["a98.icc", "rommrgb.icc", "default_rgb.icc", "p3.icc"])
    func `E11 of red, green and blue are within 0.8 of it in the mean, within 2.5 anywhere`(name: String) throws {
        let (shop, patches) = (try Workshop(), Patches(channels: 3, levels: 5))
        if name == "p3.icc" { try shop.put(try ColourTests.profile(isP3: true), name) }
        guard let profile = name == "p3.icc" ? shop.path(name) : Self.profile(name),
            let wanted = try patches.converted(by: profile, in: shop)
        else { return }
        let size = "\(patches.width) \(patches.height)"
        try shop.put(Array("P6\n\(size)\n255\n".utf8) + patches.samples, "a.ppm")
        let png = try shop.make("convert @a.ppm -profile \(profile) @a.png")
        try Self.expect(png, .png, patches, by: wanted, mean: 0.8, most: 2.5)
    }

    @Test(arguments: ["ps_gray.icc", "sgray.icc"])
    func `of grey are within 0.5 of it anywhere`(name: String) throws {
        let (shop, patches) = (try Workshop(), Patches(channels: 1, levels: 52))
        guard let profile = Self.profile(name), let wanted = try patches.converted(by: profile, in: shop) else {
            return
        }
        try shop.put(Array("P5\n\(patches.width) \(patches.height)\n255\n".utf8) + patches.samples, "a.pgm")
        let png = try shop.make("convert @a.pgm -profile \(profile) @a.png")
        try Self.expect(png, .png, patches, by: wanted, mean: 0.2, most: 0.5)
        let heic = try shop.make("heif-enc -L @a.png -o @a.heic")
        try Self.expect(heic, .heic, patches, by: wanted, mean: 0.2, most: 0.5)
    }

    /// As TIFF, and as JPEG, inverted as Adobe has it.
    @Test(arguments: ["a.tif", "a.jpg"])
    func `E15 E16 of four inks are within 0.8 of it in the mean, within 2.5 anywhere`(file: String) throws {
        let (shop, patches) = (try Workshop(), Patches(channels: 4, levels: 4))
        guard let profile = Self.profile("default_cmyk.icc"),
            let wanted = try patches.converted(by: profile, in: shop)
        else { return }
        try shop.put(patches.samples, "a.cmyk")
        let photo = try shop.make(
            "convert -size \(patches.width)x\(patches.height) -depth 8 @a.cmyk -profile \(profile) -quality 100 "
                + "-sampling-factor 1x1 @\(file)")
        try Self.expect(photo, file == "a.tif" ? .tiff : .jpeg, patches, by: wanted, mean: 0.8, most: 2.5)
    }
}
