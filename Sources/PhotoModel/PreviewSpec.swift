/// What a preview shall be like, as the decoder is told.
package struct PreviewSpec: Hashable, Sendable {
    /// What becomes of a picture in another colour space than sRGB.
    package enum Colour: String, Hashable, Sendable {
        /// Converted; the preview carries no profile.
        case srgb
        /// The pixels stay and the profile goes along.
        case keep
    }

    /// Longest side, pixels, 1 or more.
    package var maxSize: Int
    /// JPEG quality, 1...100.
    package var quality: Int
    package var colour: Colour
    /// A picture of more pixels is refused (`E_TOO_LARGE`) before memory is taken for it.
    package var maxPixels: Pixels
    /// Further pictures of the same decode.
    package var renditions: [RenditionSpec]
    /// Not a preview, but a file of its own is wanted.
    package var export: ExportSpec?

    /// Whether what is made can be transparent; else it lies on white.
    package var keepsAlpha: Bool { export?.format == .png }

    package init(
        maxSize: Int = 1200, quality: Int = 82, colour: Colour = .srgb, maxPixels: Pixels = .mega(400),
        renditions: [RenditionSpec] = []
    ) {
        self.maxSize = maxSize
        self.quality = quality
        self.colour = colour
        self.maxPixels = maxPixels
        self.renditions = renditions
    }

    /// More bytes than the preview and its renditions take, whatever they show: a byte for each pixel, or two at the highest
    /// qualities, and a mebibyte at least. Of noise libjpeg's cjpeg makes 0.63 bytes a pixel at 82, 1.0 at 95, 1.6 at 100.
    package var mostBytes: Int64 {
        ([maxSize] + renditions.map(\.maxSize)).reduce(0) { sum, side in
            let side = Int64(min(max(side, 0), 65_535))
            return sum + max(1 << 20, side * side * (quality > 90 ? 2 : 1))
        }
    }

    /// How long the longer side of a decode has to be for all that is made of it: of a square the shorter side counts.
    package func longSide(of picture: PixelSize) -> Int {
        let (long, short) = (max(picture.width, picture.height), max(1, min(picture.width, picture.height)))
        return renditions.reduce(maxSize) { most, rendition in
            guard rendition.crop == .square else { return max(most, rendition.maxSize) }
            let (needed, overflow) = rendition.maxSize.multipliedReportingOverflow(by: long)
            return max(most, overflow ? long : min(long, (needed + short - 1) / short))
        }
    }

    package init(_ settings: PreviewSettings) {
        self.init(
            maxSize: settings.maxSize, quality: settings.quality, colour: settings.colour == .keep ? .keep : .srgb,
            maxPixels: settings.maxPixels, renditions: settings.renditions)
    }
}
