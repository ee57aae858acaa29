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

    /// Beside the preview: `<asset id>.<name>.jpg`
    package static func rendition(_ name: String, of asset: Asset.ID) -> Path {
        previews / String(asset.suffix(2)) / (asset + "." + name + ".jpg")
    }

    /// The asset that a preview or rendition is of, by its path; nil for any other path.
    package static func assetOfPreview(at path: Path) -> Asset.ID? {
        let words = path.name.shown.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        switch words.count {
        case 2 where preview(of: words[0]) == path: return words[0]
        case 3 where RenditionSpec.isGood(name: words[1]) && rendition(words[1], of: words[0]) == path: return words[0]
        default: return nil
        }
    }
}
