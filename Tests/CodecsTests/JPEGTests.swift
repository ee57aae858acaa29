import CTurboJPEG
import Codecs
import PhotoModel
import Testing

@Suite("A preview of a JPEG") struct JPEGTests {
    @Test(arguments: 1...8) func `E20 is upright in all eight orientations`(orientation: Int) throws {
        let stored = Card.corners().stored(orientation: orientation)
        let result = try preview(try stored.jpeg(), orientation: orientation)
        #expect(result.size == PixelSize(width: 192, height: 128))
        #expect(try Card(jpeg: result.jpeg).hasCornersInPlace)
    }

    @Test(arguments: [0, 9, 65_535]) func `E21 shows an illegal orientation as stored`(orientation: Int) throws {
        let result = try preview(try Card.corners().jpeg(), orientation: orientation)
        #expect(try Card(jpeg: result.jpeg).hasCornersInPlace)
    }

    /// An odd size, turned: a chroma plane off by one luma pixel, or a mirrored row, costs decibels at once.
    @Test(
        arguments: [TJSAMP_444, TJSAMP_422, TJSAMP_420, TJSAMP_440, TJSAMP_411], [1, 3, 6, 7])
    func `keeps colours in place for every sampling`(subsampling: TJSAMP, orientation: Int) throws {
        let card = Card.slopes(width: 319, height: 239)
        let stored = try card.stored(orientation: orientation).jpeg(subsampling)
        let whole = try preview(stored, orientation: orientation)
        #expect(try #require(try Card(jpeg: whole.jpeg).likeness(to: card)) > 40)
        let small = try preview(stored, orientation: orientation, spec: PreviewSpec(maxSize: 101))
        let expected = Card.slopes(width: 101, height: 76)
        #expect(small.size == PixelSize(width: 101, height: 76))
        #expect(try #require(try Card(jpeg: small.jpeg).likeness(to: expected)) > 37)
    }

    /// Big enough for every DCT scale: 1/1, 1/2, 1/4 and 1/8 of the size.
    @Test(arguments: [900, 500, 300, 150, 80, 33]) func `scales right from any fraction of the size`(side: Int) throws {
        let jpeg = try Card.slopes(width: 1003, height: 677).jpeg(TJSAMP_420)
        let result = try preview(jpeg, spec: PreviewSpec(maxSize: side))
        let size = PreviewGeometry.size(of: PixelSize(width: 1003, height: 677), maxSize: side)
        #expect(result.size == size)
        let expected = Card.slopes(width: size.width, height: size.height)
        #expect(try #require(try Card(jpeg: result.jpeg).likeness(to: expected)) > 37)
    }

    @Test func `of a grey picture is grey`() throws {
        let result = try preview(try Card.slopes(width: 90, height: 70).jpeg(TJSAMP_GRAY))
        let card = try Card(jpeg: result.jpeg)
        #expect((0..<70).allSatisfy { card[$0, $0].0 == card[$0, $0].1 && card[$0, $0].1 == card[$0, $0].2 })
        #expect(card[80, 35].0 > card[5, 35].0)
    }

    /// The components renamed to R, G, B, and nothing that says otherwise: then they are not YCbCr (libjpeg's rule).
    @Test func `takes red, green and blue as such when the file holds them`() throws {
        var jpeg = try Card(width: 64, height: 64) { _, _ in (0, 0, 0) }.jpeg()
        let flat = try Card(width: 64, height: 64) { _, _ in (200, 90, 40) }.jpeg()
        jpeg = flat
        // Drop JFIF, then rename the components in SOF0 and SOS.
        let app0 = 4 + (Int(jpeg[4]) << 8 | Int(jpeg[5]))
        jpeg.removeSubrange(2..<app0)
        let frame = try #require(Self.marker(0xc0, in: jpeg))
        let scan = try #require(Self.marker(0xda, in: jpeg))
        for (number, name) in "RGB".utf8.enumerated() {
            jpeg[frame + 10 + 3 * number] = name
            jpeg[scan + 5 + 2 * number] = name
        }
        // Y, Cb and Cr of (200, 90, 40) by T.871, now read as R, G and B.
        let found = try Card(jpeg: try preview(jpeg).jpeg)[32, 32]
        #expect(abs(found.0 - 117) <= 3 && abs(found.1 - 84) <= 3 && abs(found.2 - 187) <= 3, "\(found)")
    }

    @Test func `E15 E16 shows four inks in plausible colours, with Adobe's marker and without`() throws {
        // Inverted, as Adobe's marker says: 255 is no ink. Little cyan, some magenta, much yellow, no black.
        let inks: [UInt8] = [230, 120, 40, 255]
        let (width, height) = (64, 64)
        var pixels: [UInt8] = []
        for _ in 0..<width * height { pixels += inks }
        let handle = try unsafe #require(unsafe tjInitCompress())
        defer { unsafe tjDestroy(handle) }
        var memory: UnsafeMutablePointer<UInt8>?
        var count = UInt(0)
        try #require(
            unsafe tjCompress2(
                handle, pixels, Int32(width), 0, Int32(height), Int32(TJPF_CMYK.rawValue), &memory, &count,
                Int32(TJSAMP_444.rawValue), 95, TJFLAG_ACCURATEDCT) == 0)
        defer { unsafe tjFree(memory) }
        var jpeg = unsafe Array(UnsafeBufferPointer(start: memory, count: Int(count)))
        let ycck = try Card(jpeg: try preview(jpeg).jpeg)[32, 32]
        #expect(abs(ycck.0 - 230) < 6 && abs(ycck.1 - 120) < 6 && abs(ycck.2 - 40) < 6, "\(ycck)")

        // Without the marker libjpeg takes the four components for plain ink amounts: what was Y, Cb, Cr of the
        // inverse (25, 135, 215) is now cyan 111, magenta 187, yellow 66, and black 255 is all black.
        let adobe = try #require(Self.marker(0xee, in: jpeg))
        jpeg.removeSubrange(adobe..<adobe + 2 + (Int(jpeg[adobe + 2]) << 8 | Int(jpeg[adobe + 3])))
        let plain = try Card(jpeg: try preview(jpeg).jpeg)[32, 32]
        #expect(plain.0 < 6 && plain.1 < 6 && plain.2 < 6, "\(plain)")
    }

    /// The same numbers, packed by another coder: the same preview. Debian's libjpeg-turbo has it built in.
    @Test(arguments: ["-arithmetic", "-arithmetic -progressive"])
    func `E18 of an arithmetic-coded JPEG is that of the same picture in Huffman's code`(coding: String) throws {
        let (shop, photo) = (try Workshop(), try Card.slopes(width: 320, height: 240).jpeg(TJSAMP_420))
        try shop.put(photo, "a.jpg")
        let packed = try shop.make("jpegtran \(coding) -outfile @b.jpg @a.jpg", "b.jpg")
        // Arithmetic coding conditioning stands in no other file (ITU-T T.81, B.2.4.3), nor a frame 9 or 10.
        #expect(Self.marker(coding.contains("progressive") ? 0xCA : 0xC9, in: packed) != nil)
        let result = try preview(packed, spec: PreviewSpec(maxSize: 160))
        #expect(result.jpeg == (try preview(photo, spec: PreviewSpec(maxSize: 160))).jpeg && !result.isPartial)
    }

    @Test func `carries nothing of what the camera wrote`() throws {
        var jpeg = try Card.corners().jpeg()
        let secret = Array("Exif\0\0GPS 47.3769 N 8.5417 E".utf8)
        jpeg.replaceSubrange(2..<2, with: [0xff, 0xe1, 0, UInt8(secret.count + 2)] + secret)
        jpeg.replaceSubrange(2..<2, with: [0xff, 0xfe, 0, UInt8(secret.count + 2)] + secret)
        let result = try preview(jpeg, spec: PreviewSpec(colour: .keep))
        var segments: [UInt8] = []
        var offset = 2
        while result.jpeg[offset + 1] != 0xda {
            segments.append(result.jpeg[offset + 1])
            offset += 2 + (Int(result.jpeg[offset + 2]) << 8 | Int(result.jpeg[offset + 3]))
        }
        // JFIF, tables, one baseline frame.
        #expect(Set(segments) == [0xe0, 0xdb, 0xc0, 0xc4])
        #expect(result.jpeg.suffix(2) == [0xff, 0xd9])
        #expect(!String(decoding: result.jpeg, as: UTF8.self).contains("GPS"))
    }

    @Test func `is refused by the header when there are too many pixels`() throws {
        let jpeg = try Card.corners().jpeg()
        #expect(failure(jpeg, spec: PreviewSpec(maxPixels: Pixels(192 * 128 - 1))) == .tooLarge)
        #expect(failure(jpeg, spec: PreviewSpec(maxPixels: Pixels(192 * 128))) == nil)
    }

    @Test func `comes the same from a decoder that has seen other photos`() throws {
        let decoder = try StillDecoder()
        let photos = [
            try Card.slopes(width: 700, height: 500).jpeg(TJSAMP_420), try Card.corners().jpeg(TJSAMP_GRAY),
            try Card.slopes(width: 33, height: 900).jpeg(TJSAMP_422),
        ]
        for photo in photos + photos.reversed() {
            let reused = try decoder.preview(
                of: unsafe photo.span.bytes, type: .jpeg, orientation: 6, spec: PreviewSpec(maxSize: 200))
            let fresh = try preview(photo, orientation: 6, spec: PreviewSpec(maxSize: 200))
            #expect(reused.jpeg == fresh.jpeg)
        }
    }

    /// Offset of the marker's 0xff.
    static func marker(_ code: UInt8, in jpeg: [UInt8]) -> Int? {
        var offset = 2
        while offset + 3 < jpeg.count, jpeg[offset] == 0xff {
            if jpeg[offset + 1] == code { return offset }
            offset += 2 + (Int(jpeg[offset + 2]) << 8 | Int(jpeg[offset + 3]))
        }
        return nil
    }
}
