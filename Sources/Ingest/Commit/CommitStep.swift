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

    /// How a commit can end besides well.
    enum Failure: Error {
        /// Everything of it was taken back; the staged files are where they were or gone.
        case rolledBack(Problem)
        /// The files may be in place, but the state cannot say so: recovery decides once it answers again.
        case unresolved(Problem)
    }

    /// Names are tried until one is free; then this many tries are enough for a library of any size in one folder.
    static let mostTries = 10_000

    /// - Parameters:
    ///   - intent: with the first choice of final paths.
    ///   - alternative: the intent with the paths of try `n`, 1 and up.
    func run(
        _ first: CommitIntent, claim: Store.Claim, disposition: DispositionState,
        alternative: (_ number: Int) -> CommitIntent
    ) throws(Failure) -> CommitIntent {
        var number = 0
        while number < Self.mostTries {
            let intent = number == 0 ? first : alternative(number)
            number += 1
            guard try rollingBack({ () throws(Problem) in try isFree(intent) }) else { continue }
            let journal = try rollingBack { () throws(Problem) in try announce(intent, claim: claim) }
            guard try move(intent) else { continue }  // a name was taken in between: a new intent first
            do throws(Problem) {
                try store.commit(
                    intent, job: intent.job, importID: intent.importID, journal: journal, disposition: disposition,
                    at: now())
            } catch {
                guard error.code == .conflict else { throw .unresolved(error) }
                // The catalog refused it and holds nothing of it: the path was listed meanwhile, or the job is no
                // longer this import's, which the next intent will find out.
                try takeBack(intent)
                continue
            }
            return intent
        }
        throw .rolledBack(
            Problem(
                .libraryIO, "No free name was found for \(SafeText.of(first.moves.last?.final ?? Path(bytes: [])))."))
    }

    private func rollingBack<Result>(_ body: () throws(Problem) -> Result) throws(Failure) -> Result {
        do throws(Problem) { return try body() } catch { throw .rolledBack(error) }
    }

    /// A first look, to spare an intent that would have to be replaced; the rename alone decides.
    private func isFree(_ intent: CommitIntent) throws(Problem) -> Bool {
        for move in intent.moves {
            let exists = try onLibrary(move.final, doing: "look at") { () throws(Errno) in
                try library.root.contains(move.final)
            }
            // A name the catalog lists stays that asset's, also while its file is missing.
            if exists { return false }
            if try store.isListed(move.final) { return false }
        }
        return true
    }

    private func announce(_ intent: CommitIntent, claim: Store.Claim) throws(Problem) -> Int64 {
        let time = now()
        let journal = try store.recordIntent(intent, for: claim, at: time)
        try library.journal.append(
            .init(
                id: journal, time: time.rfc3339, what: "commit", job: intent.job, sha256: intent.moves.last?.sha256,
                intent: intent), at: time)
        return journal
    }

    /// - Returns: false when a name was taken meanwhile and everything was moved back.
    private func move(_ intent: CommitIntent) throws(Failure) -> Bool {
        do throws(MoveFailure) {
            try FinalMoves(library: library, calls: calls).perform(intent.moves)
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
            try FinalMoves(library: library, calls: calls).undo(intent.moves)
        } catch {
            throw .unresolved(error)
        }
    }
}
