/// What an export says of its picture, in a header of its own since the body is the picture.
package enum PictureHeader {
    package static let name = "Photospool-Picture"
    /// All of it was there.
    package static let whole = "whole"
    /// A part was missing or damaged in the original; what could be decoded is shown.
    package static let partial = "partial"
}
