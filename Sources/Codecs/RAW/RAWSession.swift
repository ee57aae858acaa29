import CRaw
import Metadata
import PhotoModel

/// One reading of a file by LibRaw.
///
/// Safe: handle and counter go back with their owner, which does not outlive the file's bytes (LibRaw does not copy them).
@safe struct RAWSession: ~Copyable {
    private let handle: UnsafeMutablePointer<libraw_data_t>
    private let damages: UnsafeMutablePointer<Int32>
    private let fileSize: Int
    /// How the sensor was held, as far as LibRaw can tell.
    let orientation: Orientation

    /// What developing may take of the 2 GiB that a decoder has; known from the header before anything is taken.
    static let memoryLimit = 1280 << 20

    init(_ file: FileBytes) throws(CodecFailure) {
        let source = file.source
        if source.has("ftyp", at: 4), !Canon3Boxes.areSound(source) {
            throw CodecFailure(.corrupt, "the RAW file's boxes do not lie within each other")
        }
        guard let handle = unsafe libraw_init(0) else { throw CodecFailure(.memory, "no memory for a RAW decoder") }
        let damages = UnsafeMutablePointer<Int32>.allocate(capacity: 1)
        unsafe damages.initialize(to: 0)
        // LibRaw would print.
        unsafe libraw_set_dataerror_handler(
            handle, { counter, _, _ in unsafe counter?.assumingMemoryBound(to: Int32.self).pointee += 1 }, damages)
        unsafe handle.pointee.params.max_raw_memory_mb = UInt32(Self.memoryLimit >> 20)
        let code = unsafe libraw_open_buffer(
            handle, UnsafeMutableRawPointer(mutating: file.memory.baseAddress), file.count)
        guard code == 0 else {
            unsafe libraw_close(handle)
            unsafe damages.deallocate()
            throw Self.failure(code, "the RAW file cannot be read")
        }
        unsafe self.handle = unsafe handle
        unsafe self.damages = unsafe damages
        fileSize = file.count
        // Turning is done while scaling: LibRaw shall not.
        orientation = Orientation(exif: [3: 3, 5: 8, 6: 6][unsafe Int(handle.pointee.sizes.flip)] ?? 1)
        unsafe handle.pointee.sizes.flip = 0
        unsafe handle.pointee.params.user_flip = 0
    }

    deinit {
        unsafe libraw_close(handle)
        unsafe damages.deallocate()
    }

    /// Whether data made no sense or were not there, up to now.
    var isDamaged: Bool { unsafe damages.pointee > 0 }

    /// The JPEG that LibRaw takes for the best, in its memory; nil when there is none.
    var thumbnail: FileBytes? {
        guard unsafe libraw_unpack_thumb(handle) == 0 else { return nil }
        // A thumbnail's damage is none of the picture's.
        defer { unsafe damages.pointee = 0 }
        let thumbnail = unsafe handle.pointee.thumbnail
        guard unsafe thumbnail.tformat == LIBRAW_THUMBNAIL_JPEG, unsafe thumbnail.tlength > 0,
            let bytes = unsafe thumbnail.thumb
        else { return nil }
        return unsafe FileBytes(
            lending: UnsafeRawBufferPointer(start: UnsafeRawPointer(bytes), count: Int(thumbnail.tlength)))
    }

    /// The sensor data as sRGB: the camera's white balance and matrix, sRGB's curve, LibRaw's own choice of brightness (1 %
    /// of the pixels may clip). At half size, where each quadruple of sensor cells makes a pixel, if `target` allows.
    func develop(target: Int, maxPixels: Pixels) throws(CodecFailure) -> RAWImage {
        let sizes = unsafe handle.pointee.sizes
        let (width, height) = (Int(sizes.raw_width), Int(sizes.raw_height))
        guard width > 0, height > 0, sizes.width > 0, sizes.height > 0 else {
            throw CodecFailure(.corrupt, "the RAW file says that it has no pixels")
        }
        guard Int64(width) * Int64(height) <= maxPixels.count else {
            throw .tooLarge(width, height, limit: maxPixels)
        }
        // Half a bit for each pixel is less than any camera writes: what is there would be developed to noise.
        guard fileSize >= width * height / 16 else {
            throw CodecFailure(.truncated, "the RAW file ends before its sensor data")
        }
        let isHalf = max(Int(sizes.width), Int(sizes.height)) / 2 >= target
        let isMosaic = unsafe handle.pointee.idata.filters != 0
        let pixels = Int(sizes.width) * Int(sizes.height) / (isHalf ? 4 : 1)
        // The sensor's values, four of 16 bits for each pixel, and the finished bytes; demosaicing takes as much again.
        let estimate = width * height * (isMosaic ? 2 : 8) + pixels * (isHalf ? 11 : 19)
        guard estimate <= Self.memoryLimit else {
            throw CodecFailure(.tooLarge, "developing \(width) x \(height) pixels takes more memory than a decoder has")
        }
        unsafe handle.pointee.params.half_size = isHalf ? 1 : 0
        unsafe handle.pointee.params.use_camera_wb = 1
        unsafe handle.pointee.params.output_color = 1
        unsafe handle.pointee.params.output_bps = 8
        unsafe handle.pointee.params.gamm.0 = 1 / 2.4
        unsafe handle.pointee.params.gamm.1 = 12.92
        try unsafe Self.check(libraw_unpack(handle), "the sensor data cannot be read")
        try unsafe Self.check(libraw_dcraw_process(handle), "the sensor data cannot be developed")
        var code: Int32 = 0
        guard let image = unsafe libraw_dcraw_make_mem_image(handle, &code) else {
            throw Self.failure(code, "the sensor data cannot be developed")
        }
        return try unsafe RAWImage(adopting: image)
    }

    private static func check(_ code: Int32, _ what: String) throws(CodecFailure) {
        guard code != 0 else { return }
        throw failure(code, what)
    }

    private static func failure(_ code: Int32, _ what: String) -> CodecFailure {
        let kind: Problem.Code =
            switch LibRaw_errors(rawValue: code) {
            case LIBRAW_FILE_UNSUPPORTED, LIBRAW_NOT_IMPLEMENTED, LIBRAW_REQUEST_FOR_NONEXISTENT_IMAGE: .unsupported
            case LIBRAW_UNSUFFICIENT_MEMORY: .memory
            case LIBRAW_TOO_BIG: .tooLarge
            case LIBRAW_IO_ERROR: .truncated
            default: .corrupt
            }
        let message = unsafe libraw_strerror(code).map { unsafe String(cString: $0) } ?? "error \(code)"
        return CodecFailure(kind, "\(what): \(SafeText.of(message, limit: 100))")
    }
}

/// A developed picture of LibRaw's, red, green and blue.
///
/// Safe: given back with its owner; looked at while it lives.
@safe struct RAWImage: ~Copyable {
    private let image: UnsafeMutablePointer<libraw_processed_image_t>
    let size: PixelSize
    let pixels: UnsafeRawBufferPointer

    init(adopting image: UnsafeMutablePointer<libraw_processed_image_t>) throws(CodecFailure) {
        let size = unsafe PixelSize(width: Int(image.pointee.width), height: Int(image.pointee.height))
        let count = unsafe Int(image.pointee.data_size)
        guard unsafe image.pointee.type == LIBRAW_IMAGE_BITMAP, unsafe image.pointee.colors == 3,
            unsafe image.pointee.bits == 8, size.width > 0, size.height > 0, count >= 3 * size.width * size.height
        else {
            unsafe libraw_dcraw_clear_mem(image)
            throw CodecFailure(.unsupported, "the sensor data do not make red, green and blue")
        }
        unsafe self.image = unsafe image
        self.size = size
        unsafe pixels = unsafe UnsafeRawBufferPointer(start: shim_raw_bytes(image), count: count)
    }

    deinit { unsafe libraw_dcraw_clear_mem(image) }
}
