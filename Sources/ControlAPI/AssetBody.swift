package import PhotoModel

/// `GET /v1/assets/{id}`, and the items of `GET /v1/assets`.
package struct AssetBody: Codable, Hashable, Sendable {
    package var id: String
    /// Local wall time where the shot was taken, without offset: `2026-05-17T09:04:31.87`.
    @OrNull package var capturedAt: String?
    /// `+02:00`.
    @OrNull package var capturedOffset: String?
    @OrNull package var dateSource: String?
    /// What the file says first of its time, where that was not believed.
    @OrNull package var implausibleAt: String?
    @OrNull package var implausibleSource: String?
    @OrNull package var make: String?
    @OrNull package var model: String?
    @OrNull package var lens: String?
    @OrNull package var latitude: Double?
    @OrNull package var longitude: Double?
    /// As shown, that is upright.
    @OrNull package var width: Int?
    @OrNull package var height: Int?
    @OrNull package var contentIdentifier: String?
    package var resources: [ResourceBody]
    package var collection: String
    package var kind: String
    /// Where the video is that belongs to the picture: `paired` (a file of its own, a Live Photo), `embedded` (inside the
    /// picture's file, a motion photo), or null.
    @OrNull package var motion: String?
    package var preview: PreviewBody
    package var renditions: [RenditionBody]
    package var importedAt: String

    private enum CodingKeys: String, CodingKey {
        case id
        case capturedAt = "captured_at"
        case capturedOffset = "captured_offset"
        case dateSource = "date_source"
        case implausibleAt = "implausible_at"
        case implausibleSource = "implausible_source"
        case make, model, lens, latitude, longitude, width, height
        case contentIdentifier = "content_identifier"
        case resources, collection, kind, motion, preview, renditions
        case importedAt = "imported_at"
    }

    package init(_ asset: Asset) {
        let facts = asset.facts
        id = asset.id
        capturedAt = facts.capturedAt?.text
        capturedOffset = facts.capturedOffset
        dateSource = facts.dateSource?.rawValue
        implausibleAt = facts.implausibleAt?.text
        implausibleSource = facts.implausibleSource?.rawValue
        make = facts.make
        model = facts.model
        lens = facts.lens
        latitude = facts.latitude
        longitude = facts.longitude
        width = facts.size?.width
        height = facts.size?.height
        contentIdentifier = facts.contentIdentifier
        resources = asset.resources.map {
            ResourceBody($0, owner: Attachment.owner(of: $0, in: asset.resources))
        }
        collection = asset.collection
        kind = asset.kind.rawValue
        motion = asset.motion?.rawValue
        preview = PreviewBody(asset.preview)
        renditions = asset.preview.renditions.map(RenditionBody.init)
        importedAt = asset.importedAt.rfc3339
    }
}

package struct ResourceBody: Codable, Hashable, Sendable {
    package var role: String
    /// Relative to the library.
    package var path: String
    package var pathBytes: String?
    /// Absolute, where it came from.
    package var sourcePath: String
    package var sourcePathBytes: String?
    /// Bytes.
    package var size: Int64
    /// 64 hexadecimal digits.
    package var sha256: String
    package var mediaType: String
    /// Of a sidecar and the like: the path of the photo or video that it is of. Absent for those themselves.
    package var belongsTo: String?

    private enum CodingKeys: String, CodingKey {
        case role, path
        case pathBytes = "path_bytes"
        case sourcePath = "source_path"
        case sourcePathBytes = "source_path_bytes"
        case size, sha256
        case mediaType = "media_type"
        case belongsTo = "belongs_to"
    }

    /// - Parameter owner: the photo or video that it is of.
    package init(_ resource: Resource, owner: Resource?) {
        let path = PathText(resource.path)
        let source = PathText(resource.sourcePath)
        role = resource.role.rawValue
        self.path = path.text
        pathBytes = path.base64
        sourcePath = source.text
        sourcePathBytes = source.base64
        size = resource.size
        sha256 = resource.sha256.hex
        mediaType = resource.mediaType.rawValue
        belongsTo = owner.map { PathText($0.path).text }
    }
}

package struct PreviewBody: Codable, Hashable, Sendable {
    /// ok, partial, failed or none.
    package var state: String
    /// Why there is none, or only a part.
    @OrNull package var code: String?
    /// Relative to the library.
    @OrNull package var path: String?
    @OrNull package var width: Int?
    @OrNull package var height: Int?

    package init(_ preview: AssetPreview) {
        state = preview.state.rawValue
        code = preview.problem?.code.rawValue
        path = preview.path?.shown
        width = preview.size?.width
        height = preview.size?.height
    }
}

/// A further size of the preview.
package struct RenditionBody: Codable, Hashable, Sendable {
    package var name: String
    /// Relative to the library.
    package var path: String
    package var width: Int
    package var height: Int

    package init(_ rendition: Rendition) {
        name = rendition.spec.name
        path = rendition.path.shown
        width = rendition.size.width
        height = rendition.size.height
    }
}
