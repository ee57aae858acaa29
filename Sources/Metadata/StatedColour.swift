package import PhotoModel

/// The colour space that a camera only names in EXIF, without a profile beside it.
package enum StatedColour {
    case adobeRGB, proPhotoRGB

    /// nil for sRGB, for what nobody names, and where the container itself is to be believed.
    package static func of(_ source: ByteSource, _ type: MediaType) -> StatedColour? {
        let blocks: [TIFFBlock] =
            switch type {
            case .jpeg: Array(JPEGWalk(source).exif.prefix(1))
            case .tiff, .raw: RAWWalk.blocks(source)
            default: []
            }
        return blocks.contains { ExifFacts($0)?.isAdobeRGB == true } ? .adobeRGB : nil
    }
}

extension ExifFacts {
    /// Of DCF 2.0 "option files" (JEITA CP-3461B, 5.2.4): the interoperability index is R03, and ColorSpace says that it is
    /// not sRGB. Some cameras write 2 for Adobe RGB there, which no standard has, and no index.
    var isAdobeRGB: Bool {
        switch block.integer(exif.entries[0xA001]) {
        case 2: return true
        case 1: return false
        default:
            let index = block.integer(exif.entries[0xA005]).flatMap { block.directory(at: $0) }?.entries[1]
            return block.text(index) == "R03"
        }
    }
}
