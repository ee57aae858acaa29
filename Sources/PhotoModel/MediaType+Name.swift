extension MediaType {
    /// Whether a photo or video of this content may be called so; `extension` is without dot, in lower case. Names that
    /// promise no photo promise nothing.
    package func fits(extension text: String) -> Bool {
        switch NameKind(extension: text) {
        case .heif: [.heic, .heif, .avif].contains(self)
        case .jpeg: self == .jpeg
        case .png: self == .png
        case .image:
            switch text {
            case "webp": self == .webp
            case "gif": self == .gif
            case "jxl": self == .jpegXL
            case "tif", "tiff": [.tiff, .raw].contains(self)  // some backs write their RAW so
            default: true
            }
        case .raw: [.raw, .tiff].contains(self)
        case .video: isVideo
        case .adjustment, .sidecar, .audio, .thumbnail, .looseSidecar, .other: true
        }
    }
}
