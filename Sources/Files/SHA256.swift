import CCrypto
package import PhotoModel

/// SHA-256 (FIPS 180-4) of bytes that come in pieces, by libcrypto, which uses the processor's own instructions.
///
/// libcrypto refuses only what cannot happen here (no such digest, used after its end) or memory at its end, where
/// Swift's own allocations end the process too; hence preconditions: a wrong digest must never be taken for a right one.
@safe package struct SHA256: ~Copyable {
    private let context: OpaquePointer
    /// Looked up once: OpenSSL 3 searches its providers at every implicit use. Never freed, only read.
    nonisolated(unsafe) private static let algorithm: OpaquePointer? = unsafe EVP_MD_fetch(nil, "SHA2-256", nil)

    package init() {
        guard let context = unsafe EVP_MD_CTX_new() else { preconditionFailure("no memory for a digest") }
        unsafe self.context = context
        start()
    }

    deinit { unsafe EVP_MD_CTX_free(context) }

    private func start() {
        let started = unsafe EVP_DigestInit_ex2(context, Self.algorithm, nil)
        precondition(started == 1, "libcrypto has no SHA-256")
    }

    @unsafe package mutating func update(_ bytes: UnsafeRawBufferPointer) {
        let taken = unsafe EVP_DigestUpdate(context, bytes.baseAddress, bytes.count)
        precondition(taken == 1, "libcrypto did not take the bytes")
    }

    package mutating func update(_ bytes: RawSpan) {
        unsafe bytes.withUnsafeBytes { unsafe update($0) }
    }

    package mutating func update(_ bytes: [UInt8]) { unsafe update(bytes.span.bytes) }

    /// The digest of what came in since the start or the last ``finish()``; the next piece begins a new one.
    package mutating func finish() -> SHA256Digest {
        var digest = [UInt8](repeating: 0, count: 32)
        let finished = unsafe EVP_DigestFinal_ex(context, &digest, nil)
        precondition(finished == 1, "libcrypto did not finish the digest")
        start()
        return SHA256Digest(bytes: digest)
    }

    package static func digest(of bytes: [UInt8]) -> SHA256Digest {
        var hash = SHA256()
        hash.update(bytes)
        return hash.finish()
    }
}
