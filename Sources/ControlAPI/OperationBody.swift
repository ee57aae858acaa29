package import PhotoModel

/// `POST /v1/operations`.
package struct OperationRequest: Codable, Hashable, Sendable {
    /// verify, adopt, rebuild, undo, backup, previews, manifest, sweep or check.
    package var kind: String
    /// What the kind takes: `{"sample": "1/7"}`.
    package var arguments: [String: String]

    package init(kind: String, arguments: [String: String]) {
        self.kind = kind
        self.arguments = arguments
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        kind = try container.decode(String.self, forKey: .kind)
        arguments = try container.decodeIfPresent([String: String].self, forKey: .arguments) ?? [:]
    }
}

/// `GET /v1/operations/{id}`, and the items of `GET /v1/operations`, which leave `findings` out.
package struct OperationBody: Codable, Hashable, Sendable {
    package var id: Int64
    package var kind: String
    package var arguments: [String: String]
    /// queued, running, done, failed or cancelled.
    package var state: String
    /// In units of the kind's own.
    package var done: Int64
    /// Null while nobody knows.
    @OrNull package var total: Int64?
    package var findingsCount: Int64
    package var findings: [FindingBody]?
    /// The cursor of the next page of findings.
    @OrNull package var next: String?
    package var results: [String: String]
    @OrNull package var error: ErrorBody?
    package var createdAt: String
    @OrNull package var finishedAt: String?

    private enum CodingKeys: String, CodingKey {
        case id, kind, arguments, state, done, total
        case findingsCount = "findings_count"
        case findings, next, results, error
        case createdAt = "created_at"
        case finishedAt = "finished_at"
    }

    package init(_ operation: Operation, findings: [Operation.Finding]? = nil, next: String? = nil) {
        id = operation.id
        kind = operation.kind.rawValue
        arguments = operation.arguments
        state = operation.state.rawValue
        done = operation.done
        total = operation.total
        findingsCount = operation.findings
        self.findings = findings?.map(FindingBody.init)
        self.next = next
        results = operation.results
        error = operation.problem.map(ErrorBody.init)
        createdAt = operation.createdAt.rfc3339
        finishedAt = operation.finishedAt?.rfc3339
    }

    package var isOver: Bool { ["done", "failed", "cancelled"].contains(state) }
}

package struct FindingBody: Codable, Hashable, Sendable {
    package var kind: String
    @OrNull package var path: String?
    package var pathBytes: String?
    @OrNull package var assetID: String?
    package var detail: String

    private enum CodingKeys: String, CodingKey {
        case kind, path
        case pathBytes = "path_bytes"
        case assetID = "asset_id"
        case detail
    }

    package init(_ finding: Operation.Finding) {
        let path = finding.path.map { PathText($0) }
        kind = finding.kind
        self.path = path?.text
        pathBytes = path?.base64
        assetID = finding.asset
        detail = finding.detail
    }
}

/// The answer to `POST /v1/assets/{id}/forget`.
package struct ForgottenBody: Codable, Hashable, Sendable {
    /// Tombstones that are gone.
    package var forgotten: Int
    package init(forgotten: Int) { self.forgotten = forgotten }
}
