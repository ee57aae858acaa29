/// 32 bytes of SHA-256 (FIPS 180-4).
package struct SHA256Digest: Hashable, Sendable, Codable {
    package let bytes: [UInt8]

    /// - Precondition: 32 bytes.
    package init(bytes: [UInt8]) {
        precondition(bytes.count == 32)
        self.bytes = bytes
    }

    /// From 64 hexadecimal digits; nil for anything else.
    package init?(hex: String) {
        let digits = Array(hex.utf8)
        guard digits.count == 64 else { return nil }
        var bytes: [UInt8] = []
        for position in stride(from: 0, to: 64, by: 2) {
            guard let byte = UInt8(String(decoding: digits[position..<position + 2], as: UTF8.self), radix: 16),
                digits[position] != UInt8(ascii: "+")
            else { return nil }
            bytes.append(byte)
        }
        self.bytes = bytes
    }

    package var hex: String { lowercaseHex(bytes) }

    package init(from decoder: any Decoder) throws {
        let text = try decoder.singleValueContainer().decode(String.self)
        guard let digest = SHA256Digest(hex: text) else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "not 64 hexadecimal digits"))
        }
        self = digest
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(hex)
    }
}

package func lowercaseHex(_ bytes: some Sequence<UInt8>) -> String {
    let digits = Array("0123456789abcdef".utf8)
    var text: [UInt8] = []
    for byte in bytes {
        text.append(digits[Int(byte >> 4)])
        text.append(digits[Int(byte & 15)])
    }
    return String(decoding: text, as: UTF8.self)
}

/// What a photo says about itself. Everything is optional: metadata never fails an import.
package struct Facts: Hashable, Sendable, Codable {
    package var capturedAt: WallTime?
    package var dateSource: DateSource?
    /// `+02:00`, as EXIF OffsetTime writes it.
    package var capturedOffset: String?
    /// What the file says first of its time, where that was not believed; as written there.
    package var implausibleAt: WallTime?
    package var implausibleSource: DateSource?
    package var make: String?
    package var model: String?
    package var lens: String?
    /// Degrees, north positive, -90...90.
    package var latitude: Double?
    /// Degrees, east positive, -180...180.
    package var longitude: Double?
    /// As shown, that is upright.
    package var size: PixelSize?
    /// EXIF orientation 1...8 as it applies to the stored pixels; 1 when illegal, absent, or the container turns them.
    package var orientation: Int
    /// What ties the halves of a Live Photo together.
    package var contentIdentifier: String?
    package var isScreenshot: Bool

    package init() {
        orientation = 1
        isScreenshot = false
    }

    /// The capture time with what is known of it.
    package var date: CaptureDate? {
        get { capturedAt.map { CaptureDate(time: $0, offset: capturedOffset, source: dateSource ?? .mtime) } }
        set {
            capturedAt = newValue?.time
            capturedOffset = newValue?.offset
            dateSource = newValue?.source
        }
    }
}

/// The original of one file of a shot, in the library.
package struct Resource: Hashable, Sendable, Codable {
    package var role: Role
    /// Relative to the library.
    package var path: Path
    /// Absolute, where it came from.
    package var sourcePath: Path
    package var size: Int64
    package var sha256: SHA256Digest
    package var mtime: Int64
    package var mediaType: MediaType

    package init(
        role: Role, path: Path, sourcePath: Path, size: Int64, sha256: SHA256Digest, mtime: Int64, mediaType: MediaType
    ) {
        self.role = role
        self.path = path
        self.sourcePath = sourcePath
        self.size = size
        self.sha256 = sha256
        self.mtime = mtime
        self.mediaType = mediaType
    }
}

package struct AssetPreview: Hashable, Sendable, Codable {
    package var state: PreviewState
    /// Why there is none, or only part of one.
    package var problem: Problem?
    /// Relative to the library.
    package var path: Path?
    package var size: PixelSize?
    /// Made with it, and gone with it.
    package var renditions: [Rendition]

    package init(
        state: PreviewState, problem: Problem? = nil, path: Path? = nil, size: PixelSize? = nil,
        renditions: [Rendition] = []
    ) {
        self.state = state
        self.problem = problem
        self.path = path
        self.size = size
        self.renditions = renditions
    }

    /// All files that belong to it.
    package var paths: [Path] { [path].compactMap { $0 } + renditions.map(\.path) }

    private enum CodingKeys: CodingKey { case state, problem, path, size, renditions }

    /// Lines of versions that made no renditions do not tell of them.
    package init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            state: try values.decode(PreviewState.self, forKey: .state),
            problem: try values.decodeIfPresent(Problem.self, forKey: .problem),
            path: try values.decodeIfPresent(Path.self, forKey: .path),
            size: try values.decodeIfPresent(PixelSize.self, forKey: .size),
            renditions: try values.decodeIfPresent([Rendition].self, forKey: .renditions) ?? [])
    }

    package func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(state, forKey: .state)
        try values.encodeIfPresent(problem, forKey: .problem)
        try values.encodeIfPresent(path, forKey: .path)
        try values.encodeIfPresent(size, forKey: .size)
        if !renditions.isEmpty { try values.encode(renditions, forKey: .renditions) }
    }
}

/// One imported shot in the catalog.
package struct Asset: Sendable, Identifiable, Codable {
    /// UUIDv7 as text (RFC 9562).
    package typealias ID = String
    package var id: ID
    package var kind: AssetKind
    package var collection: String
    package var facts: Facts
    package var resources: [Resource]
    package var preview: AssetPreview
    package var importedAt: Timestamp

    package init(
        id: ID, kind: AssetKind, collection: String, facts: Facts, resources: [Resource], preview: AssetPreview,
        importedAt: Timestamp
    ) {
        self.id = id
        self.kind = kind
        self.collection = collection
        self.facts = facts
        self.resources = resources
        self.preview = preview
        self.importedAt = importedAt
    }
}
