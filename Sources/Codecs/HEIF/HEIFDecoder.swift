import CHEIF
import Metadata
import PhotoModel

/// Decodes HEIC and HEIF by libheif to planes, and turns and crops them ourselves while scaling. The EXIF orientation is
/// never looked at: the container's own transforms are the truth, and phones write both.
final class HEIFDecoder {
    private let planes = PlaneImport()
    private let mended = PlaneBuffer()

    /// Item types that libheif with libde265 and an AV1 decoder can make a picture of.
    private static let known: Set<String> = ["hvc1", "av01", "grid", "iden", "iovl"]

    /// Composes while the decoded picture is still there.
    ///
    /// - Parameter isAVIF: only what is marked essential turns and crops, see ``AVIFDecoder``.
    func preview(
        of file: FileBytes, isAVIF: Bool = false, spec: PreviewSpec, composer: PreviewComposer
    ) throws(CodecFailure) -> EncodedPreview {
        let properties = ItemProperties(file)
        if let type = properties?.type, !Self.known.contains(type) {
            throw CodecFailure(.unsupported, "the picture is coded as '\(SafeText.of(type))', which cannot be decoded")
        }
        guard !file.contains("iovl") || !Overlay.mayLeaveCanvas(in: file.source) else {
            throw CodecFailure(.unsupported, "a part of the picture reaches over its left or upper edge, or may do so")
        }
        let plan = properties.flatMap { TurnPlan($0, isAVIF: isAVIF) }
        let session = try open(file, plan?.edits ?? [], isSound: properties != nil, spec)
        let ours = plan?.transforms
        let image = try session.decode(ignoringTransforms: ours != nil)

        guard let luma = image.plane(heif_channel_Y) else {
            throw CodecFailure(.corrupt, "the HEIF has no picture planes")
        }
        let alpha: Plane? =
            if let foreign = image.plane(heif_channel_Alpha) {
                try planes.alpha(foreign, isFullRange: true)
            } else { nil }
        let isPremultiplied = session.isPremultiplied
        let subsampling = image.subsampling
        let space = session.space
        var chroma: (Plane, Plane)?
        // libheif gives a grey picture planes of colour as well, for which its profile would be the wrong one.
        if let blue = image.plane(heif_channel_Cb), let red = image.plane(heif_channel_Cr),
            !(space.isOfGrey && blue.isNeutral && red.isNeutral)
        {
            chroma = (
                try planes.plane(
                    blue, number: 1, coding: .jfif, subsampling: subsampling, alpha: alpha,
                    isPremultiplied: isPremultiplied),
                try planes.plane(
                    red, number: 2, coding: .jfif, subsampling: subsampling, alpha: alpha,
                    isPremultiplied: isPremultiplied)
            )
        }
        var picture = PlanarPicture(
            first: try planes.plane(
                luma, number: 0, coding: .jfif, subsampling: (1, 1), alpha: alpha, isPremultiplied: isPremultiplied),
            chroma: chroma, storedSize: PixelSize(width: luma.width, height: luma.height), orientation: .upright)
        picture.alpha = alpha
        picture.subsampling = subsampling
        picture.space = space
        var warnings: [String] = []
        if !picture.apply(ours ?? []) { warnings.append("the crop makes no sense and was ignored") }
        if alpha == nil, properties?.alpha != nil {
            warnings.append("what is transparent is told in another size than the picture's and was ignored")
        }
        let warning = warnings.isEmpty ? nil : warnings.joined(separator: "; ")
        return try composer.compose(DecodedPicture(picture: picture, warning: warning), spec: spec)
    }

    private func open(
        _ file: FileBytes, _ own: [ContainerEdit], isSound: Bool, _ spec: PreviewSpec
    ) throws(CodecFailure) -> HEIFSession {
        let edits = SharedAuxiliaries.edits(in: file) + (ToneMap(file)?.edits ?? []) + own
        let readable = try ContainerEdit.apply(edits, to: file, in: mended)
        return try HEIFSession(readable, maxPixels: spec.maxPixels, isSound: isSound)
    }

    func trim(to limit: Int) {
        planes.trim(to: limit)
        mended.trim(to: limit)
    }
}

/// What we turn and crop ourselves, of both planes as they are coded.
private struct TurnPlan {
    let transforms: [Transform]
    /// Take both their turns from libheif: that of the alpha picture it does also where it is told to leave the photo as it
    /// is, and it drops alpha that is not as wide and high as the photo once both are turned.
    let edits: [ContainerEdit]

    /// nil where libheif has to do it all: a derived picture's parts may be turned on their own, and so may an alpha
    /// picture, although MIAF (ISO/IEC 23000-22) wants it to be turned as the photo is.
    init?(_ properties: ItemProperties, isAVIF: Bool) {
        func counting(_ turns: ItemProperties.Turns) -> [Transform] { isAVIF ? turns.essential : turns.all }
        guard ["hvc1", "av01", "grid"].contains(properties.type) else { return nil }
        transforms = counting(properties.turns)
        edits = properties.alpha.map { properties.turns.edits + $0.edits } ?? []
        if let alpha = properties.alpha.map(counting), !alpha.isEmpty, alpha != transforms { return nil }
    }
}

/// One reading of a file by libheif.
///
/// Safe: context and handle go back with their owner, which does not outlive the file's bytes (libheif does not copy
/// them).
@safe private final class HEIFSession {
    private let context: OpaquePointer
    private let handle: OpaquePointer
    private let isSound: Bool

    /// - Parameter isSound: our own reader found its way through the container, so that what libheif calls invalid is
    ///   rather more than it knows.
    init(_ file: FileBytes, maxPixels: Pixels, isSound: Bool) throws(CodecFailure) {
        self.isSound = isSound
        guard let context = unsafe heif_context_alloc() else {
            throw CodecFailure(.memory, "no memory for a HEIF decoder")
        }
        var handle: OpaquePointer?
        do throws(CodecFailure) {
            unsafe heif_context_set_max_decoding_threads(context, 0)  // in this thread
            unsafe heif_context_set_maximum_image_size_limit(context, 65_535)
            try unsafe HEIFFailure.check(
                heif_context_read_from_memory_without_copy(context, file.memory.baseAddress, file.count, nil), isSound)
            try unsafe HEIFFailure.check(heif_context_get_primary_image_handle(context, &handle), isSound)
            guard let handle = unsafe handle else { throw CodecFailure(.corrupt, "the HEIF has no primary picture") }
            let width = unsafe Int(heif_image_handle_get_ispe_width(handle))
            let height = unsafe Int(heif_image_handle_get_ispe_height(handle))
            guard width > 0, height > 0 else { throw CodecFailure(.corrupt, "the HEIF says that it has no pixels") }
            guard Int64(width) * Int64(height) <= maxPixels.count else {
                throw .tooLarge(width, height, limit: maxPixels)
            }
            // A grid names its size once more inside: no larger than this it may be.
            unsafe heif_context_set_maximum_image_size_limit(context, Int32(clamping: max(width, height) + 64))
        } catch {
            unsafe heif_image_handle_release(handle)
            unsafe heif_context_free(context)
            throw error
        }
        guard let handle = unsafe handle else { throw CodecFailure(.corrupt, "the HEIF has no primary picture") }
        unsafe self.context = unsafe context
        unsafe self.handle = unsafe handle
    }

    deinit {
        unsafe heif_image_handle_release(handle)
        unsafe heif_context_free(context)
    }

    var isPremultiplied: Bool { unsafe heif_image_handle_is_premultiplied_alpha(handle) != 0 }

    /// The ICC profile, or the code points of 'colr' nclx.
    var space: ColourSpace {
        let size = unsafe heif_image_handle_get_raw_color_profile_size(handle)
        if size > 0 {
            guard size <= ProfileCheck.largest else { return .lostProfile }
            var profile = [UInt8](repeating: 0, count: size)
            let error = unsafe heif_image_handle_get_raw_color_profile(handle, &profile)
            return unsafe error.code == heif_error_Ok ? .profile(profile) : .lostProfile
        }
        var codes: UnsafeMutablePointer<heif_color_profile_nclx>?
        guard unsafe heif_image_handle_get_nclx_color_profile(handle, &codes).code == heif_error_Ok,
            let codes = unsafe codes
        else { return .unspecified }
        defer { unsafe heif_nclx_color_profile_free(codes) }
        return unsafe .codePoints(
            primaries: Int(codes.pointee.color_primaries.rawValue),
            transfer: Int(codes.pointee.transfer_characteristics.rawValue))
    }

    /// YCbCr 4:2:0 whatever is coded. Measured with libheif 1.15.1: what it hands out is BT.601 of full range, also when
    /// the bitstream has another matrix or video range.
    func decode(ignoringTransforms: Bool) throws(CodecFailure) -> HEIFImage {
        guard let options = unsafe heif_decoding_options_alloc() else {
            throw CodecFailure(.memory, "no memory for a HEIF decoder")
        }
        defer { unsafe heif_decoding_options_free(options) }
        unsafe options.pointee.ignore_transformations = ignoringTransforms ? 1 : 0
        var image: OpaquePointer?
        try unsafe HEIFFailure.check(
            heif_decode_image(handle, &image, heif_colorspace_YCbCr, heif_chroma_420, options), isSound)
        guard let image = unsafe image else { throw CodecFailure(.corrupt, "the HEIF has no picture") }
        return unsafe HEIFImage(image)
    }
}

/// A decoded picture of libheif's.
///
/// Safe: given back with its owner; planes are looked at while it lives.
@safe private final class HEIFImage {
    private let image: OpaquePointer

    init(_ image: OpaquePointer) { unsafe self.image = unsafe image }

    deinit { unsafe heif_image_release(image) }

    var subsampling: (horizontal: Int, vertical: Int) {
        switch unsafe heif_image_get_chroma_format(image) {
        case heif_chroma_420: (2, 2)
        case heif_chroma_422: (2, 1)
        default: (1, 1)
        }
    }

    /// nil when there is no such channel: asking libheif for the depth of one that is not there aborts.
    func plane(_ channel: heif_channel) -> PlaneImport.Foreign? {
        guard unsafe heif_image_has_channel(image, channel) != 0 else { return nil }
        var stride = Int32(0)
        let base = unsafe heif_image_get_plane_readonly(image, channel, &stride)
        return unsafe PlaneImport.Foreign(
            base, stride: Int(stride), width: Int(heif_image_get_width(image, channel)),
            height: Int(heif_image_get_height(image, channel)),
            depth: Int(heif_image_get_bits_per_pixel_range(image, channel)))
    }
}

private enum HEIFFailure {
    static func check(_ error: heif_error, _ isSound: Bool) throws(CodecFailure) {
        guard unsafe error.code != heif_error_Ok else { return }
        // Some messages end in a line feed or a full stop.
        let words = unsafe error.message.map { unsafe String(cString: $0) } ?? "unknown error"
        let text = SafeText.of(String(words.prefix { $0 != "\n" }), limit: 200)
        let code: Problem.Code =
            switch unsafe (error.code, error.subcode) {
            case (heif_error_Memory_allocation_error, heif_suberror_Security_limit_exceeded): .tooLarge
            case (_, heif_suberror_Security_limit_exceeded): .tooLarge
            case (heif_error_Memory_allocation_error, _): .memory
            case (heif_error_Unsupported_filetype, _), (heif_error_Unsupported_feature, _),
                (heif_error_Plugin_loading_error, _):
                .unsupported
            case (_, heif_suberror_End_of_data): .truncated
            // A later version may know it: the photo is imported, and its preview is made then.
            case (heif_error_Invalid_input, _) where isSound: .unsupported
            default: .corrupt
            }
        throw CodecFailure(code, "the HEIF cannot be decoded: \(text)")
    }
}
