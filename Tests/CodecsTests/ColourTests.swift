import CLCMS
import Codecs
import Foundation
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

    /// (200, 100, 60) of Adobe RGB is (227.1, 100.1, 54.7) of sRGB: gamma 563/256, through both spaces' XYZ matrices.
    /// DCF says it by R03, some cameras by a ColorSpace of 2; who says sRGB, or nothing, means sRGB.
    @Test(arguments: [
        ("-ColorSpace=65535 -InteropIndex=R03", true), ("-ColorSpace=2", true),
        ("-ColorSpace=1 -InteropIndex=R03", false),
        ("-ColorSpace=65535", false), ("-ColorSpace=1 -InteropIndex=R98", false),
    ])
    func `E11 Adobe RGB that only EXIF tells of is converted`(tags: String, isAdobe: Bool) throws {
        let shop = try Workshop()
        let card = Card(width: 64, height: 64) { _, _ in (200, 100, 60) }
        try shop.put(try card.jpeg(quality: 100), "a.jpg")
        try shop.put(card, "a.ppm")
        try shop.run("convert @a.ppm @a.tif")
        try shop.run("exiftool -q -overwrite_original -n \(tags) @a.jpg @a.tif")
        let inside = try shop.bytes("a.jpg")
        let files: [([UInt8], MediaType)] = [(inside, .jpeg), (try shop.bytes("a.tif"), .tiff)]
        for (photo, type) in files {
            for colour in [PreviewSpec.Colour.srgb, .keep] {
                let result = try preview(photo, type, spec: PreviewSpec(quality: 100, colour: colour))
                let (red, green, blue) = try Card(jpeg: result.jpeg)[32, 32]
                let wanted = isAdobe ? (227, 100, 55) : (200, 100, 60)
                #expect(
                    abs(red - wanted.0) <= 3 && abs(green - wanted.1) <= 3 && abs(blue - wanted.2) <= 3,
                    "\(type) \(tags): \(red) \(green) \(blue)")
                #expect(!Self.contains(result.jpeg, "ICC_PROFILE") && result.warning == nil)
            }
        }
        // A profile says more than EXIF.
        let tagged = Self.tagged(inside, try Self.profile(isP3: true))
        #expect(try Card(jpeg: try preview(tagged, spec: PreviewSpec(quality: 100)).jpeg)[32, 32].0 < 218)
    }

    /// What is wrong with a Display P3 profile, by the place of its signature: `acsp` stands 36 bytes behind its start.
    private static let damages: [(name: String, offset: Int, bytes: [UInt8])] = [
        ("wrong signature", 0, Array("nono".utf8)), ("says that it has 2 GB", -36, [0x7F, 0xFF, 0xFF, 0xFF]),
        ("for inks", -20, Array("CMYK".utf8)), ("for grey", -20, Array("GRAY".utf8)),
        ("in Lab", -20, Array("Lab ".utf8)), ("a device link", -24, Array("link".utf8)),
        // The number of tags stands behind the header: none, and then more than there is room for.
        ("without a tag", 92, [0, 0, 0, 0]), ("tags without end", 92, [0x7F, 0xFF, 0xFF, 0xFF]),
    ]

    @Test(arguments: damages.indices) func `a profile that is no good is dropped with a warning`(number: Int) throws {
        let damage = Self.damages[number]
        let shop = try Workshop()
        try shop.put(Card(width: 64, height: 64) { _, _ in (200, 100, 60) }, "a.ppm")
        try shop.put(try Self.profile(isP3: true), "p3.icc")
        try shop.run("convert @a.ppm -profile @p3.icc -define png:color-type=2 @a.png")
        try shop.run("convert @a.png -quality 100 -sampling-factor 1x1 @a.jpg")
        try shop.run("convert @a.png @a.tif")
        try shop.run("cwebp -quiet -lossless -metadata icc @a.png -o @a.webp")
        try shop.run("heif-enc -q 100 @a.png -o @a.heic")
        try shop.run("avifenc -s 10 --min 0 --max 0 -y 444 @a.png @a.avif")
        let types: [(String, MediaType)] = [
            ("jpg", .jpeg), ("tif", .tiff), ("webp", .webp), ("heic", .heic), ("avif", .avif),
        ]
        for (name, type) in types {
            var photo = try shop.bytes("a.\(name)")
            let signature = try #require(
                photo.indices.first { photo[$0...].starts(with: Array("acsp".utf8)) }, "no profile in a.\(name)")
            let good = try preview(photo, type)
            let seen = try Card(jpeg: good.jpeg)[32, 32].0
            #expect(good.warning == nil && seen > 211, "\(name): \(seen)")
            photo.replaceSubrange(signature + damage.offset..<signature + damage.offset + 4, with: damage.bytes)
            for colour in [PreviewSpec.Colour.srgb, .keep] {
                let result = try preview(photo, type, spec: PreviewSpec(quality: 100, colour: colour))
                let (red, green, blue) = try Card(jpeg: result.jpeg)[32, 32]
                #expect(
                    abs(red - 200) <= 3 && abs(green - 100) <= 3 && abs(blue - 60) <= 3,
                    "\(name), \(damage.name): \(red) \(green) \(blue)")
                #expect(result.warning?.contains("profile") == true, "\(name), \(damage.name)")
                #expect(!Self.contains(result.jpeg, "ICC_PROFILE") && !result.isPartial)
            }
        }
    }

    /// The chunk's checksum does not hold, so libspng passes over it.
    @Test func `a profile that does not inflate is dropped with a warning`() throws {
        let shop = try Workshop()
        try shop.put(Card(width: 64, height: 64) { _, _ in (200, 100, 60) }, "a.ppm")
        try shop.put(try Self.profile(isP3: true), "p3.icc")
        var png = try shop.make("convert @a.ppm -profile @p3.icc @a.png")
        let chunk = try #require(png.indices.first { png[$0...].starts(with: Array("iCCP".utf8)) })
        png[chunk + 60] ^= 0xFF
        let result = try preview(png, .png)
        #expect(result.warning?.contains("profile") == true)
        let red = try Card(jpeg: result.jpeg)[32, 32].0
        #expect(abs(red - 200) <= 3)
    }

    @Test(arguments: [("damaged", "nono", 0), ("for another kind", "RGB ", -20)])
    func `E15 E16 inks whose profile is no good are shown by the plain formula, with a warning`(
        why: String, bytes: String, offset: Int
    ) throws {
        let profile = "/usr/share/color/icc/ghostscript/default_cmyk.icc"
        guard FileManager.default.fileExists(atPath: profile) else {
            return print("skipped: inks whose profile is no good (no \(profile))")
        }
        let shop = try Workshop()
        for name in ["a.jpg", "a.tif"] {
            var photo = try shop.make(
                "convert -size 64x64 xc:cmyk(0,128,255,0) -profile \(profile) -quality 100 @\(name)")
            let signature = try #require(photo.indices.first { photo[$0...].starts(with: Array("acsp".utf8)) })
            photo.replaceSubrange(signature + offset..<signature + offset + 4, with: Array(bytes.utf8))
            let result = try preview(photo, name == "a.jpg" ? .jpeg : .tiff, spec: PreviewSpec(quality: 100))
            #expect(result.warning?.contains(why) == true, "\(name): \(result.warning ?? "")")
            let (red, green, blue) = try Card(jpeg: result.jpeg)[32, 32]
            #expect(abs(red - 255) <= 3 && abs(green - 127) <= 3 && abs(blue) <= 3, "\(red) \(green) \(blue)")
        }
    }

    /// By the rule that docs/configuration.md states, computed apart from this code. 148 of PQ is 203 cd/m2, reference white.
    private static let highRanges: [(transfer: Int, coded: (UInt8, UInt8, UInt8), wanted: (Int, Int, Int))] = [
        (16, (148, 148, 148), (225, 225, 225)), (16, (60, 60, 60), (39, 39, 39)), (16, (120, 100, 80), (182, 99, 60)),
        (16, (200, 200, 200), (255, 255, 255)), (18, (148, 148, 148), (165, 165, 165)),
        (18, (60, 60, 60), (57, 57, 57)),
        (18, (120, 100, 80), (142, 101, 77)), (18, (200, 200, 200), (231, 231, 231)),
    ]

    @Test(arguments: highRanges.indices, [PreviewSpec.Colour.srgb, .keep])
    func `PQ and HLG are tone mapped as is written`(number: Int, colour: PreviewSpec.Colour) throws {
        let (transfer, coded, wanted) = Self.highRanges[number]
        let shop = try Workshop()
        try shop.put(Card(width: 64, height: 64) { _, _ in coded }, "a.ppm")
        let png = try shop.make("convert @a.ppm -define png:color-type=2 @a.png")
        let avif = try shop.make("avifenc -s 10 --min 0 --max 0 -y 444 -r full --cicp 9/\(transfer)/9 @a.png @a.avif")
        // cICP stands before the pixels; sRGB, which ImageMagick writes, counts less.
        var tagged = png
        tagged.replaceSubrange(33..<33, with: PNGTests.chunk("cICP", [9, UInt8(transfer), 0, 1]))
        let name = transfer == 16 ? "PeQ" : "HLG"
        let jxl = try shop.make("cjxl --quiet -d 0 -x color_space=RGB_D65_202_Rel_\(name) @a.ppm @a.jxl")
        for (photo, type) in [(avif, MediaType.avif), (tagged, .png), (jxl, .jpegXL)] {
            let result = try preview(photo, type, spec: PreviewSpec(quality: 100, colour: colour))
            let (red, green, blue) = try Card(jpeg: result.jpeg)[32, 32]
            #expect(
                abs(red - wanted.0) <= 4 && abs(green - wanted.1) <= 4 && abs(blue - wanted.2) <= 4,
                "\(type): \(red) \(green) \(blue)")
            #expect(result.warning == nil)
        }
    }
}
