package import PhotoModel

/// `GET /v1/jobs/{id}`, and the items of `GET /v1/jobs`.
package struct JobBody: Codable, Hashable, Sendable {
    package var id: Int64
    package var state: String
    package var drop: String
    package var batchID: Int64
    package var sequence: Int64
    package var attempts: Int
    package var files: [FileBody]
    @OrNull package var error: ErrorBody?
    package var disposition: DispositionBody
    /// When it is tried again, RFC 3339.
    @OrNull package var notBefore: String?
    @OrNull package var assetID: String?
    package var createdAt: String
    @OrNull package var finishedAt: String?

    private enum CodingKeys: String, CodingKey {
        case id, state, drop
        case batchID = "batch_id"
        case sequence, attempts, files, error, disposition
        case notBefore = "not_before"
        case assetID = "asset_id"
        case createdAt = "created_at"
        case finishedAt = "finished_at"
    }

    package init(_ job: Job) {
        id = job.id
        state = job.state.rawValue
        drop = job.drop
        batchID = job.batch
        sequence = job.sequence
        attempts = job.attempts
        files = job.files.map { FileBody(role: $0.role, path: $0.path, size: $0.stamp.size) }
        error = job.problem.map(ErrorBody.init)
        disposition = DispositionBody(
            state: job.disposition.rawValue, code: job.dispositionProblem?.code.rawValue,
            detail: job.dispositionProblem?.whatHappened)
        notBefore = job.notBefore?.rfc3339
        assetID = job.asset
        createdAt = job.createdAt.rfc3339
        finishedAt = job.finishedAt?.rfc3339
    }
}

/// A source file: its path is absolute.
package struct FileBody: Codable, Hashable, Sendable {
    package var role: String
    package var path: String
    package var pathBytes: String?
    /// Bytes.
    package var size: Int64

    private enum CodingKeys: String, CodingKey {
        case role, path
        case pathBytes = "path_bytes"
        case size
    }

    package init(role: Role, path: Path, size: Int64) {
        let text = PathText(path)
        self.role = role.rawValue
        self.path = text.text
        pathBytes = text.base64
        self.size = size
    }
}

/// What became of the source.
package struct DispositionBody: Codable, Hashable, Sendable {
    /// keep, pending, moved, deleted or kept.
    package var state: String
    @OrNull package var code: String?
    @OrNull package var detail: String?

    package init(state: String, code: String?, detail: String?) {
        self.state = state
        self.code = code
        self.detail = detail
    }
}

/// A page: `next` is handed back as `after` to read on, and null at the end.
package struct ListBody<Body: Codable & Hashable & Sendable>: Codable, Hashable, Sendable {
    package var items: [Body]
    @OrNull package var next: String?

    package init(items: [Body], next: String?) {
        self.items = items
        self.next = next
    }
}
