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

/// A picture in staging, durable.
struct StagedPicture: Sendable {
    var staged: Path
    var sha256: SHA256Digest
    var byteCount: Int64
    var device: UInt64
    var inode: UInt64
    var size: PixelSize

    func move(to final: Path) -> CommitIntent.Move {
        CommitIntent.Move(
            staged: staged, final: final, sha256: sha256, size: byteCount, device: device, inode: inode)
    }
}

/// A preview in staging with what was made of the same decode.
struct StagedPreview: Sendable {
    /// Of the file that it shows.
    var source: Path
    var picture: StagedPicture
    var renditions: [(spec: RenditionSpec, picture: StagedPicture)]
    var isPartial: Bool
    var warning: String?
    /// Better files of the shot that it was not made of, for they are damaged; by source.
    var passedOver: [Path: Problem] = [:]

    /// Renditions first: whoever sees the preview sees them all.
    func moves(of asset: Asset.ID) -> [CommitIntent.Move] {
        renditions.map { $0.picture.move(to: LibraryLayout.rendition($0.spec.name, of: asset)) }
            + [picture.move(to: LibraryLayout.preview(of: asset))]
    }

    var staged: [Path] { [picture.staged] + renditions.map(\.picture.staged) }
}
