/// What a picture's header tells of how much has to be held to decode it.
package struct PictureCoding: Hashable, Sendable {
    /// As coded: before any crop. nil where the header does not tell.
    package var stored: PixelSize?
    /// Bytes of one sample as the decoding library holds it: 1, or 2 for more than 8 bits.
    package var sampleBytes = 1
    /// Bytes for every 100 pixels that are held until the last one has come, beside the planes: the coefficients of a JPEG
    /// with more than one scan, the passes of an interlaced PNG.
    package var heldPerHundred = 0

    package init() {}
}

/// How much memory making a preview of a file takes at most, from its header: taken from the budget before a decoder starts.
///
/// The figures follow from what the codecs hold, not from measurement; over real photos they sufficed. Where they do not for
/// a file, the decoder is not given more, and is tried once more with four times as much: docs/configuration.md.
package enum DecodeEstimate {
    /// Of a picture that does not tell its size.
    static let unknown = PixelSize(width: 8000, height: 6000)
    /// Tables, profiles, and what every decoder needs besides pixels.
    static let base: Int64 = 16 << 20

    /// - Parameter fileSize: bytes; stills are taken into memory whole.
    package static func bytes(of inspection: Inspection, fileSize: Int64, spec: PreviewSpec) -> ByteCount {
        let coding = inspection.coding
        let stored = coding.stored ?? inspection.facts.size ?? unknown
        // More are refused by the decoder, before it takes memory for them.
        let pixels = min(
            Int64(clamping: stored.width).multipliedClamping(by: Int64(stored.height)), spec.maxPixels.count)
        let file = inspection.mediaType.isVideo ? 0 : min(max(0, fileSize), 1 << 30)
        let sample = Int64(max(1, min(coding.sampleBytes, 4)))
        let held = pixels / 100 * Int64(max(0, min(coding.heldPerHundred, 2000)))
        let picture: Int64
        var planes = stored
        switch inspection.mediaType {
        case .jpeg:
            // Decoded at a fraction of its size; inks take four bytes and become three. A file without an end is copied.
            let part = Int64(PreviewGeometry.jpegDenominator(of: stored, maxSize: spec.longSide(of: stored)))
            planes = PixelSize(width: stored.width / Int(part) + 1, height: stored.height / Int(part) + 1)
            picture = held + 7 * (pixels / (part * part)) + file
        case .png: picture = held + 3 * pixels + file
        case .webp: picture = 8 * pixels  // with alpha: four bytes, and three planes of them
        case .gif: picture = 5 * pixels
        case .tiff: picture = 3 * pixels + 8 * sample * pixels  // one strip may be the whole picture
        case .heic, .heif: picture = 9 * sample * pixels  // tiles, the whole, and the same with another sampling
        case .avif: picture = 9 * sample * pixels
        case .jpegXL: picture = 33 * pixels
        case .raw: picture = 14 * pixels  // the sensor's, what is developed of it, and planes
        case .quicktime, .mp4, .avi, .mpegTS, .matroska: picture = 48 * sample * pixels + (64 << 20)
        default: picture = 3 * pixels
        }
        let shown = PreviewGeometry.size(of: planes, maxSize: max(1, spec.longSide(of: stored)))
        let made = Int64(shown.width) * Int64(shown.height)
        // Between the two passes of scaling: as wide as the source, as high as the result.
        let between = 2 * Int64(planes.width) * Int64(shown.height)
        // An encoder of HEVC holds several pictures, and what it finds in them.
        let encoding: Int64 = spec.export?.format == .heic ? 48 : spec.export == nil ? 12 : 18
        // How opaque each pixel is; for a PNG it is told apart.
        let opacity = spec.keepsAlpha ? Int64(planes.width) * Int64(planes.height) + 2 * made : 0
        return ByteCount(base + file + picture + between + encoding * made + opacity)
    }
}

extension Int64 {
    func multipliedClamping(by other: Int64) -> Int64 {
        let (product, overflow) = multipliedReportingOverflow(by: other)
        return overflow ? .max : product
    }
}
