import Metadata
import PhotoModel

/// One 8-bit plane, lent by whoever decoded it. Rows are `stride` bytes apart.
///
/// Safe while the decoder that filled it lives: pictures are composed before it goes.
@safe struct Plane {
    let base: UnsafePointer<UInt8>
    let stride: Int
    /// Samples that may be read in each row, 1 or more.
    let width: Int
    /// Rows, 1 or more.
    let height: Int

    init(_ base: UnsafePointer<UInt8>, stride: Int, width: Int, height: Int) {
        unsafe self.base = unsafe base
        self.stride = stride
        self.width = width
        self.height = height
    }
}

/// A part of the stored picture, in its pixels.
struct Window: Equatable {
    var x: Int
    var y: Int
    var width: Int
    var height: Int
}

/// A decoded picture as the codecs hand it on: planes as stored, and what they mean.
struct PlanarPicture {
    /// Luma, or grey; green when ``coding`` is `.gbr`.
    var first: Plane
    /// Cb and Cr, or blue and red; nil for grey.
    var chroma: (Plane, Plane)?
    /// How opaque it is, where somebody wants to know: as many samples as ``first``. The other planes lie on white.
    var alpha: Plane?
    /// Size of the picture in the file, before ``window`` and ``orientation``.
    var storedSize: PixelSize
    /// Samples of ``first`` per stored pixel, for a picture decoded at a fraction of its size.
    var scale = 1.0
    /// Stored pixels, along each side, whose mean a sample is: that is what the smaller inverse transforms of libjpeg
    /// make of a block, and what libwebp's rescaler does.
    var reduction: Int { max(1, Int((1 / scale).rounded())) }
    /// Luma samples per chroma sample.
    var subsampling = (horizontal: 1, vertical: 1)
    /// What is shown of the stored picture.
    var window: Window
    var orientation: Orientation
    /// Width of a stored pixel per height.
    var pixelAspect = 1.0
    var coding = ColourCoding.jfif
    var space = ColourSpace.unspecified

    init(first: Plane, chroma: (Plane, Plane)?, storedSize: PixelSize, orientation: Orientation) {
        self.first = first
        self.chroma = chroma
        self.storedSize = storedSize
        self.orientation = orientation
        window = Window(x: 0, y: 0, width: storedSize.width, height: storedSize.height)
    }

    /// Believes what EXIF says of the colours where nothing better is known.
    mutating func take(_ stated: StatedColour?) {
        guard space == .unspecified, let stated else { return }
        switch stated {
        case .adobeRGB: space = .adobeRGB
        case .proPhotoRGB: space = .proPhotoRGB
        }
    }

    var shownSize: PixelSize {
        let width = pixelAspect == 1 ? window.width : max(1, Int((Double(window.width) * pixelAspect).rounded()))
        return orientation.shown(PixelSize(width: width, height: window.height))
    }

    /// The middle of it, as wide as it is high.
    var squared: PlanarPicture {
        var part = self
        let shownWidth = Double(window.width) * pixelAspect
        let side = min(shownWidth, Double(window.height))
        part.window.width = min(window.width, max(1, Int((side / pixelAspect).rounded())))
        part.window.height = min(window.height, max(1, Int(side.rounded())))
        part.window.x += (window.width - part.window.width) / 2
        part.window.y += (window.height - part.window.height) / 2
        return part
    }
}

/// What became of a file: a picture in its decoder's buffers, good until that decoder's next call.
struct DecodedPicture {
    var picture: PlanarPicture
    /// Whether a part of it was missing or damaged in the file.
    var isPartial = false
    /// What was odd about the file all the same.
    var warning: String?
}
