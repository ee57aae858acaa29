import Files
import PhotoModel
import Preview
import Store
import Workers

/// From verified copies to everything that the commit needs: what the library has already, what the files are, which
/// asset they join, and the preview.
extension Importer {
    /// What of a group the library does not hold.
    struct Fresh: Sendable {
        var staged: [StagedResource]
        var inspections: [Inspection]
        /// The asset that the known files of the group belong to.
        var known: Asset.ID?

        var identifiers: Set<String> { Set(inspections.compactMap(\.facts.contentIdentifier)) }
    }

    enum Looked: Sendable {
        case duplicate(Asset.ID)
        case fresh(Fresh)
    }

    enum Prepared: Sendable {
        case duplicate(Asset.ID)
        case shot(Shot)
    }

    /// Everything the commit needs.
    struct Shot: Sendable {
        var staged: [StagedResource]
        var inspections: [Inspection]
        var preview: PreviewStep.Result
        /// The asset in the catalog that the new files join.
        var joins: Asset?
    }

    func lookIntoLibrary(_ staged: [StagedResource]) throws(ImportEnded) -> Looked {
        try checkCancelled()
        if let problem = rooms.undecided.problem(of: staged.map(\.sha256)) { throw ImportEnded(.outage(problem)) }
        guard hasShot(staged) else { return .fresh(Fresh(staged: staged, inspections: try inspect(staged))) }
        let known = try duplicates.run(staged.map(HashedFile.init))
        if known.known.count == staged.count, let asset = known.asset { return .duplicate(asset) }
        // All are looked at: whether the new ones are of the shot that the library has, only both together tell.
        let inspections = try inspect(staged)
        return .fresh(
            Fresh(
                staged: keep(staged, but: known.known),
                inspections: staged.indices.filter { !known.known.contains($0) }.map { inspections[$0] },
                known: known.asset))
    }

    func prepare(_ fresh: Fresh) throws(ImportEnded) -> Prepared {
        guard fresh.known != nil || hasShot(fresh.staged) else { return try prepareCompanions(fresh) }
        let joined = try endingImport { () throws(Problem) -> Asset? in
            if let id = fresh.known { return try existing(id) }
            return try late.asset(for: fresh.staged, fresh.inspections)
        }
        try checkKind(fresh, joined)
        return .shot(
            Shot(
                staged: fresh.staged, inspections: fresh.inspections, preview: try preview(fresh, joined),
                joins: joined))
    }

    /// Sidecars alone belong to a shot that came before. Equal bytes elsewhere in the library make them no part of that
    /// shot: two edits are often the same. So what no asset of their own shot holds is not known, whoever else has it.
    private func prepareCompanions(_ alone: Fresh) throws(ImportEnded) -> Prepared {
        // Looked at first: an asset that comes meanwhile is one that was not seen.
        let seen = try endingImport { () throws(Problem) in try late.assetsOfShot() }
        let joined = try endingImport { () throws(Problem) in try late.asset(for: alone.staged, alone.inspections) }
        if joined == nil { try partCompanions(alone) }
        var duplicates = duplicates
        duplicates.within = joined.map { [$0.id] } ?? seen
        let known = try duplicates.run(alone.staged.map(HashedFile.init))
        if known.known.count == alone.staged.count, let asset = known.asset { return .duplicate(asset) }
        guard let joined else {
            let isWatched = try endingImport { () throws(Problem) in
                if job.isManual { return false }
                return try !late.isShotKnown()
            }
            throw ImportEnded(isWatched ? .alone : .orphan(late.orphan(), seen: seen))
        }
        let inspections = alone.inspections.indices.filter { !known.known.contains($0) }.map { alone.inspections[$0] }
        return .shot(
            Shot(
                staged: keep(alone.staged, but: known.known), inspections: inspections, preview: .none, joins: joined))
    }

    /// Those of one stem that came together may be of several shots.
    private func partCompanions(_ alone: Fresh) throws(ImportEnded) {
        let homes = try endingImport { () throws(Problem) in try late.homes(of: alone.staged, alone.inspections) }
        let groups = PartingStep(job: job, now: rooms.now()).groups(alone.staged, at: homes.map { $0?.id })
        if groups.count > 1 { throw ImportEnded(.parted(groups)) }
    }

    private func hasShot(_ staged: [StagedResource]) -> Bool {
        staged.contains { DuplicateStep.shotRoles.contains($0.role) }
    }

    /// The asset that holds all of a group that was read without being copied; nil when it has to be copied.
    func holder(of hashed: [HashedFile]) throws(ImportEnded) -> Asset.ID? {
        try checkCancelled()
        if let problem = rooms.undecided.problem(of: hashed.map(\.sha256)) { throw ImportEnded(.outage(problem)) }
        let known = try duplicates.run(hashed)
        return known.known.count == hashed.count ? known.asset : nil
    }

    private var duplicates: DuplicateStep {
        DuplicateStep(
            library: library, store: rooms.store, attempt: job.attempts, isCancelled: { cancellation.isCancelled },
            log: rooms.log)
    }

    /// The asset as the catalog has it now.
    func existing(_ id: Asset.ID) throws(Problem) -> Asset {
        guard let asset = try rooms.store.asset(id) else {
            throw Problem(
                .conflict, "Asset \(id) is no longer in the catalog.", todo: "Nothing; the import is tried again.")
        }
        return asset
    }

    private func inspect(_ staged: [StagedResource]) throws(ImportEnded) -> [Inspection] {
        try endingImport { () throws(Problem) in try rooms.store.advance(claim, to: .previewing) }
        enter(.previewing)
        let step = InspectStep(
            library: library, decoders: rooms.decoders, isCancelled: { cancellation.isCancelled }, log: rooms.log)
        let inspections = try step.run(staged)
        try arrival.check(staged, inspections)
        try part(staged, inspections, broken: InspectStep.broken(staged, inspections))
        return inspections
    }

    // MARK: Parting

    /// - Throws: ``ImportOutcome/parted(_:)`` where the job's files are not one shot.
    private func part(
        _ staged: [StagedResource], _ inspections: [Inspection], broken: [Path: Problem]
    ) throws(ImportEnded) {
        let step = PartingStep(job: job, now: rooms.now())
        if let groups = step.groups(staged, inspections, broken: broken) { throw ImportEnded(.parted(groups)) }
    }

    /// A file that could not be read until the job's attempts were used up: it ends by itself, and the others go on.
    func partsWithoutSource(_ ended: ImportEnded) -> [SettledGroup]? {
        guard case .tryLater(let problem) = ended.outcome, let source = ended.source, job.attempts >= plan.maxAttempts,
            [.sourceIO, .sourcePermission].contains(problem.code)
        else { return nil }
        return PartingStep(job: job, now: rooms.now()).groups([], [], broken: [source: problem])
    }

    /// Of an asset that is joined the kind counts that it will have.
    private func checkKind(_ fresh: Fresh, _ joined: Asset?) throws(ImportEnded) {
        guard !plan.kinds.isEmpty else { return }
        let shot = ShotFacts(job: job, staged: fresh.staged, inspections: fresh.inspections, now: rooms.now())
        let kind = shot.kind(joining: joined, fresh.staged, fresh.inspections)
        guard !plan.kinds.contains(kind) else { return }
        throw ImportEnded(
            Problem(
                .filtered, "\(SafeText.of(job.files[0].path)) is a \(kind.rawValue), which this drop leaves alone."))
    }

    /// An asset that is joined keeps its preview, and gets one if it has none. What joins it is looked at all the same:
    /// a corrupt photo is no more let in because its shot is known.
    private func preview(_ fresh: Fresh, _ joined: Asset?) throws(ImportEnded) -> PreviewStep.Result {
        let result = try tryPreview(fresh)
        guard let joined, joined.preview.path != nil else { return result }
        if case .made(let preview) = result { for staged in preview.staged { discard(staged) } }
        return .none
    }

    private func tryPreview(_ fresh: Fresh) throws(ImportEnded) -> PreviewStep.Result {
        let step = PreviewStep(
            library: library, decoders: rooms.decoders, staging: library.previewStaging(of: claim.importID),
            spec: plan.spec,
            policy: plan.onPreviewFailure, isCancelled: { cancellation.isCancelled },
            setWaiting: { rooms.inFlight.setWaiting($0, job.id) })
        do throws(ImportEnded) {
            let result = try step.run(fresh.staged, fresh.inspections)
            switch result {
            case .failed(let problem): try waitIfCut(fresh, problem)
            case .made(let made) where plan.onPreviewFailure != .keep:
                try part(fresh.staged, fresh.inspections, broken: made.passedOver)
            case .made, .none: break
            }
            return result
        } catch {
            if case .ended(.failed, let problem) = error.outcome { try waitIfCut(fresh, problem) }
            throw error
        }
    }

    /// The decoder may find that a picture is cut where its container is whole.
    private func waitIfCut(_ fresh: Fresh, _ problem: Problem) throws(ImportEnded) {
        guard problem.code == .truncated else { return }
        for file in fresh.staged where DuplicateStep.shotRoles.contains(file.role) { try arrival.check(file) }
    }

    private func keep(_ staged: [StagedResource], but known: Set<Int>) -> [StagedResource] {
        for position in known { discard(staged[position].staged) }
        return staged.indices.filter { !known.contains($0) }.map { staged[$0] }
    }

    /// What the library has already is not needed any more. So nothing is left in staging when the others have moved, and
    /// whoever finds it after a death can tell that it is over.
    func discard(_ staged: Path) {
        do throws(Errno) {
            try library.root.unlink(staged)
        } catch _ {}  // it goes with staging
    }
}
