package import PhotoModel

/// `POST /v1/import`.
package struct ImportRequest: Codable, Hashable, Sendable {
    /// Absolute files or folders below a drop folder or one of `control.import_roots`.
    package var paths: [PathBody]
    package var dryRun: Bool

    private enum CodingKeys: String, CodingKey {
        case paths
        case dryRun = "dry_run"
    }

    package init(paths: [Path], dryRun: Bool) {
        self.paths = paths.map { PathBody($0) }
        self.dryRun = dryRun
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        paths = try container.decode([PathBody].self, forKey: .paths)
        dryRun = try container.decodeIfPresent(Bool.self, forKey: .dryRun) ?? false
    }
}

/// The answer to `POST /v1/import`.
package struct ImportBody: Codable, Hashable, Sendable {
    package var dryRun: Bool
    /// Null for a dry run, and when nothing was queued.
    @OrNull package var batchID: Int64?
    /// Shots that were queued, or would be.
    package var queued: Int
    /// Files the spool knows already.
    package var known: Int
    /// The shots, each with its files. Only for a dry run: what was queued stands in the batch.
    package var groups: [ImportGroupBody]
    /// What was asked for and is not imported, with the reason.
    package var refused: [RefusedBody]

    private enum CodingKeys: String, CodingKey {
        case dryRun = "dry_run"
        case batchID = "batch_id"
        case queued, known, groups, refused
    }

    package init(
        dryRun: Bool, batch: Batch.ID?, queued: Int, known: Int, groups: [SettledGroup], refused: [(Path, Problem)]
    ) {
        self.dryRun = dryRun
        batchID = batch
        self.queued = queued
        self.known = known
        self.groups = groups.map(ImportGroupBody.init)
        self.refused = refused.map { RefusedBody(path: $0, problem: $1) }
    }
}

package struct ImportGroupBody: Codable, Hashable, Sendable {
    package var files: [FileBody]
    /// Why it would not be imported.
    @OrNull package var error: ErrorBody?

    package init(_ group: SettledGroup) {
        files = group.files.map { FileBody(role: $0.role, path: $0.path, size: $0.stamp.size) }
        error = group.verdict.map(ErrorBody.init)
    }
}

package struct RefusedBody: Codable, Hashable, Sendable {
    package var path: String
    package var pathBytes: String?
    package var error: ErrorBody

    private enum CodingKeys: String, CodingKey {
        case path
        case pathBytes = "path_bytes"
        case error
    }

    package init(path: Path, problem: Problem) {
        let text = PathText(path)
        self.path = text.text
        pathBytes = text.base64
        error = ErrorBody(problem)
    }
}

/// `POST /v1/rescan`; an empty body means all drop folders.
package struct RescanRequest: Codable, Hashable, Sendable {
    package var drop: String?
    package init(drop: String?) { self.drop = drop }
}

/// The answer to `POST /v1/retry`: how many failed jobs are queued again.
package struct RetriedBody: Codable, Hashable, Sendable {
    package var retried: Int
    package init(retried: Int) { self.retried = retried }
}

/// The answer to `POST /v1/rescan`: the drop folders that are looked through again.
package struct RescanBody: Codable, Hashable, Sendable {
    package var drops: [String]
    package init(drops: [String]) { self.drops = drops }
}

/// The answer to `POST /v1/reload`.
package struct ReloadBody: Codable, Hashable, Sendable {
    /// Keys that changed and are in force: `drop.card.settle`.
    package var applied: [String]
    /// Keys that changed and wait for a restart.
    package var needsRestart: [String]

    private enum CodingKeys: String, CodingKey {
        case applied
        case needsRestart = "needs_restart"
    }

    package init(applied: [String], needsRestart: [String]) {
        self.applied = applied
        self.needsRestart = needsRestart
    }
}
