import CTIFF
import PhotoModel

/// How a page's pixels are stored, as far as it has been understood: nothing else is decoded.
struct TIFFLayout {
    /// How samples become colours.
    enum Colours {
        /// One sample is a number in a table of red, green and blue.
        case table([UInt8], isGrey: Bool)
        case rgb
        case inks
        /// CIE L*a*b* by D50; a* and b* have a sign (CIELab) or count from 128 on (ICCLab).
        case lab(isSigned: Bool)
        /// libtiff knows a formula of its own: YCbCr, LogLuv.
        case foreign
    }
    enum Alpha { case none, weighed, unweighed }

    /// Colours, alpha and what else a pixel is made of.
    private static let mostSamples = 16

    let size: PixelSize
    let bits: Int
    /// For each pixel.
    let samples: Int
    let isSeparate: Bool
    let colours: Colours
    let alpha: Alpha
    /// Which sample alpha is.
    let alphaSample: Int
    /// nil for strips.
    let tile: PixelSize?
    let stripRows: Int

    /// - Throws: `.unsupported` for samples of other trades: floating point, signed, 12 or 32 bits, inks without a name.
    init(_ file: borrowing TIFFFile) throws(CodecFailure) {
        func field(_ tag: Int32, or value: Int) -> Int { file.number16(tag) ?? value }
        let size = PixelSize(
            width: Int(file.number32(UInt32(TIFFTAG_IMAGEWIDTH)) ?? 0),
            height: Int(file.number32(UInt32(TIFFTAG_IMAGELENGTH)) ?? 0))
        let coding = UInt16(field(TIFFTAG_COMPRESSION, or: Int(COMPRESSION_NONE)))
        guard TIFFIsCODECConfigured(coding) != 0 else {
            throw CodecFailure(.unsupported, "libtiff does not know compression \(coding)")
        }
        let samples = field(TIFFTAG_SAMPLESPERPIXEL, or: 1)
        // A few bytes may promise 65,535, each of them a look at a picture that is within the limit of pixels.
        guard samples <= Self.mostSamples else {
            throw CodecFailure(.unsupported, "the TIFF has \(samples) samples for each pixel")
        }
        let isSeparate = samples > 1 && field(TIFFTAG_PLANARCONFIG, or: 1) == Int(PLANARCONFIG_SEPARATE)
        let depth = field(TIFFTAG_BITSPERSAMPLE, or: 1)
        let meaning = field(TIFFTAG_PHOTOMETRIC, or: samples >= 3 ? Int(PHOTOMETRIC_RGB) : Int(PHOTOMETRIC_MINISBLACK))
        // Of these the number format says nothing that the coding does not.
        let isSaid = [Int(PHOTOMETRIC_LOGL), Int(PHOTOMETRIC_LOGLUV), Int(PHOTOMETRIC_CIELAB)].contains(meaning)
        let format = field(TIFFTAG_SAMPLEFORMAT, or: Int(SAMPLEFORMAT_UINT))
        guard
            isSaid || [Int(SAMPLEFORMAT_UINT), Int(SAMPLEFORMAT_VOID)].contains(format)
        else {
            let name = format == Int(SAMPLEFORMAT_IEEEFP) ? "in floating point" : "of format \(format)"
            throw CodecFailure(.unsupported, "the TIFF has samples \(name)")
        }
        func need(_ depths: Set<Int>, _ least: Int) throws(CodecFailure) {
            guard depths.contains(depth), samples >= least else {
                throw CodecFailure(
                    .unsupported, "the TIFF has \(samples) samples of \(depth) bits for colour \(meaning)")
            }
        }
        let colours: Colours
        var colourSamples = 3
        switch meaning {
        case Int(PHOTOMETRIC_MINISWHITE), Int(PHOTOMETRIC_MINISBLACK):
            try need([1, 2, 4, 8, 16], 1)
            colourSamples = 1
            let most = (1 << min(depth, 8)) - 1
            let levels = (0...255).map { number -> UInt8 in
                let level = min(number, most) * 255 / most
                return UInt8(meaning == Int(PHOTOMETRIC_MINISWHITE) ? 255 - level : level)
            }
            colours = .table(levels.flatMap { [$0, $0, $0] }, isGrey: true)
        case Int(PHOTOMETRIC_PALETTE):
            try need([1, 2, 4, 8], 1)
            colourSamples = 1
            guard let table = file.palette(bits: depth) else {
                throw CodecFailure(.corrupt, "the TIFF's table of colours is missing")
            }
            colours = .table(table + [UInt8](repeating: 0, count: 768 - table.count), isGrey: false)
        case Int(PHOTOMETRIC_RGB):
            try need([8, 16], 3)
            colours = .rgb
        case Int(PHOTOMETRIC_SEPARATED):
            try need([8, 16], 4)
            guard field(TIFFTAG_INKSET, or: Int(INKSET_CMYK)) == Int(INKSET_CMYK) else {
                throw CodecFailure(.unsupported, "the TIFF has other inks than CMYK")
            }
            colourSamples = 4
            colours = .inks
        case Int(PHOTOMETRIC_YCBCR)
        where coding == UInt16(COMPRESSION_JPEG) && depth == 8 && samples == 3 && !isSeparate:
            unsafe _ = shim_tiff_set_rgb(file.handle)
            colours = .rgb
        case Int(PHOTOMETRIC_CIELAB), Int(PHOTOMETRIC_ICCLAB):
            try need([8, 16], 3)
            guard samples == 3, !isSeparate else {
                throw CodecFailure(.unsupported, "the TIFF has CIE L*a*b* with other samples, or apart")
            }
            colours = .lab(isSigned: meaning == Int(PHOTOMETRIC_CIELAB))
        default: colours = .foreign
        }
        self.size = size
        self.samples = samples
        self.isSeparate = isSeparate
        self.colours = colours
        bits = depth
        let place = file.extras.firstIndex { $0 == Int(EXTRASAMPLE_ASSOCALPHA) || $0 == Int(EXTRASAMPLE_UNASSALPHA) }
        if let place, colourSamples + place < samples {
            alpha = file.extras[place] == Int(EXTRASAMPLE_ASSOCALPHA) ? .weighed : .unweighed
            alphaSample = colourSamples + place
        } else {
            (alpha, alphaSample) = (.none, 0)
        }
        if unsafe TIFFIsTiled(file.handle) != 0 {
            tile = PixelSize(
                width: Int(file.number32(UInt32(TIFFTAG_TILEWIDTH)) ?? 0),
                height: Int(file.number32(UInt32(TIFFTAG_TILELENGTH)) ?? 0))
        } else {
            tile = nil
        }
        let stated = Int(file.number32(UInt32(TIFFTAG_ROWSPERSTRIP)) ?? UInt32.max)
        stripRows = max(1, min(stated, size.height))
    }

    /// Samples of a pixel that lie together.
    var together: Int { isSeparate ? 1 : samples }

    /// Bytes of `width` pixels as libtiff hands them out.
    func rowBytes(_ width: Int) -> Int { (width * together * bits + 7) / 8 }

    /// Of what cannot be read: no ink, or all light.
    var blank: UInt8 {
        switch colours {
        case .inks, .lab: 0
        case .table(let table, _): table[0] == 255 ? 0 : 255
        case .rgb, .foreign: 255
        }
    }
}
