package import PhotoModel

/// Where things lie below the library's root; all relative to it. DESIGN section 8.
package enum LibraryLayout {
    package static let own = Path(".photospool")
    package static let marker = own / "library.json"
    package static let lock = own / "lock"
    package static let staging = own / "staging"
    package static let previews = own / "previews"
    package static let journal = own / "journal"
    package static let trash = own / "trash"
    package static let backup = own / "backup"

    /// For previews that lie on a filesystem of their own.
    package static let previewStaging = previews / ".staging"

    package static func staging(of importID: String) -> Path { staging / importID }
    package static func previewStaging(of importID: String) -> Path { previewStaging / importID }

    /// What was taken out of the library: its originals under the names they had, below `originals`, and its preview.
    package static func trash(of asset: Asset.ID) -> Path { trash / asset }

    /// `.photospool/previews/<last 2 hex digits of the asset id>/<asset id>.jpg`
    package static func preview(of asset: Asset.ID) -> Path {
        previews / String(asset.suffix(2)) / (asset + ".jpg")
    }
}
