import Codecs
import PhotoModel
import Testing

@Suite("Damaged and hostile files") struct DamageTests {
    private static let photo = Card(width: 320, height: 240) { x, y in
        (UInt8((x * 7 ^ y * 3) & 255), UInt8(x & 255), UInt8((y * 5) & 255))
    }

    @Test func `D03 a JPEG cut at 60 % gives its upper part and says so`() throws {
        let jpeg = try Self.photo.jpeg()
        let result = try preview(Array(jpeg.prefix(jpeg.count * 6 / 10)))
        #expect(result.isPartial)
        #expect(result.size == PixelSize(width: 320, height: 240))
        let (cut, whole) = (try Card(jpeg: result.jpeg), try Card(jpeg: try preview(jpeg).jpeg))
        let upper = 320 * 3 * 100
        #expect(cut.rgb.prefix(upper) == whole.rgb.prefix(upper))
        #expect(cut.rgb != whole.rgb)
    }

    @Test func `only the end marker missing is no damage`() throws {
        let jpeg = try Self.photo.jpeg()
        let result = try preview(Array(jpeg.dropLast(2)))
        #expect(!result.isPartial)
        #expect(result.warning == "the JPEG has no end marker")
        #expect(result.jpeg == (try preview(jpeg).jpeg))
    }

    @Test func `a progressive JPEG that ends early is partial, though every row is there`() throws {
        let jpeg = try Self.photo.jpeg(progressive: true)
        #expect(try preview(Array(jpeg.prefix(jpeg.count * 7 / 10))).isPartial)
    }

    /// T.81, D.1.8: zeros at the end of the data are left out, so that a decoder makes up what is missing.
    @Test(arguments: ["-arithmetic", "-arithmetic -progressive"])
    func `D03 an arithmetic-coded JPEG without its end is partial, one with more behind it is whole`(
        coding: String
    ) throws {
        let shop = try Workshop()
        try shop.put(try Self.photo.jpeg(), "a.jpg")
        let jpeg = try shop.make("jpegtran \(coding) -outfile @b.jpg @a.jpg", "b.jpg")
        for percent in [5, 60, 99] {
            #expect(try preview(Array(jpeg.prefix(jpeg.count * percent / 100))).isPartial, "\(percent) %")
        }
        let followed = try preview(jpeg + Array("MotionPhoto_Data".utf8))
        let whole = try preview(jpeg)
        #expect(!followed.isPartial && followed.jpeg == whole.jpeg)
    }

    @Test func `stray bytes behind a JPEG and between its segments harm nobody`() throws {
        let jpeg = try Self.photo.jpeg()
        #expect(!(try preview(jpeg + Array("MotionPhoto_Data".utf8)).isPartial))
        var odd = jpeg
        let tables = try #require(JPEGTests.marker(0xdb, in: odd))
        odd.replaceSubrange(tables..<tables, with: [1, 2, 3, 4, 5])
        let result = try preview(odd)
        #expect(!result.isPartial && result.warning != nil)
    }

    @Test func `what holds no picture is corrupt`() throws {
        let jpeg = try Self.photo.jpeg()
        #expect(failure([]) == .corrupt)
        #expect(failure(Array(jpeg.prefix(2))) == .corrupt)
        #expect(failure(Array(jpeg.prefix(200))) == .corrupt)
        #expect(failure([0xff, 0xd8, 0xff, 0xd9]) == .corrupt)
        #expect(failure(Array("hello, world".utf8)) == .corrupt)
        #expect(failure(Array("hello, world".utf8), .png) == .corrupt)
        #expect(failure(Array("hello, world".utf8), .avif) != nil)
        #expect(failure(Array("hello, world".utf8), .heic) != nil)
        #expect(failure(Array("hello, world".utf8), .raw) != nil)
    }

    @Test func `a JPEG that ends before its first row is truncated`() throws {
        let jpeg = try Self.photo.jpeg()
        let scan = try #require(JPEGTests.marker(0xda, in: jpeg))
        #expect(failure(Array(jpeg.prefix(scan + 14))) == .truncated)
    }

    /// 12 bits per sample and lossless coding exist, in hospitals.
    @Test func `codings of other trades are unsupported`() throws {
        var jpeg = try Self.photo.jpeg()
        let frame = try #require(JPEGTests.marker(0xc0, in: jpeg))
        jpeg[frame + 4] = 12
        #expect(failure(jpeg) == .unsupported)
        jpeg[frame + 4] = 8
        jpeg[frame + 1] = 0xc3
        #expect(failure(jpeg) == .unsupported)
    }

    @Test(.timeLimit(.minutes(1))) func `D09 a JPEG of a thousand scans is refused`() throws {
        let jpeg = try Card(width: 640, height: 480) { _, _ in (9, 9, 9) }.jpeg(progressive: true)
        let first = try #require(jpeg.indices.first { jpeg[$0] == 0xff && jpeg[$0 + 1] == 0xda })
        let last = try #require(jpeg.indices.dropLast().last { jpeg[$0] == 0xff && jpeg[$0 + 1] == 0xda })
        #expect(first < last)
        var bomb = Array(jpeg.dropLast(2))
        for _ in 0..<1000 { bomb += jpeg[last..<jpeg.count - 2] }
        #expect(failure(bomb + [0xff, 0xd9]) == .tooLarge)
    }

    /// By other people's tools; all below 640 bytes, or with what describes them there.
    private static func foreignFiles() throws -> [([UInt8], MediaType)] {
        let shop = try Workshop()
        try shop.put(Card.corners(width: 40, height: 24), "a.ppm")
        try shop.run("convert @a.ppm -compress lzw @a.tif")
        // What we read ourselves of colours, and of a container before libheif does.
        try shop.put(try ColourTests.profile(isP3: true), "p3.icc")
        var png = try shop.make("convert @a.ppm -profile @p3.icc @p3.png")
        png.replaceSubrange(33..<33, with: PNGTests.chunk("cICP", [9, 16, 0, 1]))
        try shop.put(try Card.corners(width: 40, height: 24).jpeg(), "a.jpg")
        try shop.run("exiftool -q -overwrite_original -n -ColorSpace=65535 -InteropIndex=R03 @a.jpg")
        let coded = try HEIC.Coded(Card.corners(width: 64, height: 64), in: shop)
        var heic = HEIC([
            HEIC.item(1, coded), HEIC.item(2, coded), HEIC.item(3, coded, [HEIC.auxiliary("urn:x")], isHidden: true),
        ])
        heic.references = [("auxl", 3, [1, 2])]
        return [
            (png, .png), (try shop.bytes("a.jpg"), .jpeg), (heic.bytes, .heic),
            (try shop.make("cwebp -quiet -q 80 @a.ppm -o @a.webp"), .webp),
            (try shop.make("cwebp -quiet -lossless @a.ppm -o @b.webp"), .webp),
            (try shop.make("convert @a.ppm @a.gif"), .gif),
            (try shop.make("tiffcp -c lzw @a.tif @b.tif"), .tiff),
            (try shop.make("tiffcp -t -w 16 -l 16 -c zip @a.tif @c.tif"), .tiff),
            (try shop.make("cjxl --quiet @a.ppm @a.jxl -d 1 --container=1", "a.jxl"), .jpegXL),
        ]
    }

    /// Every byte of the headers changed in turn: any outcome but a crash will do, and it is always one of ours.
    @Test(.timeLimit(.minutes(5))) func `no changed byte of a header brings the decoder down`() throws {
        let decoder = try StillDecoder()
        let spec = PreviewSpec(maxSize: 64, maxPixels: Pixels(1 << 20))
        let files: [([UInt8], MediaType)] =
            [
                (try Card.corners(width: 40, height: 24).jpeg(), .jpeg),
                (try PNGTests.png(Card.corners(width: 40, height: 24)), .png),
            ] + (try Self.foreignFiles())
        let known: Set<Problem.Code> = [.corrupt, .truncated, .unsupported, .tooLarge, .memory]
        for (file, type) in files {
            for offset in 0..<min(file.count, 640) {
                for value in [UInt8(0), 255, file[offset] ^ 1] {
                    var changed = file
                    changed[offset] = value
                    do throws(CodecFailure) {
                        _ = try decoder.preview(of: unsafe changed.span.bytes, type: type, orientation: 1, spec: spec)
                    } catch { #expect(known.contains(error.code), "\(offset) = \(value): \(error)") }
                }
            }
        }
    }
}
