package import PhotoModel

/// A finished preview: an upright baseline JPEG, 4:2:0, without metadata but a colour profile.
package struct EncodedPreview: Sendable {
    package let jpeg: [UInt8]
    package let size: PixelSize
    /// Whether a part of the picture was missing or damaged in the file.
    package let isPartial: Bool
    /// What was odd about the file although there is a preview.
    package let warning: String?
    /// Further sizes, in the order in which they were asked for.
    package let renditions: [(jpeg: [UInt8], size: PixelSize)]

    package init(
        jpeg: [UInt8], size: PixelSize, isPartial: Bool, warning: String?,
        renditions: [(jpeg: [UInt8], size: PixelSize)] = []
    ) {
        self.jpeg = jpeg
        self.size = size
        self.isPartial = isPartial
        self.warning = warning
        self.renditions = renditions
    }
}
