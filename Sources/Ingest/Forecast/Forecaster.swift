import Files
package import PhotoModel
package import Preview
package import Store

/// What an import of shots would come to, asked of the state, the library and the files themselves, and nothing changed
/// by asking: `photospool import --dry-run`.
///
/// It takes the steps of an import that decide something, in their order, on the sources instead of on copies. Pictures
/// are not decoded, so a photo that only its preview would show to be damaged is not told from a sound one. Sources are
/// read whole only where their bytes may be known: where the catalog, or an earlier file, has one of their size, a deleted
/// photo's bytes are to be kept out, or the template asks for `{sha}`.
package struct Forecaster {
    let store: Store
    let library: Library
    let settings: Settings
    let now: Timestamp
    let log: Log
    let isCancelled: @Sendable () -> Bool
    private let reading: SourceReading
    private let newID: @Sendable () -> String

    private var names: ForecastNames
    /// How many of the files have a size.
    private var sizes: [Int64: Int] = [:]
    /// The files that would be stored so far, by their bytes.
    private var stored: [SHA256Digest: Earlier] = [:]
    private var batch: Batch.ID
    private var catalog: ForecastCatalog

    /// A file of an earlier shot of the same import, and what that would be.
    private struct Earlier {
        var source: Path
        var asset: Asset.ID
    }

    package init(
        store: Store, library: Library, decoders: DecoderPool, settings: Settings, now: Timestamp,
        newID: @escaping @Sendable () -> String, isCancelled: @escaping @Sendable () -> Bool, log: @escaping Log
    ) throws(Problem) {
        self.store = store
        self.library = library
        self.settings = settings
        self.now = now
        self.newID = newID
        self.isCancelled = isCancelled
        self.log = log
        reading = SourceReading(decoders: decoders, isCancelled: isCancelled, log: log)
        names = try ForecastNames(library: library, store: store)
        catalog = ForecastCatalog(store: store)
        batch = (try store.batches(limit: 1).items.first?.id ?? 0) + 1
    }

    /// One answer a group, in their order, which is that of the import.
    ///
    /// - Throws: what keeps anything from being said: a library that is away, no decoder, a state that cannot be read.
    package mutating func run(_ groups: [SettledGroup]) throws(Problem) -> [ImportForecast] {
        for file in groups.flatMap(\.files) { sizes[file.stamp.size, default: 0] += 1 }
        var forecasts: [ImportForecast] = []
        for group in groups { forecasts.append(try forecast(group)) }
        return forecasts
    }

    private mutating func forecast(_ group: SettledGroup) throws(Problem) -> ImportForecast {
        try library.check()
        var outcomes: [Path: ImportForecast.Outcome] = [:]
        var joins: Asset.ID?
        var new: [SettledFile] = []
        var orphans: [SettledFile] = []
        for file in group.files {
            if let job = try store.job(answeringFor: file, of: group.drop) {
                outcomes[file.path] = .known(job: job.id, state: job.state, asset: job.asset)
                if job.state == .failed, job.problem?.code == .orphan { orphans.append(file) }
            } else {
                new.append(file)
            }
        }
        if !new.isEmpty {
            do throws(ImportEnded) {
                if let verdict = group.verdict { throw ImportEnded(verdict) }
                let shot = try look(at: new, of: group.drop)
                joins = shot.joins
                outcomes.merge(shot.outcomes) { $1 }
                if new.contains(where: { DuplicateStep.shotRoles.contains($0.role) }) {
                    outcomes.merge(try goAlong(orphans, of: group.drop)) { $1 }
                }
            } catch {
                let problem = error.problem(of: new[0].path)
                if problem.code.isOutage { throw problem }
                for file in new { outcomes[file.path] = .refused(problem) }
                if group.verdict == nil {
                    catalog.note(new.map(\.path), of: job(of: new, drop: group.drop), asset: nil)
                }
            }
        }
        return ImportForecast(
            files: group.files.map { file in
                ImportForecast.File(
                    source: file, outcome: outcomes[file.path] ?? .refused(Self.unseen(file)),
                    companionOf: Self.companion(file, in: group))
            }, joins: joins)
    }

    /// Sidecars that ended as orphans are queued again once their shot comes; those that do not find it stay what they are.
    private mutating func goAlong(
        _ orphans: [SettledFile], of drop: String
    ) throws(ImportEnded) -> [Path: ImportForecast.Outcome] {
        var outcomes: [Path: ImportForecast.Outcome] = [:]
        for orphan in orphans {
            do throws(ImportEnded) {
                outcomes.merge(try look(at: [orphan], of: drop).outcomes) { $1 }
            } catch {
                if error.problem(of: orphan.path).code.isOutage { throw error }
            }
        }
        return outcomes
    }

    private static func unseen(_ file: SettledFile) -> Problem {
        Problem(.busy, "\(SafeText.of(file.path)) was not looked at.", todo: "Ask again.")
    }

    private static func companion(_ file: SettledFile, in group: SettledGroup) -> Path? {
        guard !DuplicateStep.shotRoles.contains(file.role) else { return nil }
        let photos = group.files.filter { DuplicateStep.shotRoles.contains($0.role) }
        return Attachment.member(of: file.path.name, among: photos.map(\.path.name)).map { photos[$0].path }
    }

    // MARK: One shot

    private struct Answer {
        var outcomes: [Path: ImportForecast.Outcome] = [:]
        var joins: Asset.ID?
    }

    /// What is known of the files by their bytes.
    private struct Bytes {
        var staged: [StagedResource] = []
        var inspections: [Inspection] = []
        var isHashed: Set<Int> = []

        var broken: [Path: Problem] { InspectStep.broken(staged, inspections) }
    }

    private mutating func look(at files: [SettledFile], of drop: String) throws(ImportEnded) -> Answer {
        let job = job(of: files, drop: drop)
        guard let plan = ImportPlan(job: job, settings: settings) else {
            throw ImportEnded(
                Problem(.forbidden, "\(SafeText.of(files[0].path)) lies in no drop folder and in no import root."))
        }
        let shot = try read(files, plan)
        if let groups = PartingStep(job: job, now: now).groups(shot.staged, shot.inspections, broken: shot.broken) {
            return try look(at: groups, of: drop)
        }
        if !hasShot(job), let groups = try companions(shot, job) { return try look(at: groups, of: drop) }
        var answer = Answer()
        let holder = try knownBytes(shot, job, &answer)
        if let holder { catalog.note(answer.outcomes.keys.map { $0 }, of: job, asset: holder) }
        let fresh = shot.staged.indices.filter { answer.outcomes[shot.staged[$0].source] == nil }
        guard let lead = fresh.first else { return answer }
        let staged = fresh.map { shot.staged[$0] }
        let inspections = fresh.map { shot.inspections[$0] }
        try InspectStep.checkKind(of: shot.staged[lead], shot.inspections[lead])

        let joined = try joined(staged, inspections, job, holder)
        if let joined, !catalog.isNew(joined.id) { answer.joins = joined.id }
        let facts = ShotFacts(files: staged, inspections: inspections, now: now)
        try checkKind(facts, staged, inspections, joined, plan)
        let paths = try place(staged, facts.facts, beside: joined, plan, drop)
        let resources = fresh.indices.map { staged[$0].resource(at: paths[$0], inspections[$0]) }
        let asset = catalog.add(
            joined?.joined(by: resources, facts: facts.facts, holdsVideo: facts.holdsVideo, preview: nil)
                ?? Asset(
                    id: "", kind: facts.kind, collection: "", facts: facts.facts, resources: resources,
                    preview: AssetPreview(state: .none), importedAt: now))
        catalog.note(staged.map(\.source), of: job, asset: asset)
        for (position, index) in fresh.enumerated() {
            let resource = shot.staged[index]
            answer.outcomes[resource.source] = .stored(paths[position])
            if shot.isHashed.contains(index) {
                stored[resource.sha256] = Earlier(source: resource.source, asset: asset)
            }
        }
        return answer
    }

    /// The first free paths, one a file.
    private mutating func place(
        _ staged: [StagedResource], _ facts: Facts, beside joined: Asset?, _ plan: ImportPlan, _ drop: String
    ) throws(ImportEnded) -> [Path] {
        let (library, catalog, batch, id) = (library, catalog, batch, newID())
        return try names.take(
            paths: { (collision, number) throws(Problem) in
                if let joined {
                    return Placement.paths(
                        beside: joined, for: staged.map(\.source.name), collision: collision,
                        rules: library.nameRules)
                }
                var placement = Placement(
                    of: staged, facts: facts, template: plan.template, drop: drop, batch: batch,
                    sequence: plan.template.uses(.seq) ? try number() : 0, id: id)
                placement.rules = library.nameRules
                return placement.paths(collision: collision)
            },
            isFree: { (paths) throws(Problem) in
                guard joined == nil, let path = paths.first else { return true }
                return !StemRule.isOfAnother(facts.date, than: try catalog.assets(ofStemOf: path))
            })
    }

    private func hasShot(_ job: Job) -> Bool { job.files.contains { DuplicateStep.shotRoles.contains($0.role) } }

    /// Companions that came alone, of several shots: each with its own.
    private func companions(_ shot: Bytes, _ job: Job) throws(ImportEnded) -> [SettledGroup]? {
        let late = late(job)
        let groups = try endingImport { () throws(Problem) -> [SettledGroup] in
            if try late.asset(for: shot.staged, shot.inspections) != nil { return [] }
            let homes = try late.homes(of: shot.staged, shot.inspections).map { $0?.id }
            return PartingStep(job: job, now: now).groups(shot.staged, at: homes)
        }
        return groups.count > 1 ? groups : nil
    }

    private func late(_ job: Job) -> LateStep { LateStep(store: store, job: job, now: now, catalog: catalog) }

    /// Files of one name that are several shots, or none: each for itself.
    private mutating func look(at groups: [SettledGroup], of drop: String) throws(ImportEnded) -> Answer {
        var answer = Answer()
        for group in groups {
            if let verdict = group.verdict {
                for file in group.files { answer.outcomes[file.path] = .refused(verdict) }
                catalog.note(group.files.map(\.path), of: job(of: group.files, drop: drop), asset: nil)
                continue
            }
            do throws(ImportEnded) {
                let one = try look(at: group.files, of: drop)
                answer.outcomes.merge(one.outcomes) { $1 }
                answer.joins = answer.joins ?? one.joins
            } catch {
                let problem = error.problem(of: group.files[0].path)
                if problem.code.isOutage { throw error }
                for file in group.files { answer.outcomes[file.path] = .refused(problem) }
                catalog.note(group.files.map(\.path), of: job(of: group.files, drop: drop), asset: nil)
            }
        }
        return answer
    }

    private func job(of files: [SettledFile], drop: String) -> Job {
        Job(
            id: 0, state: .queued, drop: drop, batch: batch, sequence: 1, attempts: 1, crashes: 0, files: files,
            problem: nil, disposition: .keep, dispositionProblem: nil, notBefore: nil, asset: nil, createdAt: now,
            finishedAt: nil, isManual: true)
    }

    private func read(_ files: [SettledFile], _ plan: ImportPlan) throws(ImportEnded) -> Bytes {
        if let limit = plan.maxFileSize, let big = files.first(where: { $0.stamp.size > limit.bytes }) {
            throw ImportEnded(
                Problem(
                    .tooLarge, "\(SafeText.of(big.path)) has \(big.stamp.size) bytes, more than max_file_size allows."))
        }
        var shot = Bytes()
        for (index, file) in files.enumerated() {
            let isNeeded = try endingImport { () throws(Problem) in
                if sizes[file.stamp.size, default: 0] > 1 || plan.template.uses(.sha) && index == 0 { return true }
                return try store.mayHoldBytes(ofSize: file.stamp.size)
            }
            let (resource, inspection) = try reading.read(file, root: plan.root, hashing: isNeeded)
            if isNeeded { shot.isHashed.insert(index) }
            shot.staged.append(resource)
            shot.inspections.append(inspection)
        }
        return shot
    }

    /// Fills in what the library, or this import, has by then, and says which asset the rest is of: the leading file's.
    private func knownBytes(_ shot: Bytes, _ job: Job, _ answer: inout Answer) throws(ImportEnded) -> Asset.ID? {
        // What was not hashed has a size that nothing known has.
        let places = shot.staged.indices.filter { shot.isHashed.contains($0) }
        var step = DuplicateStep(
            library: library, store: store, attempt: 1, isCancelled: isCancelled, log: log)
        if !hasShot(job) {
            let late = late(job)
            step.within = try endingImport { () throws(Problem) in
                if let joined = try late.asset(for: shot.staged, shot.inspections) { return [joined.id] }
                return try late.assetsOfShot()
            }
        }
        let finding = try step.run(places.map { HashedFile(shot.staged[$0]) })
        if let asset = finding.asset {
            for index in finding.known { answer.outcomes[shot.staged[places[index]].source] = .duplicate(of: asset) }
        }
        var own: Set<Asset.ID> = step.within ?? []
        if let asset = finding.asset { own.insert(asset) }
        var holder: (position: Int, asset: Asset.ID)? = finding.asset.map { (places[finding.known.min() ?? 0], $0) }
        // As in the library, a sidecar is known only together with its shot.
        let inOrder =
            places.filter { DuplicateStep.shotRoles.contains(shot.staged[$0].role) }
            + places.filter { !DuplicateStep.shotRoles.contains(shot.staged[$0].role) }
        for index in inOrder where answer.outcomes[shot.staged[index].source] == nil {
            let file = shot.staged[index]
            guard let same = stored[file.sha256] else { continue }
            guard DuplicateStep.shotRoles.contains(file.role) || own.contains(same.asset) else { continue }
            own.insert(same.asset)
            if index < holder?.position ?? .max { holder = (index, same.asset) }
            answer.outcomes[file.source] = .repeated(same.source)
        }
        return holder?.asset
    }

    private func joined(
        _ staged: [StagedResource], _ inspections: [Inspection], _ job: Job, _ known: Asset.ID?
    ) throws(ImportEnded) -> Asset? {
        let late = late(job)
        let asset = try endingImport { () throws(Problem) in
            if let known { return try catalog.asset(known) }
            return try late.asset(for: staged, inspections)
        }
        if asset == nil, !hasShot(job) { throw ImportEnded(late.orphan()) }
        return asset
    }

    private func checkKind(
        _ facts: ShotFacts, _ staged: [StagedResource], _ inspections: [Inspection], _ joined: Asset?,
        _ plan: ImportPlan
    ) throws(ImportEnded) {
        guard !plan.kinds.isEmpty else { return }
        let kind = facts.kind(joining: joined, staged, inspections)
        guard !plan.kinds.contains(kind) else { return }
        throw ImportEnded(
            Problem(
                .filtered, "\(SafeText.of(staged[0].source)) is a \(kind.rawValue), which this drop leaves alone."))
    }
}
