import CAVIF
import PhotoModel
import Testing

@testable import Codecs

@Suite("Pictures in a HEIF container") struct ContainerTests {
    /// What the container asks for, in the order the standard demands.
    struct Turn: Sendable, CustomStringConvertible {
        var rotation: UInt8?
        var mirror: UInt8?
        var hasCrop = false
        /// Upright under it: what EXIF would have called the stored picture.
        var exif: Int
        var description: String { "irot \(rotation ?? 0), imir \(mirror.map { "\($0)" } ?? "none")" }
    }

    private static let turns: [Turn] = [
        Turn(exif: 1), Turn(mirror: 1, exif: 2), Turn(rotation: 2, exif: 3), Turn(mirror: 0, exif: 4),
        Turn(rotation: 1, mirror: 0, exif: 5), Turn(rotation: 3, exif: 6), Turn(rotation: 3, mirror: 0, exif: 7),
        Turn(rotation: 1, exif: 8),
    ]

    /// By libavif; nil (said aloud) where it was built without an encoder.
    private static func avif(
        _ card: Card, depth: UInt32 = 8, format: avifPixelFormat = AVIF_PIXEL_FORMAT_YUV444,
        range: avifRange =
            AVIF_RANGE_FULL, matrix: Int = 6, alpha: UInt8? = nil, isPremultiplied: Bool = false,
        turn: Turn = Turn(exif: 1), crop: Window? = nil
    ) throws -> [UInt8]? {
        let image = try unsafe #require(unsafe avifImageCreate(UInt32(card.width), UInt32(card.height), depth, format))
        defer { unsafe avifImageDestroy(image) }
        unsafe image.pointee.yuvRange = range
        unsafe image.pointee.matrixCoefficients = avifMatrixCoefficients(matrix)
        unsafe image.pointee.alphaPremultiplied = isPremultiplied ? 1 : 0
        if let rotation = turn.rotation {
            unsafe image.pointee.transformFlags |= AVIF_TRANSFORM_IROT.rawValue
            unsafe image.pointee.irot.angle = rotation
        }
        if let mirror = turn.mirror {
            unsafe image.pointee.transformFlags |= AVIF_TRANSFORM_IMIR.rawValue
            unsafe image.pointee.imir.mode = mirror
        }
        if let crop {
            var rectangle = avifCropRect(
                x: UInt32(crop.x), y: UInt32(crop.y), width: UInt32(crop.width), height: UInt32(crop.height))
            var diagnostics = avifDiagnostics()
            try #require(
                unsafe avifCleanApertureBoxConvertCropRect(
                    &image.pointee.clap, &rectangle, UInt32(card.width), UInt32(card.height), format, &diagnostics)
                    != 0)
            unsafe image.pointee.transformFlags |= AVIF_TRANSFORM_CLAP.rawValue
        }
        var rgba: [UInt8] = []
        for at in stride(from: 0, to: card.rgb.count, by: 3) {
            let isRight = at / 3 % card.width >= card.width / 2
            rgba += card.rgb[at..<at + 3] + [isRight ? alpha ?? 255 : 255]
        }
        try unsafe rgba.withUnsafeMutableBufferPointer { pixels in
            var rgb = unsafe avifRGBImage()
            unsafe avifRGBImageSetDefaults(&rgb, image)
            unsafe rgb.depth = 8
            unsafe rgb.pixels = pixels.baseAddress
            unsafe rgb.rowBytes = UInt32(4 * card.width)
            unsafe rgb.ignoreAlpha = alpha == nil ? 1 : 0
            try #require(unsafe avifImageRGBToYUV(image, &rgb) == AVIF_RESULT_OK)
        }
        let encoder = try unsafe #require(unsafe avifEncoderCreate())
        defer { unsafe avifEncoderDestroy(encoder) }
        unsafe encoder.pointee.minQuantizer = 0
        unsafe encoder.pointee.maxQuantizer = 10
        unsafe encoder.pointee.speed = 10
        var output = unsafe avifRWData()
        defer { unsafe avifRWDataFree(&output) }
        let result = unsafe avifEncoderWrite(encoder, image, &output)
        if result == AVIF_RESULT_NO_CODEC_AVAILABLE {
            print("skipped: pictures in a HEIF container (libavif has no encoder)")
            return nil
        }
        try #require(result == AVIF_RESULT_OK)
        return unsafe Array(UnsafeBufferPointer(start: output.data, count: output.size))
    }

    @Test(arguments: turns, [UInt32(8), 10])
    func `E01 are turned as the container says and once only`(turn: Turn, depth: UInt32) throws {
        let stored = Card.corners().stored(orientation: turn.exif)
        guard let file = try Self.avif(stored, depth: depth, turn: turn) else { return }
        // EXIF says something else, as it may.
        let result = try preview(file, .avif, orientation: 6)
        #expect(result.size == PixelSize(width: 192, height: 128))
        #expect(try Card(jpeg: result.jpeg).hasCornersInPlace)
        // The boxes are those of HEIC: our reader of them must find the same turn.
        let transforms = unsafe file.span.bytes.withUnsafeBytes { memory in
            unsafe ItemProperties(FileBytes(lending: memory))?.turns.all
        }
        let expected =
            (turn.rotation.map { [Transform.rotation(Int($0))] } ?? [])
            + (turn.mirror.map { [Transform.mirror(Int($0))] } ?? [])
        #expect(transforms == expected)
    }

    /// ISO 21496-1: the photo comes first of what the picture is made of, with its own turn.
    @Test(arguments: turns) func `E09 whose picture is a tone map are the photo below it`(turn: Turn) throws {
        guard let file = try Self.avif(Card.corners().stored(orientation: turn.exif), turn: turn) else { return }
        let result = try preview(try HEIC.toneMapped(file), .avif)
        #expect(result.size == PixelSize(width: 192, height: 128))
        #expect(try Card(jpeg: result.jpeg).hasCornersInPlace)
    }

    @Test(arguments: turns) func `E05 are cropped before they are turned`(turn: Turn) throws {
        // The corner card, inside a wide black frame.
        let inner = Card.corners(width: 96, height: 64).stored(orientation: turn.exif)
        let framed = Card(width: inner.width + 60, height: inner.height + 50) { x, y in
            let (column, row) = (x - 40, y - 10)
            guard (0..<inner.width).contains(column), (0..<inner.height).contains(row) else { return (0, 0, 0) }
            let (red, green, blue) = inner[column, row]
            return (UInt8(red), UInt8(green), UInt8(blue))
        }
        let crop = Window(x: 40, y: 10, width: inner.width, height: inner.height)
        guard let file = try Self.avif(framed, turn: turn, crop: crop) else { return }
        let result = try preview(file, .avif)
        #expect(result.size == PixelSize(width: 96, height: 64))
        let card = try Card(jpeg: result.jpeg)
        #expect(card.hasCornersInPlace)
        #expect(card[1, 1].0 > 200 && card[94, 62].1 > 200)  // no black from outside
    }

    /// ISO/IEC 23000-22, 7.3.9; browsers leave such a turn out, libheif does not.
    @Test(arguments: turns) func `are turned without the essential mark as HEIC only`(turn: Turn) throws {
        let stored = Card.corners().stored(orientation: turn.exif)
        guard var file = try Self.avif(stored, turn: turn) else { return }
        // ipma: version and flags, number of items, then id, number of properties and each index with its mark.
        let associations =
            try #require(
                file.indices.first { file[$0...].starts(with: Array("ipma".utf8) + [0, 0, 0, 0, 0, 0, 0, 1]) }) + 14
        for at in associations + 1...associations + Int(file[associations]) { file[at] &= 0x7F }
        let asAVIF = try preview(file, .avif)
        #expect(asAVIF.size == PixelSize(width: stored.width, height: stored.height))
        #expect(try Card(jpeg: asAVIF.jpeg).hasCornersInPlace == (turn.exif == 1))
        let asHEIF = try preview(file, .heif)
        #expect(asHEIF.size == PixelSize(width: 192, height: 128))
        #expect(try Card(jpeg: asHEIF.jpeg).hasCornersInPlace)
    }

    @Test(
        "keep their colours whatever the coding",
        arguments: [
            (8, AVIF_PIXEL_FORMAT_YUV420, AVIF_RANGE_LIMITED, 1), (8, AVIF_PIXEL_FORMAT_YUV422, AVIF_RANGE_FULL, 9),
            (10, AVIF_PIXEL_FORMAT_YUV444, AVIF_RANGE_LIMITED, 6), (12, AVIF_PIXEL_FORMAT_YUV420, AVIF_RANGE_FULL, 1),
            (8, AVIF_PIXEL_FORMAT_YUV444, AVIF_RANGE_FULL, 0), (10, AVIF_PIXEL_FORMAT_YUV420, AVIF_RANGE_LIMITED, 9),
        ] as [(UInt32, avifPixelFormat, avifRange, Int)])
    func colours(depth: UInt32, format: avifPixelFormat, range: avifRange, matrix: Int) throws {
        let card = Card.slopes(width: 159, height: 121)
        guard let file = try Self.avif(card, depth: depth, format: format, range: range, matrix: matrix) else { return }
        let result = try preview(file, .avif, spec: PreviewSpec(quality: 95))
        #expect(try #require(try Card(jpeg: result.jpeg).likeness(to: card)) > 38)
    }

    @Test(arguments: [UInt32(8), 10]) func `lie on white where they are transparent`(depth: UInt32) throws {
        let red = Card(width: 64, height: 64) { _, _ in (220, 20, 20) }
        let file = try Self.avif(
            red, depth: depth, format: AVIF_PIXEL_FORMAT_YUV420, range: AVIF_RANGE_LIMITED, alpha: 0)
        guard let file else { return }
        let card = try Card(jpeg: try preview(file, .avif).jpeg)
        #expect(abs(card[8, 32].0 - 220) < 5 && card[8, 32].1 < 30)
        #expect(card[56, 32].0 > 250 && card[56, 32].1 > 250 && card[56, 32].2 > 250)
    }

    /// Red at half its strength on white: 220 * 128 / 255 + 127 = 237, 20 * 128 / 255 + 127 = 137. Whether the colours have
    /// been multiplied already (ISO/IEC 23008-12, `prem`) makes no difference to what is seen.
    @Test(arguments: [false, true], [(AVIF_RANGE_LIMITED, 6), (AVIF_RANGE_FULL, 6), (AVIF_RANGE_FULL, 0)])
    func `E23 shine through on white where they are half transparent`(
        isPremultiplied: Bool, coding: (range: avifRange, matrix: Int)
    ) throws {
        let red = Card(width: 64, height: 64) { _, _ in (220, 20, 20) }
        let file = try Self.avif(
            red, range: coding.range, matrix: coding.matrix, alpha: 128, isPremultiplied: isPremultiplied)
        guard let file else { return }
        let card = try Card(jpeg: try preview(file, .avif, spec: PreviewSpec(quality: 95)).jpeg)
        for (place, expected) in [(8, (220, 20, 20)), (56, (237, 137, 137))] {
            let (red, green, blue) = card[place, 32]
            #expect(abs(Int(red) - expected.0) < 4, "\(place)")
            #expect(abs(Int(green) - expected.1) < 4 && abs(Int(blue) - expected.2) < 4, "\(place)")
        }
    }

    @Test func `are refused by the header when there are too many pixels`() throws {
        guard let file = try Self.avif(Card.corners()) else { return }
        #expect(failure(file, .avif, spec: PreviewSpec(maxPixels: Pixels(192 * 128 - 1))) == .tooLarge)
        #expect(failure(Array(file.prefix(file.count - 40)), .avif) == .truncated)
    }

    /// As of every other format: what was cut is imported, and what is no good is not.
    @Test(arguments: [30, 60, 90, 99], [MediaType.avif, .heic]) func `are cut, not damaged`(part: Int, type: MediaType)
        throws
    {
        let shop = try Workshop()
        try shop.put(Card.slopes(width: 320, height: 240), "a.ppm")
        try shop.run("convert @a.ppm @a.png")
        let file =
            type == .avif
            ? try shop.make("avifenc -s 10 --min 0 --max 5 @a.png @a.avif")
            : try shop.make("heif-enc -q 95 @a.png -o @a.heic")
        #expect(failure(Array(file.prefix(file.count * part / 100)), type) == .truncated)
    }
}
