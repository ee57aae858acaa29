import Files
package import PhotoModel
package import Store

/// Settles what imports left behind when the process died: rolls forward where every file of an intent is there, back
/// where not. Runs before anything new is claimed, and can itself die anywhere and run again.
package struct Recovery {
    let library: Library
    let store: Store
    let log: Log
    let now: @Sendable () -> Timestamp
    let dispositionOf: @Sendable (Job) -> DispositionState

    package init(
        library: Library, store: Store, log: @escaping Log, now: @escaping @Sendable () -> Timestamp,
        dispositionOf: @escaping @Sendable (Job) -> DispositionState
    ) {
        self.library = library
        self.store = store
        self.log = log
        self.now = now
        self.dispositionOf = dispositionOf
    }

    package struct Report: Sendable, Equatable {
        package var rolledForward = 0
        package var rolledBack = 0
        package var swept = 0
    }

    /// - Parameters:
    ///   - crashed: whether the daemon died of its own signal, so that the jobs in flight are suspects.
    ///   - progress: called before each job and with every piece that is read, for the service manager's patience.
    /// - Throws: what keeps every job from being settled: the library or the state is away. The trouble of one job is
    ///   that job's: it is rolled back, or failed when nobody can know what it had done.
    package func run(crashed: Bool, progress: () -> Void) throws(Problem) -> Report {
        var report = Report()
        for left in try store.interrupted() {
            progress()
            if try resolve(left, crashed: crashed, progress: progress) {
                report.rolledForward += 1
            } else {
                report.rolledBack += 1
            }
        }
        return report
    }

    /// - Returns: whether the import was finished rather than undone.
    func resolve(_ left: Store.Interrupted, crashed: Bool, progress: () -> Void) throws(Problem) -> Bool {
        if let fault = left.fault {
            try store.finish(
                Store.Claim(job: left.job, importID: left.importID), as: .failed, problem: fault, asset: nil,
                disposition: .keep, at: now())
            log(LogLine(.error, fault, [("JOB_ID", String(left.job.id))]))
            return false
        }
        if let intent = left.intent, let journal = left.journal {
            try library.check()
            var plan = Plan(intent: intent, journal: journal)
            if try !isKnown(intent), try isWhole(intent, progress: progress), try name(&plan, of: left),
                try record(plan, of: left)
            {
                try removeStaging(of: left.importID)
                log(
                    LogLine(
                        .info, "An import that was interrupted while committing was finished.",
                        [("JOB_ID", String(left.job.id)), ("ASSET_ID", intent.asset.id)]))
                return true
            }
            try moves.undo(try unlisted(plan.intent))
        }
        try removeStaging(of: left.importID)
        if try store.giveBack(interrupted: left.job.id, crashed: crashed, at: now()) == .failed {
            try sayPoison(left.job)
        }
        return false
    }

    /// Of a file that ended the service once too often: nobody else says so, for its import has long been dead.
    private func sayPoison(_ job: Job) throws(Problem) {
        guard let problem = try store.job(job.id)?.problem, let file = job.files.first else { return }
        log(LogLine(.error, problem, [("JOB_ID", String(job.id)), ("PATH", SafeText.of(file.path))]))
    }

    /// The intent in force, and its line in the journals.
    private struct Plan {
        var intent: CommitIntent
        var journal: Int64
    }

    /// Whether the catalog has originals of it under these names: a state that was put back from a backup, and has learnt of
    /// them by a rebuild. Then its job begins anew, and finds that its photo is known.
    private func isKnown(_ intent: CommitIntent) throws(Problem) -> Bool {
        for resource in intent.newResources where try store.lists(resource.sha256, at: resource.path) { return true }
        return false
    }

    /// The moves that may be taken back. What the catalog lists with these bytes is an original, whatever import put it
    /// there: inode numbers are given out again, and an old intent can seem to speak of a file that is not its own.
    private func unlisted(_ intent: CommitIntent) throws(Problem) -> [CommitIntent.Move] {
        var found: [CommitIntent.Move] = []
        for move in intent.moves where try !store.lists(move.sha256, at: move.final) { found.append(move) }
        guard !intent.joinsExisting, try store.asset(intent.asset.id) != nil else { return found }
        return found.filter { LibraryLayout.assetOfPreview(at: $0.final) != intent.asset.id }
    }

    private var moves: FinalMoves { FinalMoves(library: library, calls: .live) }

    /// Whether every file of the intent is there, staged or under its final name.
    private func isWhole(_ intent: CommitIntent, progress: () -> Void) throws(Problem) -> Bool {
        for move in intent.moves {
            if try holds(move, at: move.final, progress: progress) { continue }
            guard try holds(move, at: move.staged, progress: progress) else { return false }
        }
        return true
    }

    /// Same inode, size and bytes as the intent says. What cannot be read is not held: the source still has it.
    private func holds(_ move: CommitIntent.Move, at path: Path, progress: () -> Void) throws(Problem) -> Bool {
        guard try moves.isOurs(move, at: path) else { return false }
        let failure: Errno
        do throws(Errno) {
            let descriptor = try library.root.openForReading(path)
            do throws(CopyFailure) {
                return try readBack(descriptor, progress: { _ in progress() }).sha256 == move.sha256
            } catch {
                switch error {
                case .source(let errno), .destination(let errno): failure = errno
                case .cancelled: return false  // never: nobody cancels recovery
                }
            }
        } catch {
            failure = error
        }
        // Not the file's fault but ours, and soon over.
        let problem = Problem.library(path, failure, doing: "read back")
        if problem.code == .memory { throw problem }
        return false
    }

    /// Gives every file its final name, or the whole shot another one when somebody took it in between.
    ///
    /// - Returns: false when there is none to give; some files may then have theirs.
    private func name(_ plan: inout Plan, of left: Store.Interrupted) throws(Problem) -> Bool {
        var number = 2
        while true {
            if try !moves.areListed(plan.intent.moves, in: store) {
                do throws(MoveFailure) {
                    try moves.perform(plan.intent.moves)
                    return true
                } catch {
                    switch error {
                    case .problem(let problem):
                        // Where previews lie may be another disk, or have a quota of its own: begun anew, it is imported
                        // without one.
                        if problem.isOfOneDisk, try isWithoutPreview(plan.intent) { return false }
                        throw problem
                    case .nameTaken(let path):
                        // A preview is called after its asset and has no other name.
                        guard plan.intent.asset.resources.contains(where: { $0.path == path }) else { return false }
                    }
                }
            }
            // Back to staging under the old intent, then a new one first: no rename without its intent.
            try moves.undo(try unlisted(plan.intent))
            guard let next = try renumbered(plan.intent, from: &number) else { return false }
            plan = try announce(next, of: left)
        }
    }

    /// Whether the preview, which is named first, has not got its name.
    private func isWithoutPreview(_ intent: CommitIntent) throws(Problem) -> Bool {
        let final = LibraryLayout.preview(of: intent.asset.id)
        guard let move = intent.moves.first(where: { $0.final == final }) else { return false }
        do throws(Problem) { return try !moves.isOurs(move, at: final) } catch {
            return true  // its folder cannot even be looked into
        }
    }

    /// The same intent under the next free name.
    ///
    /// - Parameter number: the first to try; afterwards the one to go on with.
    /// - Returns: nil when none is free.
    private func renumbered(_ intent: CommitIntent, from number: inout Int) throws(Problem) -> CommitIntent? {
        let originals = intent.moves.indices.filter { index in
            intent.asset.resources.contains { $0.path == intent.moves[index].final }
        }
        let old = originals.map { intent.moves[$0].final }
        while number < CommitStep.mostTries {
            var intent = intent
            let new = Placement.renumbered(old, try: number, longestName: library.root.longestName)
            number += 1
            for (index, path) in zip(originals, new) { intent.moves[index].final = path }
            for index in intent.asset.resources.indices {
                guard let position = old.firstIndex(of: intent.asset.resources[index].path) else { continue }
                intent.asset.resources[index].path = new[position]
            }
            if try moves.areFree(originals.map { intent.moves[$0] }, in: store) { return intent }
        }
        return nil
    }

    private func announce(_ intent: CommitIntent, of left: Store.Interrupted) throws(Problem) -> Plan {
        let time = now()
        let journal = try store.recordIntent(
            intent, for: Store.Claim(job: left.job, importID: left.importID), at: time)
        try library.journal.append(.commit(intent, of: left.job, id: journal, at: time), at: time)
        return Plan(intent: intent, journal: journal)
    }

    /// - Returns: false when the catalog refuses it: the asset that the files were to join was deleted meanwhile, say.
    private func record(_ plan: Plan, of left: Store.Interrupted) throws(Problem) -> Bool {
        do throws(Problem) {
            try store.commit(
                plan.intent, job: left.job.id, importID: left.importID, journal: plan.journal,
                disposition: dispositionOf(left.job), at: now())
            return true
        } catch {
            guard error.code == .conflict else { throw error }
            log(LogLine(.warning, error, [("JOB_ID", String(left.job.id))]))
            return false
        }
    }

    package func removeStaging(of importID: String) throws(Problem) {
        try onLibrary(LibraryLayout.staging(of: importID), doing: "remove") { () throws(Errno) in
            try library.removeStaging(of: importID)
        }
    }
}
