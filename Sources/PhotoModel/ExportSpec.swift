/// How a photo is wanted that is converted on request.
package struct ExportSpec: Hashable, Sendable {
    package enum Format: String, Hashable, Sendable, CaseIterable {
        case jpeg, png, heic

        package var mediaType: MediaType {
            switch self {
            case .jpeg: .jpeg
            case .png: .png
            case .heic: .heic
            }
        }

        package var fileExtension: String { self == .jpeg ? "jpg" : rawValue }
    }

    package var format: Format
    /// Bytes of the whole file, 1 or more; nil for as many as it takes.
    package var maxBytes: Int64?
    package var stripsLocation: Bool

    package init(format: Format, maxBytes: Int64? = nil, stripsLocation: Bool = false) {
        self.format = format
        self.maxBytes = maxBytes
        self.stripsLocation = stripsLocation
    }

    /// Where quality begins, and how low it may go before the picture gets smaller instead.
    package static let quality = 90
    package static let leastQuality = 50
    /// The longer side below which a picture is refused rather than made smaller.
    package static let leastSide = 64
    /// As long as a side of a JPEG can be (T.81, B.2.2).
    package static let mostSide = 65_535
}
