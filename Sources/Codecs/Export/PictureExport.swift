import Metadata
import PhotoModel

/// A decoded picture as a file of another format, with what the original says about itself.
///
/// Within a number of bytes by quality first, then by size: quality is searched between ``ExportSpec/quality`` and
/// ``ExportSpec/leastQuality``, the highest that fits wins; where not even the lowest fits, the sides shrink by a tenth at a
/// time.
///
/// Safe: the rows it asks for are as many as the size says, and lent until it asks again.
@safe struct PictureExport {
    let spec: ExportSpec
    let carried: CarriedMetadata
    /// The picture at a size: planes as a JPEG has them; rows of red, green and blue for a PNG, and how opaque each pixel
    /// is, nil for all of them wholly.
    let planes: (PixelSize) throws(CodecFailure) -> JPEGPlanes
    let rows: (PixelSize) throws(CodecFailure) -> (rgb: UnsafePointer<UInt8>, alpha: UnsafePointer<UInt8>?)
    let encoder: JPEGEncoder
    let profile: [UInt8]?

    func run(from largest: PixelSize) throws(CodecFailure) -> (bytes: [UInt8], size: PixelSize) {
        var side = max(largest.width, largest.height)
        while true {
            let size = PreviewGeometry.size(of: largest, maxSize: side)
            if let bytes = try best(at: size) { return (bytes, size) }
            guard side > ExportSpec.leastSide else {
                throw CodecFailure(
                    .tooLarge, "not even \(size.width) x \(size.height) pixels fit into \(spec.maxBytes ?? 0) bytes")
            }
            side = max(ExportSpec.leastSide, side * 9 / 10)
        }
    }

    private func best(at size: PixelSize) throws(CodecFailure) -> [UInt8]? {
        // A segment of a JPEG holds no more (Exif 2.32, 4.5.4); the other formats set no limit.
        let metadata = carried.upright(
            size, mostExif: spec.format == .jpeg ? Self.longestSegment - 6 : .max, stripsLocation: spec.stripsLocation)
        let most = spec.maxBytes ?? .max
        if spec.format == .png {
            let (rgb, alpha) = try unsafe rows(size)
            let bytes = try unsafe PNGWriter.encode(
                rgb, alpha: alpha, size: size, profile: profile, exif: metadata.exif, xmp: metadata.xmp)
            return bytes.count <= most ? bytes : nil
        }
        let target = try planes(size)
        var (low, high) = (ExportSpec.leastQuality, ExportSpec.quality)
        var bytes = try encode(target, high, metadata)
        if bytes.count <= most { return bytes }
        bytes = try encode(target, low, metadata)
        guard bytes.count <= most else { return nil }
        while high - low > 1 {
            let middle = (low + high) / 2
            let attempt = try encode(target, middle, metadata)
            if attempt.count <= most { (low, bytes) = (middle, attempt) } else { high = middle }
        }
        return bytes
    }

    private func encode(
        _ planes: JPEGPlanes, _ quality: Int, _ metadata: CarriedMetadata
    ) throws(CodecFailure) -> [UInt8] {
        switch spec.format {
        case .heic:
            return try HEICWriter.encode(
                planes, quality: quality, profile: profile, exif: metadata.exif, xmp: metadata.xmp)
        case .jpeg, .png:
            let jpeg = try encoder.encode(planes, quality: quality, profile: profile)
            return Self.adding(metadata, to: jpeg)
        }
    }

    /// Bytes of a segment behind its length (T.81, B.1.1.4).
    private static let longestSegment = 65_533

    /// Behind the start marker (Exif 2.32, 4.5.4), in front of JFIF's segment; an XMP or IPTC that is too long for one is
    /// left out.
    private static func adding(_ metadata: CarriedMetadata, to jpeg: [UInt8]) -> [UInt8] {
        var result: [UInt8] = [0xFF, 0xD8]
        for (marker, head, content) in [
            (UInt8(0xE1), Array("Exif\0\0".utf8), metadata.exif),
            (0xE1, Array("http://ns.adobe.com/xap/1.0/\0".utf8), metadata.xmp),
            (0xED, Array("Photoshop 3.0\0".utf8), resource(metadata.iptc)),
        ] {
            let length = 2 + head.count + content.count
            guard !content.isEmpty, length <= 2 + longestSegment else { continue }
            result += [0xFF, marker, UInt8(length >> 8), UInt8(length & 255)] + head + content
        }
        return result + jpeg.dropFirst(2)
    }

    /// Photoshop's image resource of IPTC, without a name.
    private static func resource(_ iptc: [UInt8]) -> [UInt8] {
        guard !iptc.isEmpty else { return [] }
        let length = (0..<4).map { UInt8(truncatingIfNeeded: iptc.count >> (24 - 8 * $0)) }
        return Array("8BIM".utf8) + [4, 4, 0, 0] + length + iptc + (iptc.count.isMultiple(of: 2) ? [] : [0])
    }
}
