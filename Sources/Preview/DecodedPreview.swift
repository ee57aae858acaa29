package import Files
package import PhotoModel

/// A preview as it came from a decoder: sealed, so nobody can change it any more, and looked at from outside.
package struct DecodedPreview: ~Copyable, Sendable {
    /// A memory file that holds one JPEG from its first marker to its last, ``byteCount`` long.
    package let bytes: Descriptor
    package let byteCount: Int64
    /// As in the JPEG's own header.
    package let size: PixelSize
    /// Whether a part of the picture was missing in the file.
    package let isPartial: Bool
    /// For a person; harmless text.
    package let warning: String?
}

package enum DecoderFailure: Error, Hashable, Sendable {
    case problem(Problem)
    /// The import was cancelled, or the pool stopped.
    case cancelled
}
