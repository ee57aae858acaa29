import CTurboJPEG
import PhotoModel

/// The three planes of a 4:2:0 JPEG, luma padded to whole pairs of rows and columns.
///
/// Safe while the buffer it was laid out in is not reserved anew.
@safe struct JPEGPlanes {
    let size: PixelSize
    let luma: UnsafeMutablePointer<UInt8>
    let blue: UnsafeMutablePointer<UInt8>
    let red: UnsafeMutablePointer<UInt8>
    let lumaStride: Int
    let lumaRows: Int

    init(size: PixelSize, in buffer: PlaneBuffer) throws(CodecFailure) {
        self.size = size
        lumaStride = (size.width + 1) & ~1
        lumaRows = (size.height + 1) & ~1
        let chroma = lumaStride / 2 * (lumaRows / 2)
        unsafe luma = try unsafe buffer.reserve(lumaStride * lumaRows + 2 * chroma)
        unsafe blue = unsafe luma + lumaStride * lumaRows
        unsafe red = unsafe blue + chroma
    }

    var chromaStride: Int { lumaStride / 2 }
    var chromaRows: Int { lumaRows / 2 }
    var lumaCount: Int { lumaStride * lumaRows }
    var chromaCount: Int { chromaStride * chromaRows }
}

/// Writes baseline JPEGs: 4:2:0, accurate DCT (the fast one loses quality and gains nothing), JFIF and ICC, no other
/// segment.
///
/// Safe: the handle is libjpeg-turbo's own and used by one thread at a time.
@safe final class JPEGEncoder {
    private let handle: tjhandle
    private let output = PlaneBuffer()

    init() throws(CodecFailure) {
        guard let handle = unsafe tjInitCompress() else { throw CodecFailure(.memory, "no memory for a JPEG encoder") }
        unsafe self.handle = unsafe handle
    }

    deinit { unsafe tjDestroy(handle) }

    func encode(_ planes: JPEGPlanes, quality: Int, profile: [UInt8]?) throws(CodecFailure) -> [UInt8] {
        let (width, height) = (Int32(planes.size.width), Int32(planes.size.height))
        let subsampling = Int32(TJSAMP_420.rawValue)
        var capacity = tjBufSize(width, height, subsampling)
        guard capacity != UInt.max else { throw CodecFailure(.encode, "the preview is too large for a JPEG") }
        var memory: UnsafeMutablePointer<UInt8>? = try unsafe output.reserve(Int(capacity))
        var pointers: [UnsafePointer<UInt8>?] = unsafe [
            UnsafePointer(planes.luma), UnsafePointer(planes.blue), UnsafePointer(planes.red),
        ]
        let strides = [Int32(planes.lumaStride), Int32(planes.chromaStride), Int32(planes.chromaStride)]
        let flags = TJFLAG_ACCURATEDCT | TJFLAG_NOREALLOC
        let status = unsafe tjCompressFromYUVPlanes(
            handle, &pointers, width, strides, height, subsampling, &memory, &capacity,
            Int32(min(max(quality, 1), 100)), flags)
        guard status == 0, let memory = unsafe memory else {
            throw CodecFailure(.encode, "the preview could not be encoded: \(unsafe turboMessage(handle))")
        }
        let bytes = unsafe UnsafeBufferPointer(start: memory, count: Int(capacity))
        guard let profile, let end = unsafe endOfJFIF(bytes) else { return unsafe Array(bytes) }
        var jpeg: [UInt8] = []
        jpeg.reserveCapacity(bytes.count + profile.count + 64)
        unsafe jpeg.append(contentsOf: bytes[..<end])
        jpeg += Self.segments(for: profile)
        unsafe jpeg.append(contentsOf: bytes[end...])
        return jpeg
    }

    /// Where the APP0 segment that libjpeg writes first is over.
    private func endOfJFIF(_ bytes: UnsafeBufferPointer<UInt8>) -> Int? {
        guard bytes.count > 6, unsafe bytes[2] == 0xff, unsafe bytes[3] == 0xe0 else { return nil }
        let end = unsafe 4 + (Int(bytes[4]) << 8 | Int(bytes[5]))
        return end <= bytes.count ? end : nil
    }

    /// The profile in APP2 segments (ICC.1:2022, annex B.4).
    private static func segments(for profile: [UInt8]) -> [UInt8] {
        let most = 65_535 - 2 - 14
        let count = (profile.count + most - 1) / most
        guard count <= 255 else { return [] }  // 16 MB: ProfileCheck lets none through
        var segments: [UInt8] = []
        for number in 0..<count {
            let part = profile[number * most..<min((number + 1) * most, profile.count)]
            let length = part.count + 16
            segments += [0xff, 0xe2, UInt8(length >> 8), UInt8(length & 255)]
            segments += Array("ICC_PROFILE\0".utf8) + [UInt8(number + 1), UInt8(count)]
            segments += part
        }
        return segments
    }
}

/// What libjpeg-turbo said last, in its own words.
func turboMessage(_ handle: tjhandle) -> String {
    guard let text = unsafe tjGetErrorStr2(handle) else { return "unknown error" }
    return unsafe SafeText.of(String(cString: text), limit: 200)
}
