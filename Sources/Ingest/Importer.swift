import Files
import Glibc
import PhotoModel
import Preview
import Store
import Workers

/// One import, from a claimed job to committed or rolled back. The three steps each run on the blocking pool;
/// cancellation is looked at between them and inside the long ones, never inside a commit or a rollback.
struct Importer: Sendable {
    let rooms: ImportRooms
    let library: Library
    let claim: Store.Claim
    let plan: ImportPlan
    let cancellation: Cancellation
    /// How long a file that ends early may be arriving; nil where nobody waits for it.
    let patience: Duration?

    var job: Job { claim.job }
    var staging: Path { LibraryLayout.staging(of: claim.importID) }

    /// Runs the import to its end. Whatever the outcome but ``ImportOutcome/imported(_:)`` and
    /// ``ImportOutcome/unresolved(_:)``, nothing of it is left in the library.
    func run() async -> ImportOutcome {
        var outcome: ImportOutcome
        do throws(ImportEnded) {
            outcome = try await steps()
        } catch {
            outcome = partsWithoutSource(error).map(ImportOutcome.parted) ?? error.outcome
        }
        outcome = outcome.given(up: cancellation.reason)
        if case .unresolved = outcome { return outcome }
        if let failure = await rooms.pool.run({ removeStaging() }) {
            // What became of the import stands; the leftovers are tried again until they are gone.
            rooms.log(LogLine(.warning, failure, [("JOB_ID", String(job.id))]))
            rooms.leftovers.add(claim.importID)
        }
        return outcome
    }

    private func steps() async throws(ImportEnded) -> ImportOutcome {
        try await rooms.pool.run { () throws(ImportEnded) in try waitForShot() }
        if let asset = try await holderOfSource() { return .duplicate(of: asset) }
        let staged = try await rooms.pool.run { () throws(ImportEnded) in try copy() }
        // Two imports of the same bytes at once would both find them new; so would two halves of one Live Photo find no
        // asset to join.
        return try await holding(rooms.gate, Set(staged.map(\.sha256))) { () throws(ImportEnded) in
            switch try await rooms.pool.run({ () throws(ImportEnded) in try lookIntoLibrary(staged) }) {
            case .duplicate(let asset): return .duplicate(of: asset)
            case .fresh(let fresh):
                return try await holding(rooms.identities, fresh.identifiers) { () throws(ImportEnded) in
                    switch try await rooms.pool.run({ () throws(ImportEnded) in try prepare(fresh) }) {
                    case .duplicate(let asset): .duplicate(of: asset)
                    case .shot(let shot):
                        try await holding(rooms.joins, Set([shot.joins?.id].compactMap { $0 })) {
                            () throws(ImportEnded) in
                            try await rooms.pool.run { () throws(ImportEnded) in try commit(shot) }
                        }
                    }
                }
            }
        }
    }

    /// The asset that holds the whole group already, found without writing anything.
    private func holderOfSource() async throws(ImportEnded) -> Asset.ID? {
        let hashed = try await rooms.pool.run { () throws(ImportEnded) in try readWhatMayBeKnown() }
        guard let hashed else { return nil }
        return try await holding(rooms.gate, Set(hashed.map(\.sha256))) { () throws(ImportEnded) in
            try await rooms.pool.run { () throws(ImportEnded) in try holder(of: hashed) }
        }
    }

    /// Passes a gate, and does not seem to stand still while others hold it.
    func holding<Key: Sendable, Result: Sendable>(
        _ gate: Gate<Key>, _ keys: Set<Key>, _ body: () async throws(ImportEnded) -> Result
    ) async throws(ImportEnded) -> Result {
        rooms.inFlight.setWaiting(true, job.id)
        return try await gate.holding(keys) { () throws(ImportEnded) in
            rooms.inFlight.setWaiting(false, job.id)
            return try await body()
        }
    }

    func checkCancelled() throws(ImportEnded) {
        if cancellation.isCancelled { throw ImportEnded(.cancelled) }
    }

    var late: LateStep { LateStep(store: rooms.store, job: job, now: rooms.now()) }

    var arrival: Arrival { Arrival(patience: patience, now: rooms.now(), handedOver: job.createdAt) }

    private func waitForShot() throws(ImportEnded) {
        let shot = try endingImport { () throws(Problem) in try late.shotToWaitFor(rooms.turns) }
        if let shot { throw ImportEnded(.waitsForShot(shot)) }
    }

    // MARK: Copying

    private func readWhatMayBeKnown() throws(ImportEnded) -> [HashedFile]? {
        try checkCancelled()
        try endingImport { () throws(Problem) in try library.check() }
        if let limit = plan.maxFileSize, let big = job.files.first(where: { $0.stamp.size > limit.bytes }) {
            throw ImportEnded(
                Problem(
                    .tooLarge, "\(SafeText.of(big.path)) has \(big.stamp.size) bytes, more than max_file_size allows."))
        }
        return try KnownFirstStep(
            store: rooms.store, job: job, progress: { path, bytes in show(path, bytes) },
            isCancelled: { cancellation.isCancelled }
        ).run(root: plan.root)
    }

    private func copy() throws(ImportEnded) -> [StagedResource] {
        try checkCancelled()
        try endingImport { () throws(Problem) in try library.check() }
        let share = try shareOfSpace()
        try endingImport { () throws(Problem) in
            try onLibrary(staging, doing: "make") { () throws(Errno) in
                try library.root.makeFolders(at: staging, mode: 0o700, gid: nil)
            }
        }
        var done: Int64 = 0
        var written: Int64 = 0
        var staged: [StagedResource] = []
        for (number, file) in job.files.enumerated() {
            let before = done
            let step = CopyStep(
                library: library, staging: staging, verify: plan.verify, now: rooms.now(),
                progress: { path, bytes in
                    share.wrote(before + bytes - written)
                    written = before + bytes
                    show(path, written)
                },
                isCancelled: { cancellation.isCancelled })
            do throws(ImportEnded) {
                staged.append(try step.run(file, number: number, root: plan.root))
            } catch {
                throw error.about(file.path)
            }
            done += file.stamp.size
        }
        return staged
    }

    private func show(_ path: Path, _ bytes: Int64) {
        rooms.inFlight.update(job.id) {
            $0.path = path
            $0.bytesDone = bytes
        }
    }

    /// What the job may write at most: its files, and their pictures.
    static func room(for job: Job, _ plan: ImportPlan) -> Int64 {
        job.files.reduce(max(4 << 20, plan.spec.mostBytes)) { $0 + $1.stamp.size }
    }

    /// Waits while only what others are still writing is in the way: each import has a thread of the pool to itself, so
    /// those come to their end meanwhile.
    ///
    /// - Throws: an outage when not even a small photo fits, else only this one's wait.
    private func shareOfSpace() throws(ImportEnded) -> SpaceLedger.Share {
        let bytes = Self.room(for: job, plan)
        while true {
            try checkCancelled()
            let free = try endingImport { () throws(Problem) in try library.freeBytes() }
            let reserve = library.settings.reserveFree
            if let share = rooms.space.share(bytes, free: free, reserve: reserve) { return share }
            if bytes <= free.bytes - reserve.bytes {
                usleep(50_000)  // for two things at once, room and a cancellation
                continue
            }
            let problem = Problem(
                .libraryFull,
                "The library has \(free.bytes) bytes free; \(SafeText.of(job.files[0].path.name)) needs "
                    + "\(bytes) beside the reserve of \(reserve.bytes).")
            let isFull = try endingImport { () throws(Problem) in try library.isFull() }
            throw ImportEnded(isFull ? .outage(problem) : .doesNotFit(problem))
        }
    }

    // MARK: Committing

    private func commit(_ shot: Shot) throws(ImportEnded) -> ImportOutcome {
        try checkCancelled()
        try endingImport { () throws(Problem) in try library.check() }
        enter(.committing)
        let facts = ShotFacts(job: job, staged: shot.staged, inspections: shot.inspections, now: rooms.now())
        // As it is now that nobody else can join it: what is announced is then what the catalog will hold. Its preview,
        // which may have come meanwhile, stays.
        let joined = try endingImport { () throws(Problem) -> Asset? in
            guard let id = shot.joins?.id else { return nil }
            return try existing(id)
        }
        let preview = joined?.preview.path == nil ? shot.preview : .none
        // Counted over all batches, and only where it shows: so it has gaps, and no number comes twice.
        let sequence = try endingImport { () throws(Problem) in
            joined == nil && plan.template.uses(.seq) ? try rooms.store.takeNumber(of: "seq") : job.sequence
        }
        var builder = IntentBuilder(
            claim: claim, plan: plan, facts: facts, staged: shot.staged, inspections: shot.inspections,
            preview: preview, assetID: joined?.id ?? rooms.newID(), joined: joined,
            sequence: sequence, now: rooms.now())
        builder.rules = library.nameRules
        var step = CommitStep(library: library, store: rooms.store, now: rooms.now)
        step.queuedOrphans = { orphans in tell(orphans) }
        do throws(CommitStep.Failure) {
            do throws(CommitStep.Failure) { return try commit(builder, by: step) } catch {
                guard case .rolledBack(let problem) = error,
                    problem.isOfOnePlace || library.hasPreviewsElsewhere && problem.isOfOneDisk,
                    case .made(let made) = builder.preview, plan.onPreviewFailure != .strict
                else { throw error }
                // Where the preview was to stand may be another disk, or have a quota of its own. If the originals can be
                // named without it, that was it; if not, it is the library's trouble.
                for staged in made.staged { discard(staged) }
                builder.preview = .failed(problem.ofPreview)
                return try commit(builder, by: step)
            }
        } catch {
            switch error {
            case .rolledBack(let problem): throw ImportEnded(problem)
            case .unresolved(let problem):
                // While the gate is still held: whoever waits behind it with the same bytes must see it.
                rooms.undecided.add(shot.staged.map(\.sha256), problem)
                return .unresolved(problem)
            }
        }
    }

    private func commit(
        _ builder: IntentBuilder, by step: CommitStep
    ) throws(CommitStep.Failure) -> ImportOutcome {
        let intent = try step.run(
            builder.intent(collision: 0), claim: claim, disposition: plan.dispositionAfterImport,
            alternative: builder.intent(collision:))
        if case .failed(let problem) = builder.preview, problem.isOfOnePlace {
            rooms.previewsOwed.note(problem)
            rooms.log(LogLine(.warning, problem, [("JOB_ID", String(job.id)), ("ASSET_ID", intent.asset.id)]))
        }
        for line in Remarks.lines(builder.staged, builder.inspections, builder.preview) {
            let fields = [("JOB_ID", String(job.id)), ("ASSET_ID", intent.asset.id)]
            rooms.log(LogLine(line.level, line.sentence, line.fields + fields))
        }
        return .imported(intent.asset.id)
    }

    /// Says of sidecars that they are queued again.
    private func tell(_ orphans: [Job.ID]) {
        for id in orphans {
            do throws(Problem) {
                guard let job = try rooms.store.job(id) else { continue }
                rooms.event(
                    .job(id: id, batch: job.batch, drop: job.drop, state: .queued, problem: nil, asset: nil))
            } catch _ {}  // only not said: they are queued
        }
    }

    func enter(_ phase: JobState) {
        rooms.inFlight.update(job.id) { $0.phase = phase }
        rooms.event(.job(id: job.id, batch: job.batch, drop: job.drop, state: phase, problem: nil, asset: nil))
    }

    private func removeStaging() -> Problem? {
        do throws(Errno) {
            try library.removeStaging(of: claim.importID)
            return nil
        } catch {
            return .library(staging, error, doing: "remove")
        }
    }
}
