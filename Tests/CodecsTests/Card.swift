import CTurboJPEG
import Codecs
import Glibc
import PhotoModel
import Testing

/// A test picture made by code: RGB, 8 bits, rows without gaps.
struct Card: Equatable {
    var width: Int
    var height: Int
    var rgb: [UInt8]

    init(width: Int, height: Int, colour: (Int, Int) -> (UInt8, UInt8, UInt8)) {
        self.width = width
        self.height = height
        rgb = []
        rgb.reserveCapacity(3 * width * height)
        for y in 0..<height {
            for x in 0..<width {
                let (red, green, blue) = colour(x, y)
                rgb += [red, green, blue]
            }
        }
    }

    /// Red top left, green top right, blue bottom left, white bottom right.
    static func corners(width: Int = 192, height: Int = 128) -> Card {
        Card(width: width, height: height) { x, y in
            switch (x < width / 2, y < height / 2) {
            case (true, true): (255, 0, 0)
            case (false, true): (0, 255, 0)
            case (true, false): (0, 0, 255)
            case (false, false): (255, 255, 255)
            }
        }
    }

    /// Smooth in all three channels, so that any shift, mirroring or wrong colour costs many decibels.
    static func slopes(width: Int, height: Int) -> Card {
        Card(width: width, height: height) { x, y in
            let across = Double(x) / Double(max(width - 1, 1))
            let down = Double(y) / Double(max(height - 1, 1))
            return (UInt8(40 + 170 * across), UInt8(60 + 150 * down), UInt8(200 - 90 * across - 70 * down))
        }
    }

    subscript(x: Int, y: Int) -> (Int, Int, Int) {
        let at = 3 * (y * width + x)
        return (Int(rgb[at]), Int(rgb[at + 1]), Int(rgb[at + 2]))
    }

    /// What a camera stores that holds this picture upright under the EXIF orientation: written out from the table of
    /// Exif 2.32 ("the 0th row is at the ..."), not from the code under test.
    func stored(orientation: Int) -> Card {
        let turned = orientation >= 5
        let (w, h) = (width, height)
        return Card(width: turned ? h : w, height: turned ? w : h) { column, row in
            let (x, y): (Int, Int) =
                switch orientation {
                case 2: (w - 1 - column, row)  // row 0 top, column 0 right
                case 3: (w - 1 - column, h - 1 - row)  // bottom, right
                case 4: (column, h - 1 - row)  // bottom, left
                case 5: (row, column)  // left, top
                case 6: (w - 1 - row, column)  // right, top
                case 7: (w - 1 - row, h - 1 - column)  // right, bottom
                case 8: (row, h - 1 - column)  // left, bottom
                default: (column, row)
                }
            let (red, green, blue) = self[x, y]
            return (UInt8(red), UInt8(green), UInt8(blue))
        }
    }

    /// By libjpeg-turbo's packed-pixel calls, which the code under test uses for no ordinary picture.
    func jpeg(_ subsampling: TJSAMP = TJSAMP_444, quality: Int32 = 95, progressive: Bool = false) throws -> [UInt8] {
        let handle = try unsafe #require(unsafe tjInitCompress())
        defer { unsafe tjDestroy(handle) }
        var memory: UnsafeMutablePointer<UInt8>?
        var count = UInt(0)
        let flags = TJFLAG_ACCURATEDCT | (progressive ? TJFLAG_PROGRESSIVE : 0)
        let status = unsafe tjCompress2(
            handle, rgb, Int32(width), 0, Int32(height), Int32(TJPF_RGB.rawValue), &memory, &count,
            Int32(subsampling.rawValue), quality, flags)
        defer { unsafe tjFree(memory) }
        try #require(status == 0)
        return unsafe Array(UnsafeBufferPointer(start: memory, count: Int(count)))
    }

    init(jpeg: [UInt8]) throws {
        let handle = try unsafe #require(unsafe tjInitDecompress())
        defer { unsafe tjDestroy(handle) }
        var (wide, high, subsampling, space) = (Int32(0), Int32(0), Int32(0), Int32(0))
        try #require(
            unsafe tjDecompressHeader3(handle, jpeg, UInt(jpeg.count), &wide, &high, &subsampling, &space) == 0)
        width = Int(wide)
        height = Int(high)
        rgb = [UInt8](repeating: 0, count: 3 * width * height)
        try #require(
            unsafe tjDecompress2(
                handle, jpeg, UInt(jpeg.count), &rgb, wide, 0, high, Int32(TJPF_RGB.rawValue), TJFLAG_ACCURATEDCT) == 0)
    }

    /// Peak signal to noise ratio in decibels, over all channels; nil for different sizes.
    func likeness(to other: Card) -> Double? {
        guard width == other.width, height == other.height else { return nil }
        let error = zip(rgb, other.rgb).reduce(0.0) { sum, pair in
            let difference = Double(pair.0) - Double(pair.1)
            return sum + difference * difference
        }
        return error == 0 ? .infinity : 10 * log10(255 * 255 * Double(rgb.count) / error)
    }

    /// Whether the middle of each quarter has the colour that ``corners(width:height:)`` gives it.
    var hasCornersInPlace: Bool {
        let expected: [(Int, Int, (Int, Int, Int))] = [
            (1, 1, (255, 0, 0)), (3, 1, (0, 255, 0)), (1, 3, (0, 0, 255)), (3, 3, (255, 255, 255)),
        ]
        return expected.allSatisfy { x, y, colour in
            let found = self[width * x / 4, height * y / 4]
            return abs(found.0 - colour.0) < 12 && abs(found.1 - colour.1) < 12 && abs(found.2 - colour.2) < 12
        }
    }
}

/// One preview, as the decoder process asks for it.
func preview(
    _ bytes: [UInt8], _ type: MediaType = .jpeg, orientation: Int = 1, spec: PreviewSpec = PreviewSpec()
) throws(CodecFailure) -> EncodedPreview {
    try StillDecoder.preview(of: unsafe bytes.span.bytes, type: type, orientation: orientation, spec: spec)
}

/// The code with which no preview came; nil when one did.
func failure(
    _ bytes: [UInt8], _ type: MediaType = .jpeg, spec: PreviewSpec = PreviewSpec()
) -> Problem.Code? {
    do throws(CodecFailure) {
        _ = try preview(bytes, type, spec: spec)
        return nil
    } catch { return error.code }
}
