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
            if try rollForward(intent, left: left, journal: journal, progress: progress) { return true }
            try FinalMoves(library: library, calls: .live).undo(intent.moves)
        }
        try removeStaging(of: left.importID)
        _ = try store.giveBack(interrupted: left.job.id, crashed: crashed, at: now())
        return false
    }

    private func rollForward(
        _ intent: CommitIntent, left: Store.Interrupted, journal: Int64, progress: () -> Void
    ) throws(Problem) -> Bool {
        let moves = FinalMoves(library: library, calls: .live)
        for move in intent.moves {
            if holds(move, at: move.final, progress: progress) { continue }
            guard holds(move, at: move.staged, progress: progress) else { return false }
        }
        var intent = intent
        var journal = journal
        var number = 2
        while true {
            do throws(MoveFailure) {
                try moves.perform(intent.moves)
                break
            } catch {
                switch error {
                case .problem(let problem): throw problem
                case .nameTaken:
                    // Back to staging under the old intent, then a new one first: no rename without its intent.
                    try moves.undo(intent.moves)
                    intent = renumbered(intent, number: number)
                    number += 1
                    journal = try store.recordIntent(
                        intent, for: Store.Claim(job: left.job, importID: left.importID), at: now())
                    try library.journal.append(
                        .init(
                            id: journal, time: now().rfc3339, what: "commit", job: left.job.id,
                            sha256: intent.moves.last?.sha256, intent: intent), at: now())
                }
            }
        }
        do throws(Problem) {
            try store.commit(
                intent, job: left.job.id, importID: left.importID, journal: journal,
                disposition: dispositionOf(left.job), at: now())
        } catch {
            guard error.code == .conflict else { throw error }
            // The catalog will never take it as it is: back to the queue with it.
            log(LogLine(.warning, error, [("JOB_ID", String(left.job.id))]))
            try moves.undo(intent.moves)
            return false
        }
        try removeStaging(of: left.importID)
        log(
            LogLine(
                .info, "An import that was interrupted while committing was finished.",
                [("JOB_ID", String(left.job.id)), ("ASSET_ID", intent.asset.id)]))
        return true
    }

    /// Same inode, size and bytes as the intent says. What cannot be read is not held: the source still has it.
    private func holds(_ move: CommitIntent.Move, at path: Path, progress: () -> Void) -> Bool {
        guard FinalMoves(library: library, calls: .live).isOurs(move, at: path) else { return false }
        do throws(Errno) {
            let descriptor = try library.root.openForReading(path)
            do throws(CopyFailure) {
                return try readBack(descriptor, progress: { _ in progress() }).sha256 == move.sha256
            } catch {
                return false  // as above
            }
        } catch {
            return false  // as above
        }
    }

    private func renumbered(_ intent: CommitIntent, number: Int) -> CommitIntent {
        var intent = intent
        let originals = intent.moves.indices.filter { index in
            intent.asset.resources.contains { $0.path == intent.moves[index].final }
        }
        let old = originals.map { intent.moves[$0].final }
        let new = Placement.renumbered(old, try: number)
        for (index, path) in zip(originals, new) { intent.moves[index].final = path }
        for index in intent.asset.resources.indices {
            guard let position = old.firstIndex(of: intent.asset.resources[index].path) else { continue }
            intent.asset.resources[index].path = new[position]
        }
        return intent
    }

    package func removeStaging(of importID: String) throws(Problem) {
        let staging = LibraryLayout.staging(of: importID)
        do throws(Errno) {
            try library.root.removeTree(staging)
        } catch {
            guard error == .noEntry else { throw .library(staging, error, doing: "remove") }
        }
    }
}
