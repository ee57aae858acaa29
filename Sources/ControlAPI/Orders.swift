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
    /// Names that are passed over, and by which rule. Only for a dry run.
    package var ignored: [IgnoredBody]
    /// What was asked for and is not imported, with the reason.
    package var refused: [RefusedBody]

    private enum CodingKeys: String, CodingKey {
        case dryRun = "dry_run"
        case batchID = "batch_id"
        case queued, known, groups, ignored, refused
    }

    package init(
        dryRun: Bool, batch: Batch.ID?, queued: Int, known: Int, groups: [ImportForecast], ignored: [IgnoredName],
        refused: [(Path, Problem)]
    ) {
        self.dryRun = dryRun
        batchID = batch
        self.queued = queued
        self.known = known
        self.groups = groups.map(ImportGroupBody.init)
        self.ignored = ignored.map(IgnoredBody.init)
        self.refused = refused.map { RefusedBody(path: $0, problem: $1) }
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        dryRun = try container.decode(Bool.self, forKey: .dryRun)
        batchID = try container.decodeIfPresent(Int64.self, forKey: .batchID)
        queued = try container.decode(Int.self, forKey: .queued)
        known = try container.decode(Int.self, forKey: .known)
        groups = try container.decode([ImportGroupBody].self, forKey: .groups)
        ignored = try container.decodeIfPresent([IgnoredBody].self, forKey: .ignored) ?? []
        refused = try container.decode([RefusedBody].self, forKey: .refused)
    }
}

/// What an import of one shot would come to.
package struct ImportGroupBody: Codable, Hashable, Sendable {
    package var files: [ImportFileBody]
    /// The asset in the catalog that the new files would join.
    @OrNull package var joins: String?
    /// Why it would not be imported.
    @OrNull package var error: ErrorBody?

    package init(_ forecast: ImportForecast) {
        files = forecast.files.map(ImportFileBody.init)
        joins = forecast.joins
        error = forecast.problem.map(ErrorBody.init)
    }
}

/// One file of a shot, and what would become of it.
package struct ImportFileBody: Codable, Hashable, Sendable {
    package var role: String
    package var path: String
    package var pathBytes: String?
    /// Bytes.
    package var size: Int64
    /// `import`, `duplicate`, `known` or `refused`; more may come.
    @OrNull package var outcome: String?
    /// Where it would stand in the library; only of `import`.
    @OrNull package var libraryPath: String?
    package var libraryPathBytes: String?
    /// The asset that holds its bytes, or that it became.
    @OrNull package var assetID: String?
    /// An earlier file of the same bytes; only of `duplicate`.
    @OrNull package var sameAs: String?
    package var sameAsBytes: String?
    /// The job that answers for it, and that job's state; only of `known`.
    @OrNull package var jobID: Int64?
    @OrNull package var jobState: String?
    /// Of a sidecar, the photo that it belongs to.
    @OrNull package var companionOf: String?
    package var companionOfBytes: String?

    private enum CodingKeys: String, CodingKey {
        case role, path
        case pathBytes = "path_bytes"
        case size, outcome
        case libraryPath = "library_path"
        case libraryPathBytes = "library_path_bytes"
        case assetID = "asset_id"
        case sameAs = "same_as"
        case sameAsBytes = "same_as_bytes"
        case jobID = "job_id"
        case jobState = "job_state"
        case companionOf = "companion_of"
        case companionOfBytes = "companion_of_bytes"
    }

    package init(_ file: ImportForecast.File) {
        let text = PathText(file.source.path)
        role = file.source.role.rawValue
        path = text.text
        pathBytes = text.base64
        size = file.source.stamp.size
        let companion = file.companionOf.map { PathText($0) }
        companionOf = companion?.text
        companionOfBytes = companion?.base64
        switch file.outcome {
        case .stored(let path):
            outcome = "import"
            libraryPath = PathText(path).text
            libraryPathBytes = PathText(path).base64
        case .duplicate(let asset):
            outcome = "duplicate"
            assetID = asset
        case .repeated(let path):
            outcome = "duplicate"
            sameAs = PathText(path).text
            sameAsBytes = PathText(path).base64
        case .known(let job, let state, let asset):
            outcome = "known"
            jobID = job
            jobState = state.rawValue
            assetID = asset
        case .refused: outcome = "refused"
        }
    }
}

/// A name that is passed over.
package struct IgnoredBody: Codable, Hashable, Sendable {
    package var path: String
    package var pathBytes: String?
    /// `built_in`, `pattern`, `own` or `move_to`.
    package var rule: String
    /// As it stands in the drop's `ignore`; only of `pattern`.
    @OrNull package var pattern: String?

    private enum CodingKeys: String, CodingKey {
        case path
        case pathBytes = "path_bytes"
        case rule, pattern
    }

    package init(_ name: IgnoredName) {
        let text = PathText(name.path)
        path = text.text
        pathBytes = text.base64
        switch name.rule {
        case .own: rule = "own"
        case .moveTo: rule = "move_to"
        case .builtIn: rule = "built_in"
        case .pattern(let text):
            rule = "pattern"
            pattern = text
        }
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
