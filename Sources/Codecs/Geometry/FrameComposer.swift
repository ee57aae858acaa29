import Metadata
package import PhotoModel

/// A movie's frame as its decoder lends it: planes, and what they mean. Good for one call.
package struct FramePlanes {
    /// Rows of 8 bits, or of 16-bit words where there are more.
    package struct Plane {
        let foreign: PlaneImport.Foreign

        /// nil when the numbers cannot be: then no row may be touched.
        package init?(_ base: UnsafePointer<UInt8>?, stride: Int, size: PixelSize, depth: Int) {
            guard
                let foreign = unsafe PlaneImport.Foreign(
                    base, stride: stride, width: size.width, height: size.height, depth: depth)
            else { return nil }
            self.foreign = foreign
        }
    }

    /// Code points of ITU-T H.273.
    package struct Colour {
        var matrix: Int
        var isFullRange: Bool
        var primaries: Int
        var transfer: Int

        package init(matrix: Int, isFullRange: Bool, primaries: Int, transfer: Int) {
            self.matrix = matrix
            self.isFullRange = isFullRange
            self.primaries = primaries
            self.transfer = transfer
        }
    }

    /// Luma, or green.
    let first: Plane
    let colour: Colour
    /// Cb and Cr, or blue and red; nil for grey.
    package var others: (Plane, Plane)?
    package var subsampling = (horizontal: 1, vertical: 1)
    /// The decoder had to make up a part of it.
    package var isDamaged = false

    package init(first: Plane, colour: Colour) {
        self.first = first
        self.colour = colour
    }

    /// Less than one in a hundred samples is brighter than an eighth above black; every fourth of every fourth row counts.
    package var isNearlyBlack: Bool {
        let plane = first.foreign
        let step = plane.depth > 8 ? 2 : 1
        let limit = (colour.isFullRange ? 32 : 44) << (plane.depth - 8)
        var (seen, bright) = (0, 0)
        for y in stride(from: 0, to: plane.height, by: 4) {
            for x in stride(from: 0, to: plane.width, by: 4) {
                let sample = unsafe plane.base + y * plane.stride + x * step
                let value = unsafe step == 2 ? Int(sample[0]) | Int(sample[1]) << 8 : Int(sample[0])
                seen += 1
                if value > limit { bright += 1 }
            }
        }
        return bright * 100 < seen
    }
}

/// From a movie's frame to a finished preview, the way of stills: scaled, turned, in the right colours.
package final class FrameComposer {
    private let composer: PreviewComposer
    private let planes = PlaneImport()

    /// - Throws: `.memory`.
    package init() throws(CodecFailure) { composer = try PreviewComposer() }

    package func trim(to limit: Int) {
        composer.trim(to: limit)
        planes.trim(to: limit)
    }

    /// - Parameter pixelAspect: width of a pixel per height.
    package func preview(
        _ frame: FramePlanes, orientation: Orientation, pixelAspect: Double, spec: PreviewSpec
    ) throws(CodecFailure) -> EncodedPreview {
        guard let coding = ColourCoding(matrix: frame.colour.matrix, isFullRange: frame.colour.isFullRange) else {
            throw CodecFailure(.unsupported, "the movie's colours (matrix \(frame.colour.matrix)) cannot be decoded")
        }
        func plane(_ foreign: PlaneImport.Foreign, _ number: Int) throws(CodecFailure) -> Plane {
            try planes.plane(
                foreign, number: number, coding: coding, subsampling: (1, 1), alpha: nil, isPremultiplied: false)
        }
        // What a movie says of itself is no EXIF.
        composer.carried = spec.export.map { _ in CarriedMetadata() }
        let first = frame.first.foreign
        var chroma: (Plane, Plane)?
        if let (second, third) = frame.others { chroma = (try plane(second.foreign, 1), try plane(third.foreign, 2)) }
        var picture = PlanarPicture(
            first: try plane(first, 0), chroma: chroma,
            storedSize: PixelSize(width: first.width, height: first.height), orientation: orientation)
        picture.subsampling = frame.subsampling
        picture.coding = coding
        picture.pixelAspect = pixelAspect
        picture.space = .codePoints(primaries: frame.colour.primaries, transfer: frame.colour.transfer)
        return try composer.compose(
            DecodedPicture(
                picture: picture, isPartial: frame.isDamaged, warning: frame.isDamaged ? "the frame is damaged" : nil),
            spec: spec)
    }
}
