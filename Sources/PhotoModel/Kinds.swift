/// What a file is, by its content.
package enum MediaType: String, Codable, Sendable, CaseIterable {
    case jpeg = "image/jpeg"
    case heic = "image/heic"
    case heif = "image/heif"
    case avif = "image/avif"
    case png = "image/png"
    case webp = "image/webp"
    case tiff = "image/tiff"
    case gif = "image/gif"
    case jpegXL = "image/jxl"
    case raw = "image/x-raw"
    case quicktime = "video/quicktime"
    case mp4 = "video/mp4"
    case avi = "video/x-msvideo"
    case mpegTS = "video/mp2t"
    case matroska = "video/x-matroska"
    case xmp = "application/rdf+xml"
    case appleAdjustment = "application/x-apple-aae"
    case json = "application/json"
    case audio = "audio/x-wav"
    case unknown = "application/octet-stream"

    package var isVideo: Bool {
        switch self {
        case .quicktime, .mp4, .avi, .mpegTS, .matroska: true
        default: false
        }
    }

    package var isStill: Bool {
        switch self {
        case .jpeg, .heic, .heif, .avif, .png, .webp, .tiff, .gif, .jpegXL, .raw: true
        default: false
        }
    }

    /// Order in which the photo resource for a preview is chosen, best first: HEIC, JPEG, PNG, other images, RAW, video.
    package var previewRank: Int {
        switch self {
        case .heic, .heif, .avif: 0
        case .jpeg: 1
        case .png: 2
        case .webp, .tiff, .gif, .jpegXL: 3
        case .raw: 4
        case .quicktime, .mp4, .avi, .mpegTS, .matroska: 5
        case .xmp, .appleAdjustment, .json, .audio, .unknown: 9
        }
    }
}

/// What a resource is to its asset.
package enum Role: String, Codable, Sendable, CaseIterable {
    case photo
    case alternatePhoto = "alternate_photo"
    case pairedVideo = "paired_video"
    case video, adjustment, sidecar, audio, thumbnail
}

/// What an asset is as a whole: what a drop's `kinds` chooses by.
package enum AssetKind: String, Codable, Sendable, CaseIterable {
    case photo, raw, video
    case livePhoto = "live_photo"
    case screenshot
}

package enum DateSource: String, Codable, Sendable, CaseIterable {
    case exifOriginal = "exif_original"
    case exifDigitized = "exif_digitized"
    case exifModified = "exif_modified"
    case xmp, quicktime, takeout, filename, mtime

    /// The better one first. A time of modification comes behind XMP's of capture: it is the last program's that saved
    /// the file; what Google says of a photo counts only where the photo says nothing.
    package static let precedence: [DateSource] = [
        .exifOriginal, .exifDigitized, .xmp, .exifModified, .quicktime, .takeout, .filename, .mtime,
    ]

    /// Whether the photo or video itself says so, or what was written beside it.
    package var isOfFile: Bool { self != .filename && self != .mtime }

    package var rank: Int { Self.precedence.firstIndex(of: self) ?? Self.precedence.count }
}

package enum PreviewState: String, Codable, Sendable {
    case ok, partial, failed, none
}
