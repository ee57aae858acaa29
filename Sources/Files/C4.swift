import CCrypto
import Glibc
import PhotoModel

/// Reads a file again, past the pages that the cache has of it, for its SHA-256 and for the name it has by its content:
/// the C4 ID (SMPTE ST 2114), which is SHA-512 in base 58.
package func readBackWithC4(
    _ file: borrowing Descriptor, isCancelled: () -> Bool = { false }
) throws(CopyFailure) -> (content: Content, c4: String) {
    let dropped = posix_fadvise(file.rawValue, 0, 0, POSIX_FADV_DONTNEED)
    if dropped != 0 { throw .destination(Errno(rawValue: dropped)) }
    let number = file.rawValue
    var wide = SHA512()
    let content = try Workbench.with { bench throws(CopyFailure) in
        try unsafe bench.run(
            size: .max, progress: { _ in }, isCancelled: isCancelled, reading: number, failure: CopyFailure.destination
        ) { piece, _ throws(CopyFailure) in unsafe wide.update(piece) }
    }
    return (content, c4ID(of: wide.finish()))
}

/// - Parameter digest: the 64 bytes of a SHA-512.
func c4ID(of digest: [UInt8]) -> String {
    let letters = Array("123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz".utf8)
    var number = digest
    var text: [UInt8] = []
    // Long division by 58, a digit of the result at a time, from the right.
    for _ in 0..<88 {
        var rest = 0
        for place in number.indices {
            let value = rest << 8 | Int(number[place])
            number[place] = UInt8(value / 58)
            rest = value % 58
        }
        text.append(letters[rest])
    }
    return "c4" + String(decoding: text.reversed(), as: UTF8.self)
}

/// SHA-512 (FIPS 180-4) by libcrypto; for what can fail see ``SHA256``.
@safe struct SHA512: ~Copyable {
    private let context: OpaquePointer

    init() {
        guard let context = unsafe EVP_MD_CTX_new() else { preconditionFailure("no memory for a digest") }
        unsafe self.context = context
        let started = unsafe EVP_DigestInit_ex2(context, EVP_sha512(), nil)
        precondition(started == 1, "libcrypto has no SHA-512")
    }

    deinit { unsafe EVP_MD_CTX_free(context) }

    @unsafe mutating func update(_ bytes: UnsafeRawBufferPointer) {
        let taken = unsafe EVP_DigestUpdate(context, bytes.baseAddress, bytes.count)
        precondition(taken == 1, "libcrypto did not take the bytes")
    }

    consuming func finish() -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: 64)
        let finished = unsafe EVP_DigestFinal_ex(context, &digest, nil)
        precondition(finished == 1, "libcrypto did not finish the digest")
        return digest
    }
}
