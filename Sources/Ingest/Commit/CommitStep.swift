import Files
import PhotoModel
import Store

/// From staging to seen: durable intent, journal line, folders, no-replace renames, directory syncs, and one
/// transaction. Whoever dies in between leaves an intent that ``Recovery`` finishes or undoes.
struct CommitStep {
    let library: Library
    let store: Store
    let now: @Sendable () -> Timestamp
    var calls = MoveCalls.live
    /// Called with the jobs of sidecars that go along now that their shot is there.
    var queuedOrphans: ([Job.ID]) -> Void = { _ in }

    private var moves: FinalMoves { FinalMoves(library: library, calls: calls) }

    /// How a commit can end besides well.
    enum Failure: Error {
        /// Everything of it was taken back; the staged files are where they were or gone.
        case rolledBack(Problem)
        /// Files may stand under their final names, and either the state cannot say so or the library does not let us
        /// take them back: recovery decides once both answer again.
        case unresolved(Problem)
    }

    /// A name that looked free may be taken by the time of the rename; so often is enough, however many there are.
    static let mostTries = 10_000

    /// - Parameters:
    ///   - intent: with the first choice of final paths.
    ///   - alternative: the intent with the paths of try `n`, 1 and up.
    func run(
        _ first: CommitIntent, claim: Store.Claim, disposition: DispositionState,
        alternative: (_ number: Int) -> CommitIntent
    ) throws(Failure) -> CommitIntent {
        var next = 0
        var wasCalledOtherwise = false
        for _ in 0..<Self.mostTries {
            // A look first, to spare intents that would have to be replaced.
            let found = try rollingBack { () throws(Problem) -> (number: Int, intent: CommitIntent)? in
                func intent(_ number: Int) throws(Problem) -> CommitIntent {
                    try asListed(number == 0 ? first : alternative(number))
                }
                let number = try FreeNumber.first(from: next) { (number) throws(Problem) in
                    let intent = try intent(number)
                    guard try moves.areFree(intent.moves, in: store) else { return false }
                    return try !sharesStem(intent)
                }
                guard let number else { return nil }
                return (number, try intent(number))
            }
            guard let (number, intent) = found else { break }
            next = number + 1
            let journal = try rollingBack { () throws(Problem) in try announce(intent, claim: claim) }
            guard try move(intent) else { continue }  // a name was taken in between: a new intent first
            if !wasCalledOtherwise, try isCalledOtherwise(intent) {
                // Its folder was made in between, for another shot, under a name that the disk takes for the same.
                wasCalledOtherwise = true
                try takeBack(intent)
                next = number
                continue
            }
            let orphans: [Job.ID]
            do throws(Problem) {
                orphans = try store.commit(
                    intent, job: intent.job, importID: intent.importID, journal: journal, disposition: disposition,
                    at: now())
            } catch {
                guard error.code == .conflict else { throw .unresolved(error) }
                // The catalog refused it and holds nothing of it. A path that was listed meanwhile has others beside
                // it; no other name helps where the job is no longer this import's, or the asset to be joined is gone.
                try takeBack(intent)
                if try rollingBack({ () throws(Problem) in try moves.areListed(intent.moves, in: store) }) { continue }
                throw .rolledBack(error)
            }
            queuedOrphans(orphans)
            return intent
        }
        throw .rolledBack(
            Problem(
                .libraryIO, "No free name was found for \(SafeText.of(first.moves.last?.final ?? Path(bytes: [])))."))
    }

    /// With the folder as it is called on the disk: where that takes several names for one, the catalog has the one that
    /// whoever lists the library finds.
    private func asListed(_ intent: CommitIntent) throws(Problem) -> CommitIntent {
        guard let folder = intent.moves.last?.final.parent, !folder.isEmpty else { return intent }
        let listed = try onLibrary(folder, doing: "look at") { () throws(Errno) in try library.root.spelled(folder) }
        return listed == folder ? intent : intent.moved(from: folder, to: listed)
    }

    private func isCalledOtherwise(_ intent: CommitIntent) throws(Failure) -> Bool {
        do throws(Problem) {
            return try asListed(intent).moves != intent.moves
        } catch {
            try takeBack(intent)
            throw .rolledBack(error)
        }
    }

    private func sharesStem(_ intent: CommitIntent) throws(Problem) -> Bool {
        guard !intent.joinsExisting, let path = intent.asset.resources.first?.path else { return false }
        return StemRule.isOfAnother(intent.asset.facts.date, than: try store.assets(ofStemOf: path))
    }

    private func rollingBack<Result>(_ body: () throws(Problem) -> Result) throws(Failure) -> Result {
        do throws(Problem) { return try body() } catch { throw .rolledBack(error) }
    }

    private func announce(_ intent: CommitIntent, claim: Store.Claim) throws(Problem) -> Int64 {
        let time = now()
        let journal = try store.recordIntent(intent, for: claim, at: time)
        try library.journal.append(.commit(intent, of: claim.job, id: journal, at: time), at: time)
        return journal
    }

    /// - Returns: false when a name was taken meanwhile and everything was moved back.
    private func move(_ intent: CommitIntent) throws(Failure) -> Bool {
        do throws(MoveFailure) {
            try moves.perform(intent.moves)
            return true
        } catch {
            try takeBack(intent)
            switch error {
            case .nameTaken: return false
            case .problem(let problem): throw .rolledBack(problem)
            }
        }
    }

    /// What cannot be taken back (the disk went read-only, say) stays as it is, and so does its intent: recovery is the
    /// one to decide then, never a second import.
    private func takeBack(_ intent: CommitIntent) throws(Failure) {
        do throws(Problem) {
            try moves.undo(intent.moves)
        } catch {
            throw .unresolved(error)
        }
    }
}
