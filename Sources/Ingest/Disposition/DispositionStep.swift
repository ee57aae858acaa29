import Files
package import PhotoModel
package import Store

/// What happens to a source after its import stands: it is moved or deleted, never by name after a look, but claimed
/// first. Every act has a journal line on the medium before it. A failure is reported apart and undoes nothing.
package struct DispositionStep: Sendable {
    let library: Library
    let store: Store
    let now: @Sendable () -> Timestamp
    let log: Log
    /// Whether a source goes only when its originals are on the mirror, too.
    let needsMirror: @Sendable () -> Bool
    let isStopping: @Sendable () -> Bool

    package init(
        library: Library, store: Store, now: @escaping @Sendable () -> Timestamp, log: @escaping Log,
        needsMirror: @escaping @Sendable () -> Bool = { false },
        isStopping: @escaping @Sendable () -> Bool = { false }
    ) {
        self.library = library
        self.store = store
        self.now = now
        self.log = log
        self.needsMirror = needsMirror
        self.isStopping = isStopping
    }

    /// What is done to a source.
    enum Act: String {
        case move, delete

        var done: DispositionState { self == .move ? .moved : .deleted }
    }

    /// Disposes of every source of an imported (or duplicate) job by the rules in force now, and records how that went.
    /// Whoever chose to keep sources in the meantime keeps this one too. Sources that are away with their filesystem
    /// stay pending.
    ///
    /// - Throws: when nothing could be done because a journal could not be written; it stays pending then, too.
    package func run(_ job: Job, drop: DropFolder) throws(Problem) {
        guard let act = drop.act else {
            return try store.recordDisposition(job: job.id, state: .keep, problem: nil, at: now())
        }
        // Undone or deleted since it was put on the list: nothing is owed to its source any more.
        guard try store.job(job.id)?.disposition == .pending else { return }
        guard try isMirrored(job) else { return }
        // An absent drop (a card that was pulled) is no answer: the source waits, and so does what is owed to it.
        guard let isOpen = isOpenToAll(drop) else { return }
        var problem: Problem?
        if isOpen {
            problem = Problem(
                .dropOpen,
                "The drop folder \(SafeText.of(drop.path)) can be written by everybody; sources there are "
                    + "neither moved nor deleted.")
        } else {
            for file in job.files {
                do throws(Problem) {
                    guard try dispose(of: file, job: job, drop: drop, act) else { return }
                } catch {
                    guard error.code == .disposition else { throw error }
                    problem = problem ?? error
                }
            }
        }
        try record(job, problem == nil ? act.done : .kept, problem)
    }

    /// Whether the mirror, where there is one, holds the whole shot that came of this job. An asset that is gone is another
    /// question.
    private func isMirrored(_ job: Job) throws(Problem) -> Bool {
        guard needsMirror(), let asset = job.asset else { return true }
        return try store.isMirrored(asset)
    }

    /// For a job whose drop folder is no longer configured: nobody says any more what is to become of its source.
    package func giveUp(_ job: Job) throws(Problem) {
        try record(
            job, .kept,
            Problem(
                .disposition,
                "The drop folder \(SafeText.of(job.drop)) is no longer configured; its source was left alone."))
    }

    private func record(_ job: Job, _ state: DispositionState, _ problem: Problem?) throws(Problem) {
        try store.recordDisposition(job: job.id, state: state, problem: problem, at: now())
        if let problem { log(LogLine(.warning, problem, [("JOB_ID", String(job.id)), ("DROP", job.drop)])) }
    }

    /// nil when the drop folder cannot be opened.
    private func isOpenToAll(_ drop: DropFolder) -> Bool? {
        do throws(Errno) {
            return try Folder(opening: drop.path).status().isWorldWritable
        } catch {
            return nil  // asked again with the next look at what is pending
        }
    }

    /// - Returns: false when it has to wait: the filesystem of the source is away, as of a card that was pulled from its
    ///   mount point, or its claim could not be finished.
    private func dispose(of file: SettledFile, job: Job, drop: DropFolder, _ act: Act) throws(Problem) -> Bool {
        guard let relative = file.path.below(drop.path) else {
            throw Problem(
                .disposition, "\(SafeText.of(file.path)) does not lie in the drop folder \(SafeText.of(drop.name)).")
        }
        switch whereabouts(of: file, relative: relative, drop: drop) {
        case .there: break
        case .away: return false
        case .gone:
            // Done by a process before this one, which died before it could say so; else by somebody else.
            let wasBegun = try store.journal(of: job.id).contains { line in
                line.path == file.path && line.outcome == nil && Act(rawValue: line.what) != nil
            }
            guard wasBegun else { throw Self.failed(act, file, .noEntry) }
            // Claimed, and not disposed of yet: that is still to be done, and only then to be said.
            return try !isClaimed(file, job: job, drop: drop)
        }
        guard let original = try original(of: file, at: relative, job: job, drop: drop, act) else { return false }
        let target = act == .move ? Self.target(of: relative, drop: drop) : nil
        let time = now()
        let id = try store.reserveJournal(
            what: act.rawValue, job: job.id, path: file.path, sha256: original.sha256, detail: target?.shown, at: time)
        try library.journal.append(
            .init(
                id: id, time: time.rfc3339, what: act.rawValue, job: job.id, path: file.path, to: target,
                sha256: original.sha256, original: original.path, stamp: file.stamp), at: time)
        do throws(Errno) {
            let claims = try SourceClaims(drop: drop.path)
            guard try claims.claim(relative, as: id, expecting: file.stamp) else { throw Errno.stale }
            try carryOut(act, claim: id, of: relative, to: target, claims)
            return true
        } catch {
            throw Self.failed(act, file, error)
        }
    }

    private enum Whereabouts { case there, gone, away }

    private func whereabouts(of file: SettledFile, relative: Path, drop: DropFolder) -> Whereabouts {
        do throws(Errno) {
            let root = try Folder(opening: drop.path)
            do throws(Errno) {
                if try root.contains(relative) { return .there }
            } catch .notDirectory {}  // a file stands where its folder was
            return file.isHome(relative, in: root) ? .gone : .away
        } catch {
            return .there  // unknown: the claim meets the same trouble, and says so
        }
    }

    func carryOut(
        _ act: Act, claim id: Int64, of relative: Path, to target: Path?, _ claims: borrowing SourceClaims
    ) throws(Errno) {
        if let target {
            try claims.move(id, to: target, from: relative)
        } else {
            try claims.delete(id, from: relative)
        }
    }

    static func failed(_ act: Act, _ file: SettledFile, _ errno: Errno) -> Problem {
        switch errno {
        case .noEntry:
            Problem(
                .disposition, "\(SafeText.of(file.path)) was gone before it could be disposed of.",
                todo: "Nothing; its original is safe in the library.")
        case .stale:
            Problem(
                .disposition, "\(SafeText.of(file.path)) changed after its import and was left alone.",
                todo: "Nothing; the new version is imported once it has settled.")
        // Nothing is wrong with the source; whoever lacks descriptors or memory waits a moment.
        case .tooManyOpenFiles, .tooManyOpenFilesInSystem, .noMemory:
            .source(file.path, errno, doing: act.rawValue)
        default:
            Problem(
                .disposition,
                "\(SafeText.of(file.path)) could not be \(act == .move ? "moved" : "deleted") after its import and was "
                    + "kept: \(errno.description).")
        }
    }

    /// `<move_to>/<path below the drop>`, by default below `<drop>/.imported`; absolute.
    package static func target(of relative: Path, drop: DropFolder) -> Path {
        (drop.moveTo.isEmpty ? drop.path / ".imported" : drop.moveTo) / relative
    }
}
