import CLCMS
import Codecs
import PhotoModel
import Testing

@Suite("Colours of a preview") struct ColourTests {
    /// Display P3 (SMPTE EG 432-1 with sRGB's curve), or sRGB itself, as lcms writes it.
    static func profile(isP3: Bool) throws -> [UInt8] {
        let handle: cmsHPROFILE
        if isP3 {
            var white = cmsCIExyY(x: 0.3127, y: 0.3290, Y: 1)
            var points = cmsCIExyYTRIPLE(
                Red: cmsCIExyY(x: 0.680, y: 0.320, Y: 1), Green: cmsCIExyY(x: 0.265, y: 0.690, Y: 1),
                Blue: cmsCIExyY(x: 0.150, y: 0.060, Y: 1))
            let curve = unsafe cmsBuildParametricToneCurve(nil, 4, [2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045])
            defer { unsafe cmsFreeToneCurve(curve) }
            var curves = unsafe [curve, curve, curve]
            unsafe handle = try #require(unsafe cmsCreateRGBProfile(&white, &points, &curves))
        } else {
            unsafe handle = try #require(unsafe cmsCreate_sRGBProfile())
        }
        defer { unsafe cmsCloseProfile(handle) }
        var count = UInt32(0)
        try #require(unsafe cmsSaveProfileToMem(handle, nil, &count) != 0)
        var bytes = [UInt8](repeating: 0, count: Int(count))
        try #require(unsafe cmsSaveProfileToMem(handle, &bytes, &count) != 0)
        return bytes
    }

    /// In `parts` APP2 segments, the last one first: their numbers say the order, not their places.
    private static func tagged(_ jpeg: [UInt8], _ profile: [UInt8], parts: Int = 1) -> [UInt8] {
        let length = (profile.count + parts - 1) / parts
        var result = jpeg
        for number in 0..<parts {
            let part = profile[number * length..<min((number + 1) * length, profile.count)]
            let size = part.count + 16
            result.replaceSubrange(
                2..<2,
                with: [0xff, 0xe2, UInt8(size >> 8), UInt8(size & 255)] + Array("ICC_PROFILE\0".utf8)
                    + [UInt8(number + 1), UInt8(parts)] + part)
        }
        return result
    }

    private static func contains(_ bytes: [UInt8], _ text: String) -> Bool {
        let wanted = Array(text.utf8)
        return bytes.indices.dropLast(wanted.count).contains { Array(bytes[$0..<$0 + wanted.count]) == wanted }
    }

    /// (200, 100, 60) of Display P3 is (214.9, 92.6, 46.9) of sRGB: linearised, through both spaces' XYZ matrices.
    @Test(arguments: [1, 3]) func `E11 Display P3 is converted to sRGB`(parts: Int) throws {
        let card = Card(width: 64, height: 64) { _, _ in (200, 100, 60) }
        let photo = Self.tagged(try card.jpeg(quality: 100), try Self.profile(isP3: true), parts: parts)
        let result = try preview(photo, spec: PreviewSpec(quality: 100))
        let (red, green, blue) = try Card(jpeg: result.jpeg)[32, 32]
        #expect(abs(red - 215) <= 2 && abs(green - 93) <= 2 && abs(blue - 47) <= 2, "\(red) \(green) \(blue)")
        #expect(!Self.contains(result.jpeg, "ICC_PROFILE"))
        #expect(result.warning == nil)
    }

    @Test(arguments: [1, 3]) func `E11 a wide profile that is kept goes along whole`(parts: Int) throws {
        let card = Card(width: 64, height: 64) { _, _ in (200, 100, 60) }
        let profile = try Self.profile(isP3: true)
        let result = try preview(
            Self.tagged(try card.jpeg(quality: 100), profile, parts: parts),
            spec: PreviewSpec(quality: 100, colour: .keep))
        let (red, green, blue) = try Card(jpeg: result.jpeg)[32, 32]
        #expect(abs(red - 200) <= 2 && abs(green - 100) <= 2 && abs(blue - 60) <= 2)
        let segment = try #require(JPEGTests.marker(0xe2, in: result.jpeg))
        #expect(Array(result.jpeg[segment + 18..<segment + 18 + profile.count]) == profile)
    }

    @Test(arguments: [PreviewSpec.Colour.srgb, .keep])
    func `a profile that is sRGB anyway is dropped`(colour: PreviewSpec.Colour) throws {
        let photo = try Card.slopes(width: 64, height: 64).jpeg()
        let tagged = Self.tagged(photo, try Self.profile(isP3: false))
        #expect(try preview(tagged, spec: PreviewSpec(colour: colour)).jpeg == preview(photo).jpeg)
    }

    @Test func `a damaged profile is dropped with a warning`() throws {
        let photo = try Card.slopes(width: 64, height: 64).jpeg()
        let profile = try Self.profile(isP3: true)
        var tooLong = profile
        tooLong[0] = 0x7f  // says that it has 2 GB
        var missing = Self.tagged(photo, profile, parts: 2)
        missing.removeSubrange(2..<4 + (Int(missing[4]) << 8 | Int(missing[5])))
        let damaged = [
            Self.tagged(photo, tooLong), Self.tagged(photo, Array(profile.prefix(100))),
            Self.tagged(photo, [UInt8](repeating: 0xee, count: 400)), missing,
        ]
        let plain = try preview(photo)
        for file in damaged {
            for colour in [PreviewSpec.Colour.srgb, .keep] {
                let result = try preview(file, spec: PreviewSpec(colour: colour))
                #expect(result.jpeg == plain.jpeg)
                #expect(result.warning?.contains("profile") == true)
            }
        }
    }

    @Test func `a profile for other inks than the picture has is dropped`() throws {
        var grey = try Self.profile(isP3: true)
        grey.replaceSubrange(16..<20, with: Array("GRAY".utf8))
        let photo = try Card.slopes(width: 64, height: 64).jpeg()
        let result = try preview(Self.tagged(photo, grey), spec: PreviewSpec(colour: .keep))
        #expect(result.jpeg == (try preview(photo)).jpeg && result.warning != nil)
    }
}
