import CBrotli

/// A box of a JPEG XL that holds another one's content compressed, `brob` (ISO/IEC 18181-2, 9.3): the other's type, then a
/// Brotli stream (RFC 7932).
struct BrotliBox {
    /// Of the box that it stands for.
    let type: String
    let content: [UInt8]

    /// Bytes that are read, and that come of them. EXIF of cameras has some 64 KiB, XMP with edits some hundred.
    private static let limit = 1 << 20

    /// nil when the stream is damaged, or goes on past the limit.
    init?(_ source: ByteSource, _ box: Box) {
        let length = box.end - box.start - 4
        guard length > 0, length <= Int64(BrotliBox.limit) else { return nil }
        type = source.fourCharacters(at: box.start)
        let stream = source.bytes(at: box.start + 4, count: Int(length))
        var isWhole = false
        // Brotli reads exactly what it is lent and writes no more than it is told.
        content = unsafe [UInt8](unsafeUninitializedCapacity: BrotliBox.limit) { target, count in
            unsafe stream.withUnsafeBufferPointer { source in
                var written = target.count
                let result = unsafe BrotliDecoderDecompress(
                    source.count, source.baseAddress, &written, target.baseAddress)
                isWhole = result == BROTLI_DECODER_RESULT_SUCCESS
                count = isWhole ? min(written, target.count) : 0
            }
        }
        guard isWhole else { return nil }
    }
}
