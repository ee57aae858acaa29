/// A further size of the preview, as `[[preview.rendition]]` wants it.
package struct RenditionSpec: Hashable, Sendable, Codable {
    package enum Crop: String, Hashable, Sendable, Codable, CaseIterable {
        case none
        /// The middle, as wide as it is high.
        case square
    }

    /// Small letters, digits, `-` and `_`, 32 at most; never `preview`. It is a part of file names.
    package var name: String
    /// Longest side, pixels, 1 or more.
    package var maxSize: Int
    package var crop: Crop

    package init(name: String, maxSize: Int = 320, crop: Crop = .none) {
        self.name = name
        self.maxSize = maxSize
        self.crop = crop
    }

    package static let most = 16

    package static func isGood(name: String) -> Bool {
        let letters = "abcdefghijklmnopqrstuvwxyz0123456789"
        guard let first = name.first, letters.contains(first), name.utf8.count <= 32, name != "preview" else {
            return false
        }
        return name.allSatisfy { letters.contains($0) || $0 == "-" || $0 == "_" }
    }
}

/// One that an asset has.
package struct Rendition: Hashable, Sendable, Codable {
    /// What it was made by.
    package var spec: RenditionSpec
    /// Relative to the library.
    package var path: Path
    package var size: PixelSize

    package init(spec: RenditionSpec, path: Path, size: PixelSize) {
        self.spec = spec
        self.path = path
        self.size = size
    }
}
