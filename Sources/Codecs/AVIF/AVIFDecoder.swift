import CAVIF
import PhotoModel

/// Decodes AVIF by libavif, planes as they are coded. Everything AVIF comes here rather than to libheif: of the two only
/// libavif opens image sequences ('avis': the first frame counts) and leaves 10-bit planes and turns to us, so one way
/// does for all. Where it knows too little, as of pictures derived from others, ``StillDecoder`` asks libheif.
///
/// Turns and crops count only when they are marked essential, as MIAF demands (ISO/IEC 23000-22, 7.3.9): the decoders of
/// browsers leave the others out, and whoever made the file saw it there. HEIC is another matter, see ``ItemProperties``.
final class AVIFDecoder {
    private let planes = PlaneImport()
    private let mended = PlaneBuffer()

    /// Item types that libavif takes a picture of; of another it says that there is none.
    private static let known: Set<String> = ["av01", "grid"]

    /// Composes while the frame is still there.
    ///
    /// - Throws: `.unsupported` for what libavif does not do, though the file is sound.
    func preview(
        of file: FileBytes, spec: PreviewSpec, composer: PreviewComposer
    ) throws(CodecFailure) -> EncodedPreview {
        // The frames of a sequence are turned by its track, where there is no such mark.
        let item = file.holds("avis", at: 8) ? nil : ItemProperties(file)
        if let type = item?.type, !Self.known.contains(type) {
            throw CodecFailure(.unsupported, "the picture is coded as '\(SafeText.of(type))', which cannot be decoded")
        }
        let edits = item == nil ? [] : ToneMap(file)?.edits ?? []
        let readable = try ContainerEdit.apply(edits, to: file, in: mended)
        let session = try AVIFSession(readable, maxPixels: spec.maxPixels, readsItem: item != nil)
        let frame = try session.firstFrame(maxPixels: spec.maxPixels)
        var warnings: [String] = []
        var coding = ColourCoding.ycc(red: 0.299, blue: 0.114, isFullRange: frame.isFullRange)
        if let known = ColourCoding(matrix: frame.matrix, isFullRange: frame.isFullRange) {
            // Identity needs three whole planes; a grey picture is grey whatever its matrix says.
            if known != .gbr(isFullRange: frame.isFullRange) || frame.subsampling?.horizontal == 1 { coding = known }
        } else {
            warnings.append("colour matrix \(frame.matrix) is not known and BT.601 was taken for it")
        }
        let alpha: Plane? =
            if let foreign = frame.alpha {  // libavif hands alpha out in full range
                try planes.alpha(foreign, isFullRange: true)
            } else { nil }
        func plane(_ number: Int, _ factors: (horizontal: Int, vertical: Int)) throws(CodecFailure) -> Plane {
            guard let foreign = frame.plane(number, factors) else {
                throw CodecFailure(.corrupt, "a plane of the AVIF is missing")
            }
            return try planes.plane(
                foreign, number: number, coding: coding, subsampling: factors, alpha: alpha,
                isPremultiplied: frame.isPremultiplied)
        }
        var chroma: (Plane, Plane)?
        if let factors = frame.subsampling { chroma = (try plane(1, factors), try plane(2, factors)) }
        var picture = PlanarPicture(
            first: try plane(0, (1, 1)), chroma: chroma, storedSize: frame.size, orientation: .upright)
        picture.subsampling = frame.subsampling ?? (1, 1)
        picture.alpha = alpha
        picture.coding = coding
        picture.space = frame.space
        if !picture.apply(item?.turns.essential ?? frame.transforms) {
            warnings.append("the crop makes no sense and was ignored")
        }
        let warning = warnings.isEmpty ? nil : warnings.joined(separator: "; ")
        return try composer.compose(DecodedPicture(picture: picture, warning: warning), spec: spec)
    }

    func trim(to limit: Int) {
        planes.trim(to: limit)
        mended.trim(to: limit)
    }
}

/// A decoded frame.
///
/// Safe while the session that decoded it lives: the planes are its own.
@safe private struct AVIFFrame {
    private let image: avifImage

    init(_ image: avifImage) { unsafe self.image = unsafe image }

    var size: PixelSize { unsafe PixelSize(width: Int(image.width), height: Int(image.height)) }
    var isFullRange: Bool { unsafe image.yuvRange == AVIF_RANGE_FULL }
    var matrix: Int { unsafe Int(image.matrixCoefficients) }
    var isPremultiplied: Bool { unsafe image.alphaPremultiplied != 0 }

    /// nil for grey.
    var subsampling: (horizontal: Int, vertical: Int)? {
        switch unsafe image.yuvFormat {
        case AVIF_PIXEL_FORMAT_YUV444: (1, 1)
        case AVIF_PIXEL_FORMAT_YUV422: (2, 1)
        case AVIF_PIXEL_FORMAT_YUV420: (2, 2)
        default: nil
        }
    }

    func plane(_ number: Int, _ factors: (horizontal: Int, vertical: Int)) -> PlaneImport.Foreign? {
        let bases = unsafe image.yuvPlanes
        let strides = unsafe image.yuvRowBytes
        let base = unsafe number == 0 ? bases.0 : number == 1 ? bases.1 : bases.2
        let stride = number == 0 ? strides.0 : number == 1 ? strides.1 : strides.2
        return unsafe PlaneImport.Foreign(
            base, stride: Int(stride), width: (size.width + factors.horizontal - 1) / factors.horizontal,
            height: (size.height + factors.vertical - 1) / factors.vertical, depth: Int(image.depth))
    }

    var alpha: PlaneImport.Foreign? {
        unsafe PlaneImport.Foreign(
            image.alphaPlane, stride: Int(image.alphaRowBytes), width: size.width, height: size.height,
            depth: Int(image.depth))
    }

    var space: ColourSpace {
        if let base = unsafe image.icc.data, unsafe image.icc.size > 0 {
            guard unsafe image.icc.size <= ProfileCheck.largest else { return .lostProfile }
            return .profile(unsafe Array(UnsafeBufferPointer(start: base, count: image.icc.size)))
        }
        return unsafe .codePoints(
            primaries: Int(image.colorPrimaries), transfer: Int(image.transferCharacteristics))
    }

    /// In the order that MIAF demands (ISO/IEC 23000-22, 7.3.6.7): crop, rotation, mirror.
    var transforms: [Transform] {
        var transforms: [Transform] = []
        let flags = unsafe image.transformFlags
        if flags & AVIF_TRANSFORM_CLAP.rawValue != 0 {
            let clap = unsafe image.clap
            let numbers = [
                clap.widthN, clap.widthD, clap.heightN, clap.heightD, clap.horizOffN, clap.horizOffD, clap.vertOffN,
                clap.vertOffD,
            ]
            transforms.append(.crop(numbers.map { Int(Int32(bitPattern: $0)) }))
        }
        if flags & AVIF_TRANSFORM_IROT.rawValue != 0 { unsafe transforms.append(.rotation(Int(image.irot.angle))) }
        if flags & AVIF_TRANSFORM_IMIR.rawValue != 0 { unsafe transforms.append(.mirror(Int(image.imir.mode))) }
        return transforms
    }
}

/// One reading of a file by libavif.
///
/// Safe: the decoder goes back with its owner, which does not outlive the file's bytes; the image it hands out is a copy
/// of the struct whose planes live as long as this does.
@safe private final class AVIFSession {
    private let decoder: UnsafeMutablePointer<avifDecoder>

    /// - Parameter readsItem: the still picture even if there is a sequence, too; otherwise libavif chooses.
    init(_ file: FileBytes, maxPixels: Pixels, readsItem: Bool) throws(CodecFailure) {
        guard let decoder = unsafe avifDecoderCreate() else {
            throw CodecFailure(.memory, "no memory for an AVIF decoder")
        }
        unsafe self.decoder = unsafe decoder
        unsafe decoder.pointee.maxThreads = 1
        unsafe decoder.pointee.ignoreExif = 1
        unsafe decoder.pointee.ignoreXMP = 1
        // A photo whose writer forgot a box is still a photo.
        unsafe decoder.pointee.strictFlags = AVIF_STRICT_DISABLED.rawValue
        unsafe decoder.pointee.imageSizeLimit = UInt32(min(max(maxPixels.count, 1), 16384 * 16384))
        unsafe decoder.pointee.imageDimensionLimit = 65_535
        if readsItem { try check(unsafe avifDecoderSetSource(decoder, AVIF_DECODER_SOURCE_PRIMARY_ITEM)) }
        let base = unsafe file.memory.bindMemory(to: UInt8.self).baseAddress
        try check(unsafe avifDecoderSetIOMemory(decoder, base, file.count))
        try check(unsafe avifDecoderParse(decoder))
    }

    deinit { unsafe avifDecoderDestroy(decoder) }

    func firstFrame(maxPixels: Pixels) throws(CodecFailure) -> AVIFFrame {
        guard let image = unsafe decoder.pointee.image else {
            throw CodecFailure(.corrupt, "there is no picture in the AVIF")
        }
        let (width, height) = unsafe (Int(image.pointee.width), Int(image.pointee.height))
        guard Int64(width) * Int64(height) <= maxPixels.count else { throw .tooLarge(width, height, limit: maxPixels) }
        try check(unsafe avifDecoderNextImage(decoder))
        guard let decoded = unsafe decoder.pointee.image else {
            throw CodecFailure(.corrupt, "there is no picture in the AVIF")
        }
        return unsafe AVIFFrame(decoded.pointee)
    }

    private func check(_ result: avifResult) throws(CodecFailure) {
        guard result != AVIF_RESULT_OK else { return }
        let summary = unsafe String(cString: avifResultToString(result))
        let detail = unsafe withUnsafeBytes(of: &decoder.pointee.diag.error) { error in
            unsafe String(decoding: error.prefix { $0 != 0 }, as: UTF8.self)
        }
        let text = SafeText.of(detail.isEmpty ? summary : detail, limit: 200)
        // Its limits have no code of their own, nor have an item of more bytes than the file, and alpha of another size.
        let isLimit = detail.contains("too large") || detail.contains("too big")
        let isCut = detail.contains("truncated")
        let isUnlike = detail.contains("does not match srcAlpha")
        let code: Problem.Code =
            switch result {
            case AVIF_RESULT_TRUNCATED_DATA: .truncated
            case AVIF_RESULT_NOT_IMPLEMENTED, AVIF_RESULT_NO_CODEC_AVAILABLE, AVIF_RESULT_UNSUPPORTED_DEPTH:
                .unsupported
            case AVIF_RESULT_OUT_OF_MEMORY: .memory
            default: isCut ? .truncated : isUnlike ? .unsupported : isLimit ? .tooLarge : .corrupt
            }
        throw CodecFailure(code, "the AVIF cannot be decoded: \(text)")
    }
}
