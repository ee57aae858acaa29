/// How the stored rows and columns of a picture are turned until it is upright: one of the eight ways a rectangle can lie.
package struct Orientation: Hashable, Sendable {
    /// Whether the stored columns are mirrored. Mirroring comes first, then ``swapsAxes``.
    package var flipsX: Bool
    /// Whether the stored rows are mirrored.
    package var flipsY: Bool
    /// Whether what runs along the stored rows runs down the shown columns.
    package var swapsAxes: Bool

    package static let upright = Orientation(swapsAxes: false, flipsX: false, flipsY: false)

    package init(swapsAxes: Bool, flipsX: Bool, flipsY: Bool) {
        self.swapsAxes = swapsAxes
        self.flipsX = flipsX
        self.flipsY = flipsY
    }

    /// By the value of the EXIF tag (Exif 2.32, 0x0112); anything but 2...8 is upright.
    package init(exif value: Int) {
        switch value {
        case 2: self.init(swapsAxes: false, flipsX: true, flipsY: false)
        case 3: self.init(swapsAxes: false, flipsX: true, flipsY: true)
        case 4: self.init(swapsAxes: false, flipsX: false, flipsY: true)
        case 5: self.init(swapsAxes: true, flipsX: false, flipsY: false)
        case 6: self.init(swapsAxes: true, flipsX: false, flipsY: true)
        case 7: self.init(swapsAxes: true, flipsX: true, flipsY: true)
        case 8: self.init(swapsAxes: true, flipsX: true, flipsY: false)
        default: self = .upright
        }
    }

    /// First this, then `next`, as one.
    package func then(_ next: Orientation) -> Orientation {
        Orientation(
            swapsAxes: swapsAxes != next.swapsAxes,
            flipsX: flipsX != (swapsAxes ? next.flipsY : next.flipsX),
            flipsY: flipsY != (swapsAxes ? next.flipsX : next.flipsY))
    }

    /// The size of a picture of `size` once it is turned.
    package func shown(_ size: PixelSize) -> PixelSize {
        swapsAxes ? PixelSize(width: size.height, height: size.width) : size
    }
}

package enum PreviewGeometry {
    /// The fraction of its size at which a JPEG is decoded, 1, 2, 4 or 8.
    ///
    /// Powers of two only: the other scales have no vector code and cost as much as the next larger one. With 1.5
    /// times the preview's longer side a preview comes within 0.001 SSIM of one that was scaled from twice or more, for
    /// the fine detail that the smaller decode weakens is strengthened in scaling.
    package static func jpegDenominator(of size: PixelSize, maxSize: Int) -> Int {
        let long = max(size.width, size.height)
        for denominator in [8, 4, 2] where 2 * long >= 3 * maxSize * denominator { return denominator }
        return 1
    }

    /// The exact size of a preview: the longer side is `maxSize` or, when that is less, its shown length; the other is
    /// rounded to nearest, at least 1. DESIGN section 7.
    ///
    /// - Precondition: sides and `maxSize` are 1 or more, and below 2^31.
    package static func size(of shown: PixelSize, maxSize: Int) -> PixelSize {
        let long = max(shown.width, shown.height)
        let limit = min(long, maxSize)
        func scaled(_ side: Int) -> Int { max(1, (2 * side * limit + long) / (2 * long)) }
        return PixelSize(width: scaled(shown.width), height: scaled(shown.height))
    }

    /// The size of a rendition of it; a square is as large as the shorter side allows.
    package static func size(of shown: PixelSize, _ rendition: RenditionSpec) -> PixelSize {
        guard rendition.crop == .square else { return size(of: shown, maxSize: rendition.maxSize) }
        let side = max(1, min(rendition.maxSize, shown.width, shown.height))
        return PixelSize(width: side, height: side)
    }
}
