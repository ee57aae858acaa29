import PhotoModel

/// One file of a group, copied into staging, durable and verified.
struct StagedResource: Sendable {
    var role: Role
    /// Absolute.
    var source: Path
    /// The source as it was when it was copied.
    var sourceStamp: FileStamp
    /// When somebody last did anything to the source, as far as that can be told.
    var touched: Timestamp?
    /// A part of it was never written.
    var hasHole = false
    /// Relative to the library.
    var staged: Path
    var sha256: SHA256Digest
    var size: Int64
    /// Of the staged file.
    var device: UInt64
    var inode: UInt64

    /// What the catalog says of it once it stands at `path`.
    func resource(at path: Path, _ inspection: Inspection) -> Resource {
        Resource(
            role: role, path: path, sourcePath: source, size: size, sha256: sha256, mtime: sourceStamp.mtime,
            mediaType: inspection.mediaType)
    }
}

/// A preview in staging, durable.
struct StagedPreview: Sendable {
    /// Of the file that it shows.
    var source: Path
    var staged: Path
    var sha256: SHA256Digest
    var byteCount: Int64
    var device: UInt64
    var inode: UInt64
    var size: PixelSize
    var isPartial: Bool
    var warning: String?
}
