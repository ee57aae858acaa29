package import Files
package import PhotoModel

/// A preview as it came from a decoder: sealed, so nobody can change it any more, and looked at from outside.
package struct DecodedPreview: ~Copyable, Sendable {
    /// One JPEG from its first marker to its last.
    package struct Part: Hashable, Sendable {
        /// Where it begins in ``bytes``.
        package let offset: Int64
        package let byteCount: Int64
        /// As in the JPEG's own header.
        package let size: PixelSize
    }

    /// A memory file that holds ``preview`` and then ``renditions``, and nothing else.
    package let bytes: Descriptor
    package let preview: Part
    /// In the order in which they were asked for.
    package let renditions: [Part]
    /// Whether a part of the picture was missing in the file.
    package let isPartial: Bool
    /// For a person; harmless text.
    package let warning: String?

    package var byteCount: Int64 { preview.byteCount }
    package var size: PixelSize { preview.size }

    /// The whole of it, for who has nothing else to do with it.
    package consuming func intoBytes() -> Descriptor { bytes }

    /// The bytes of one of them.
    package func read(_ part: Part) throws(Errno) -> [UInt8] {
        let all = try bytes.readAll(limit: Int(renditions.reduce(preview.byteCount) { $0 + $1.byteCount }))
        return Array(all[Int(part.offset)..<Int(part.offset + part.byteCount)])
    }
}

package enum DecoderFailure: Error, Hashable, Sendable {
    case problem(Problem)
    /// The import was cancelled, or the pool stopped.
    case cancelled
}
