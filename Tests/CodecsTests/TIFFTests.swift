import CLCMS
import CSPNG
import Codecs
import PhotoModel
import Testing

/// Pictures by ImageMagick, rewritten by tiffcp and tiffset.
@Suite("A preview of a TIFF") struct TIFFTests {
    private static let card = Card.slopes(width: 149, height: 119)

    /// Strips and tiles, together and apart, in both byte orders, deep and shallow, packed in every way.
    @Test(arguments: [
        "-compress none", "-compress lzw", "-compress zip", "-compress rle", "-depth 16", "-depth 16 -compress zip",
        "-compress jpeg -quality 97 -sampling-factor 1x1", "-endian MSB -depth 16", "-alpha on",
        "-interlace plane", "-interlace plane -depth 16 -compress lzw", "-define tiff:rows-per-strip=7 -compress zip",
    ])
    func `has its pixels`(coding: String) throws {
        let shop = try Workshop()
        try shop.put(Self.card, "a.ppm")
        let tiff = try shop.make("convert @a.ppm \(coding) @a.tif")
        let card = try Card(jpeg: try preview(tiff, .tiff, spec: PreviewSpec(quality: 95)).jpeg)
        #expect(try #require(card.likeness(to: Self.card)) > 38)
    }

    @Test(arguments: [
        "-t -w 32 -l 48", "-t -w 32 -l 48 -p separate", "-p separate -r 5", "-B -c lzw:2", "-8 -c zip", "-c lzma",
        "-t -w 64 -l 16 -c jpeg:97:r", "-f lsb2msb -c packbits", "-c zstd", "-r 1000 -c zip",
    ])
    func `has its pixels in every layout that tiffcp writes`(layout: String) throws {
        let shop = try Workshop()
        try shop.put(Self.card, "a.ppm")
        try shop.run("convert @a.ppm -compress none @b.tif")
        for depth in [8, 16] where depth == 8 || !(layout.contains("jpeg") || layout.contains("separate")) {
            try shop.run("convert @a.ppm -depth \(depth) -compress none @b.tif")
            let tiff = try shop.make("tiffcp \(layout) @b.tif @c.tif")
            let card = try Card(jpeg: try preview(tiff, .tiff, spec: PreviewSpec(quality: 95)).jpeg)
            #expect(try #require(card.likeness(to: Self.card)) > 36, "\(depth) bits")
        }
    }

    /// Grey levels 0, 85, 170 and 255 in four columns: every depth can say them.
    @Test(arguments: [
        "-type Grayscale -depth 2", "-type Grayscale -depth 4", "-type Grayscale -depth 8", "-type Grayscale -depth 16",
        "-type Palette -depth 8",
        "-type Palette -depth 4 -colors 16", "-colorspace Lab -depth 16", "-type Grayscale -depth 8 -alpha on",
    ])
    func `of few levels has these levels`(coding: String) throws {
        let shop = try Workshop()
        try shop.put(
            Card(width: 64, height: 32) { x, _ in (UInt8(x / 16 * 85), UInt8(x / 16 * 85), UInt8(x / 16 * 85)) },
            "a.ppm")
        let tiff = try shop.make("convert @a.ppm \(coding) @a.tif")
        let card = try Card(jpeg: try preview(tiff, .tiff, spec: PreviewSpec(quality: 100)).jpeg)
        for column in 0..<4 {
            let (red, green, blue) = card[column * 16 + 8, 16]
            let wanted = column * 85
            #expect(
                abs(red - wanted) <= 3 && abs(green - wanted) <= 3 && abs(blue - wanted) <= 3,
                "\(wanted): \(red) \(green) \(blue)")
        }
    }

    /// ImageMagick's own writing of it is wrong but for fax codings: negated, and the tag turned round by tiffset.
    @Test(arguments: ["-depth 2", "-depth 4", "-depth 8", "-depth 16"])
    func `of few levels has these levels where 0 is white`(coding: String) throws {
        let shop = try Workshop()
        try shop.put(
            Card(width: 64, height: 32) { x, _ in (UInt8(x / 16 * 85), UInt8(x / 16 * 85), UInt8(x / 16 * 85)) },
            "a.ppm")
        try shop.run("convert @a.ppm -negate -type Grayscale \(coding) -compress lzw @a.tif")
        try shop.run("tiffset -s PhotometricInterpretation 0 @a.tif")
        let card = try Card(jpeg: try preview(try shop.bytes("a.tif"), .tiff, spec: PreviewSpec(quality: 100)).jpeg)
        for column in 0..<4 { #expect(abs(card[column * 16 + 8, 16].1 - column * 85) <= 2, "\(column)") }
    }

    @Test(arguments: ["group4", "fax"])
    func `of black and white is black and white`(packing: String) throws {
        let shop = try Workshop()
        try shop.put(Card(width: 61, height: 40) { x, _ in x < 24 ? (0, 0, 0) : (255, 255, 255) }, "a.ppm")
        for polarity in ["min-is-black", "min-is-white"] {
            let tiff = try shop.make(
                "convert @a.ppm -type Bilevel -define quantum:polarity=\(polarity) -compress \(packing) @a.tif")
            let card = try Card(jpeg: try preview(tiff, .tiff).jpeg)
            #expect(card[10, 20].0 < 5 && card[50, 20].0 > 250, "\(polarity)")
        }
    }

    @Test(arguments: 1...8) func `E20 is upright in all eight orientations`(orientation: Int) throws {
        let shop = try Workshop()
        try shop.put(Card.corners().stored(orientation: orientation), "a.ppm")
        try shop.run("convert @a.ppm -compress none @a.tif")
        // YCbCr goes through libtiff's own conversion, which must not turn it either.
        for options in ["-c none", "-t -w 32 -l 32 -c zip"] {
            try shop.run("tiffcp \(options) @a.tif @b.tif")
            try shop.run("tiffset -s Orientation \(orientation) @b.tif")
            let result = try preview(try shop.bytes("b.tif"), .tiff, orientation: orientation)
            try #require(result.size == PixelSize(width: 192, height: 128))
            #expect(try Card(jpeg: result.jpeg).hasCornersInPlace)
        }
        try shop.run("convert @a.ppm -colorspace YCbCr -compress none @c.tif")
        try shop.run("tiffset -s Orientation \(orientation) @c.tif")
        let result = try preview(try shop.bytes("c.tif"), .tiff, orientation: orientation)
        #expect(try Card(jpeg: result.jpeg).hasCornersInPlace)
    }

    /// Left: invisible black. Right: half visible red, 128 of 255.
    @Test(arguments: ["associated", "unassociated"], [8, 16])
    func `E23 lies on white where it is transparent`(alpha: String, depth: Int) throws {
        var samples: [UInt8] = []
        for _ in 0..<64 { for x in 0..<64 { samples += x < 32 ? [0, 0, 0, 0] : [255, 0, 0, 128] } }
        let shop = try Workshop()
        try shop.put(
            PNGTests.encode(samples, width: 64, height: 64, colourType: SPNG_COLOR_TYPE_TRUECOLOR_ALPHA), "a.png")
        let tiff = try shop.make("convert @a.png -depth \(depth) -define tiff:alpha=\(alpha) @a.tif")
        let card = try Card(jpeg: try preview(tiff, .tiff).jpeg)
        #expect(card[8, 32].0 >= 253 && card[8, 32].1 >= 253 && card[8, 32].2 >= 253)
        let (red, green, blue) = card[56, 32]
        #expect(red >= 252 && abs(green - 127) < 4 && abs(blue - 127) < 4, "\(red) \(green) \(blue)")
    }

    @Test func `shows the first page that is no thumbnail`() throws {
        let shop = try Workshop()
        try shop.put(Card(width: 16, height: 16) { _, _ in (255, 0, 0) }, "small.ppm")
        try shop.put(Card(width: 64, height: 48) { _, _ in (0, 0, 255) }, "large.ppm")
        try shop.run("convert @small.ppm @large.ppm @small.ppm @a.tif")
        #expect(try preview(try shop.bytes("a.tif"), .tiff).size == PixelSize(width: 16, height: 16))
        try shop.run("tiffset -d 0 -s SubfileType 1 @a.tif")
        let result = try preview(try shop.bytes("a.tif"), .tiff)
        try #require(result.size == PixelSize(width: 64, height: 48))
        #expect(try Card(jpeg: result.jpeg)[32, 24].2 > 250)
    }

    @Test func `E16 of four inks is not negative`() throws {
        let shop = try Workshop()
        try shop.put(Card.corners(), "a.ppm")
        for depth in [8, 16] {
            let tiff = try shop.make("convert @a.ppm -colorspace CMYK -depth \(depth) -compress lzw @a.tif")
            #expect(try Card(jpeg: try preview(tiff, .tiff).jpeg).hasCornersInPlace)
        }
    }

    /// By its profile full cyan is a grey of L* 50, which in sRGB is 119 (CIE 15 and IEC 61966-2-1): the plain formula has
    /// bright cyan there.
    @Test(arguments: [8, 16]) func `of four inks goes through its profile`(depth: Int) throws {
        let shop = try Workshop()
        try shop.put(try Self.inkProfile(), "inks.icc")
        let tiff = try shop.make(
            "convert -size 64x64 xc:cmyk(255,0,0,0) -depth \(depth) -profile @inks.icc -compress zip @a.tif")
        let result = try preview(tiff, .tiff, spec: PreviewSpec(quality: 100))
        let (red, green, blue) = try Card(jpeg: result.jpeg)[32, 32]
        #expect(abs(red - 119) <= 2 && abs(green - 119) <= 2 && abs(blue - 119) <= 2, "\(red) \(green) \(blue)")
        #expect(result.warning == nil)
    }

    /// L* is 100 less half of cyan and less black; nothing has a hue.
    private static func inkProfile() throws -> [UInt8] {
        let profile = try unsafe #require(unsafe cmsCreateProfilePlaceholder(nil))
        defer { unsafe cmsCloseProfile(profile) }
        unsafe cmsSetProfileVersion(profile, 2.4)
        unsafe cmsSetDeviceClass(profile, cmsSigOutputClass)
        unsafe cmsSetColorSpace(profile, cmsSigCmykData)
        unsafe cmsSetPCS(profile, cmsSigLabData)
        let pipeline = try unsafe #require(unsafe cmsPipelineAlloc(nil, 4, 3))
        defer { unsafe cmsPipelineFree(pipeline) }
        let table = unsafe cmsStageAllocCLut16bit(nil, 3, 4, 3, nil)
        let isFilled = unsafe cmsStageSampleCLut16bit(
            table,
            { inks, lab, _ in
                guard let inks = unsafe inks, let lab = unsafe lab else { return 0 }
                // As version 2 codes it: 0xff00 is 100, 0x8000 is 0.
                unsafe lab[0] = UInt16(max(0, 65_280 - Int(inks[0]) * 65_280 / 131_070 - Int(inks[3])))
                unsafe lab[1] = 0x8000
                unsafe lab[2] = 0x8000
                return 1
            }, nil, 0)
        try #require(isFilled != 0)
        try #require(unsafe cmsPipelineInsertStage(pipeline, cmsAT_END, table) != 0)
        try #require(unsafe cmsWriteTag(profile, cmsSigAToB0Tag, UnsafeRawPointer(pipeline)) != 0)
        try #require(unsafe cmsWriteTag(profile, cmsSigMediaWhitePointTag, cmsD50_XYZ()) != 0)
        var count = UInt32(0)
        try #require(unsafe cmsSaveProfileToMem(profile, nil, &count) != 0)
        var bytes = [UInt8](repeating: 0, count: Int(count))
        try #require(unsafe cmsSaveProfileToMem(profile, &bytes, &count) != 0)
        return bytes
    }

    /// (200, 100, 60) of Display P3 is (214.9, 92.6, 46.9) of sRGB, as in ColourTests.
    @Test(arguments: [8, 16]) func `E11 Display P3 is converted to sRGB`(depth: Int) throws {
        let shop = try Workshop()
        try shop.put(Card(width: 64, height: 64) { _, _ in (200, 100, 60) }, "a.ppm")
        try shop.put(try ColourTests.profile(isP3: true), "p3.icc")
        let tiff = try shop.make("convert @a.ppm -depth \(depth) -profile @p3.icc @a.tif")
        let (red, green, blue) = try Card(jpeg: try preview(tiff, .tiff, spec: PreviewSpec(quality: 100)).jpeg)[32, 32]
        #expect(abs(red - 215) <= 2 && abs(green - 93) <= 2 && abs(blue - 47) <= 2, "\(red) \(green) \(blue)")
    }

    @Test(arguments: ["-c none", "-c zip -r 10", "-t -w 32 -l 32 -c lzw", "-c jpeg:90:r -r 16"])
    func `D03 cut in the middle shows its upper part on white`(layout: String) throws {
        let card = Card(width: 192, height: 192) { x, y in
            (UInt8(x * 37 & 255), UInt8(y * 91 & 255), UInt8((x ^ y) & 255))
        }
        let shop = try Workshop()
        try shop.put(card, "a.ppm")
        try shop.run("convert @a.ppm -compress none @a.tif")
        // tiffcp writes the directory last: only what lies before it can be missing from a file that still has one.
        let whole = try shop.make("tiffcp \(layout) @a.tif @b.tif")
        #expect(failure(Array(whole.prefix(whole.count * 6 / 10)), .tiff) == .truncated)
        let tiff = try Self.directoryFirst(whole)
        let cut = try preview(Array(tiff.prefix(tiff.count * 8 / 10)), .tiff)
        #expect(cut.isPartial && cut.size == PixelSize(width: 192, height: 192))
        #expect(cut.warning == "the TIFF ends early")
        let (upper, all) = (try Card(jpeg: cut.jpeg), try Card(jpeg: try preview(whole, .tiff).jpeg))
        #expect(upper.rgb.prefix(192 * 3 * 60) == all.rgb.prefix(192 * 3 * 60))
        #expect(upper[100, 190].0 >= 252 && upper[100, 190].1 >= 252)
    }

    @Test(arguments: ["-c zip:2", "-c lzw"]) func `D03 of one strip that is cut, the upper part`(layout: String) throws
    {
        let card = Card.slopes(width: 192, height: 192)
        let shop = try Workshop()
        try shop.put(card, "a.ppm")
        try shop.run("convert @a.ppm -compress none @a.tif")
        let whole = try shop.make("tiffcp \(layout) -r 192 @a.tif @b.tif")
        let tiff = try Self.directoryFirst(whole)
        let cut = try preview(Array(tiff.prefix(tiff.count * 8 / 10)), .tiff)
        #expect(cut.isPartial && cut.warning == "the TIFF ends early")
        let (upper, all) = (try Card(jpeg: cut.jpeg), try Card(jpeg: try preview(whole, .tiff).jpeg))
        #expect(upper.rgb.prefix(192 * 3 * 60) == all.rgb.prefix(192 * 3 * 60))
    }

    /// A copy whose pixels lie behind everything that describes them: as many cameras write it. Little-endian, classic.
    private static func directoryFirst(_ tiff: [UInt8]) throws -> [UInt8] {
        func number(_ at: Int, _ width: Int) -> Int {
            (0..<width).reversed().reduce(0) { $0 << 8 | Int(tiff[at + $1]) }
        }
        func little(_ value: Int) -> [UInt8] { (0..<4).map { UInt8(value >> (8 * $0) & 255) } }
        let start = number(4, 4)
        // All that is not pixels lies from the directory on, or is small and before it: the whole file is put in front,
        // its pixels behind, and the places of the pixels are moved there.
        var copy = tiff
        copy.replaceSubrange(4..<8, with: little(start))
        let entries = number(start, 2)
        for index in 0..<entries {
            let entry = start + 2 + 12 * index
            guard [0x111, 0x144].contains(number(entry, 2)) else { continue }
            let (type, count) = (number(entry + 2, 2), number(entry + 4, 4))
            try #require(type == 4)
            let list = count == 1 ? entry + 8 : number(entry + 8, 4)
            for place in 0..<count {
                let at = list + 4 * place
                copy.replaceSubrange(at..<at + 4, with: little(number(at, 4) + tiff.count))
            }
        }
        // Of the front only what is needed counts as "before": the pixels there are zeros now.
        return copy + tiff
    }

    @Test func `of floating point, and of 32 bits, is unsupported`() throws {
        let shop = try Workshop()
        try shop.put(Card.corners(), "a.ppm")
        #expect(failure(try shop.make("convert @a.ppm -depth 32 -compress none @a.tif"), .tiff) == .unsupported)
        for (bits, format, code) in [(32, 3, Problem.Code.unsupported), (16, 3, .unsupported), (16, 2, .unsupported)] {
            #expect(failure(Self.grey(bits: bits, format: format), .tiff) == code)
        }
        #expect(failure(Self.grey(bits: 16, format: 1), .tiff) == nil)
    }

    /// Found by libFuzzer: 716 bytes that promise 16,129 samples for each of a few pixels, and take half a minute.
    @Test func `of more samples than a pixel can be made of is unsupported`() throws {
        #expect(failure(Self.grey(bits: 8, format: 1, samples: 16), .tiff) == nil)
        #expect(failure(Self.grey(bits: 8, format: 1, samples: 17), .tiff) == .unsupported)
        #expect(failure(Self.grey(bits: 4, format: 1, samples: 1000), .tiff) == .unsupported)
    }

    /// 8 x 8 samples by TIFF 6.0, all zero.
    private static func grey(bits: Int, format: Int, samples: Int = 1) -> [UInt8] {
        func little(_ value: Int, _ width: Int) -> [UInt8] { (0..<width).map { UInt8(value >> (8 * $0) & 255) } }
        let bytes = 8 * bits * samples
        let entries = [
            (256, 8), (257, 8), (258, bits), (259, 1), (262, 1), (273, 134), (277, samples), (278, 8), (279, bytes),
            (339, format),
        ]
        var file = Array("II*\0".utf8) + little(8, 4) + little(entries.count, 2)
        for (tag, value) in entries { file += little(tag, 2) + little(3, 2) + little(1, 4) + little(value, 4) }
        return file + little(0, 4) + [UInt8](repeating: 0, count: bytes)
    }

    /// What ImageMagick makes of it, and reads from it again, to a step of its 8 bits.
    @Test func `of CIE L*a*b* has its colours`() throws {
        let shop = try Workshop()
        try shop.put(Card(width: 64, height: 64) { _, _ in (200, 100, 60) }, "a.ppm")
        let tiff = try shop.make("convert @a.ppm -depth 16 -colorspace Lab @a.tif")
        let (red, green, blue) = try Card(jpeg: try preview(tiff, .tiff, spec: PreviewSpec(quality: 100)).jpeg)[32, 32]
        #expect(abs(red - 200) <= 3 && abs(green - 100) <= 3 && abs(blue - 60) <= 4, "\(red) \(green) \(blue)")
    }

    @Test func `is refused by the header when there are too many pixels`() throws {
        let shop = try Workshop()
        try shop.put(Card.corners(), "a.ppm")
        try shop.run("convert @a.ppm -compress lzw @a.tif")
        try shop.run("tiffset -s ImageWidth 50000 @a.tif")
        try shop.run("tiffset -s ImageLength 50000 @a.tif")
        #expect(failure(try shop.bytes("a.tif"), .tiff) == .tooLarge)
        #expect(failure(Array("II*\0nonsense".utf8), .tiff) == .truncated)
        #expect(failure(Array("II*\0\u{8}\0\0\0nonsense".utf8), .tiff) == .corrupt)
    }
}
