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

    package init(
        library: Library, store: Store, now: @escaping @Sendable () -> Timestamp, log: @escaping Log
    ) {
        self.library = library
        self.store = store
        self.now = now
        self.log = log
    }

    /// Disposes of every source of an imported (or duplicate) job, and records how that went.
    package func run(_ job: Job, drop: DropFolder) throws(Problem) {
        var problem: Problem?
        // An absent drop (a card that was pulled) is no answer: the source waits, and so does what is owed to it.
        guard let isOpen = isOpenToAll(drop) else { return }
        if isOpen {
            problem = Problem(
                .dropOpen,
                "The drop folder \(SafeText.of(drop.path)) can be written by everybody; sources there are "
                    + "neither moved nor deleted.")
        } else {
            for file in job.files {
                do throws(Problem) {
                    try dispose(of: file, job: job, drop: drop)
                } catch {
                    problem = problem ?? error
                }
            }
        }
        let state: DispositionState =
            problem != nil ? .kept : drop.afterImport == .move ? .moved : .deleted
        try store.recordDisposition(job: job.id, state: state, problem: problem, at: now())
        if let problem { log(LogLine(.warning, problem, [("JOB_ID", String(job.id)), ("DROP", drop.name)])) }
    }

    /// nil when the drop folder cannot be opened.
    private func isOpenToAll(_ drop: DropFolder) -> Bool? {
        do throws(Errno) {
            return try Folder(opening: drop.path).status().isWorldWritable
        } catch {
            return nil  // asked again with the next look at what is pending
        }
    }

    private func dispose(of file: SettledFile, job: Job, drop: DropFolder) throws(Problem) {
        guard let relative = file.path.below(drop.path) else {
            throw Problem(.disposition, "\(SafeText.of(file.path)) does not lie in the drop folder \(drop.name).")
        }
        let target = drop.afterImport == .move ? Self.target(of: relative, drop: drop) : nil
        let time = now()
        let id = try store.reserveJournal(
            what: drop.afterImport.rawValue, job: job.id, path: file.path, sha256: nil, detail: target?.shown, at: time)
        try library.journal.append(
            .init(
                id: id, time: time.rfc3339, what: drop.afterImport.rawValue, job: job.id, path: file.path, to: target,
                stamp: file.stamp), at: time)
        do throws(Errno) {
            let claims = try SourceClaims(drop: drop.path)
            guard try claims.claim(relative, as: id, expecting: file.stamp) else {
                throw Errno.stale
            }
            if let target {
                try claims.move(id, to: target, from: relative)
            } else {
                try claims.delete(id, from: relative)
            }
        } catch {
            if error == .noEntry {
                throw Problem(
                    .disposition, "\(SafeText.of(file.path)) was gone before it could be disposed of.",
                    todo: "Nothing; its original is safe in the library.")
            }
            if error == .stale {
                throw Problem(
                    .disposition, "\(SafeText.of(file.path)) changed after its import and was left alone.",
                    todo: "Nothing; the new version is imported once it has settled.")
            }
            throw Problem(
                .disposition,
                "\(SafeText.of(file.path)) could not be \(drop.afterImport == .move ? "moved" : "deleted") after its "
                    + "import and was kept: \(error.description).")
        }
    }

    /// `<move_to>/<path below the drop>`, by default below `<drop>/.imported`; absolute.
    static func target(of relative: Path, drop: DropFolder) -> Path {
        (drop.moveTo.isEmpty ? drop.path / ".imported" : drop.moveTo) / relative
    }

    /// Finishes the claims that a dead process left in a drop folder: one whose content is that of an imported job is
    /// disposed of, any other is put back where it came from.
    package func finishClaims(in drop: DropFolder) throws(Problem) {
        var left: [Int64] = []
        do throws(Errno) {
            left = try SourceClaims.left(in: drop.path)
        } catch {
            return  // no claims, or the drop is absent: it is asked again when the drop returns
        }
        for id in left {
            guard let subject = try store.journalSubject(id), let job = try store.job(subject.job),
                let file = job.files.first(where: { $0.path == subject.path }),
                let relative = subject.path.below(drop.path)
            else { continue }  // nothing of ours; it stays where it is
            do throws(Errno) {
                let claims = try SourceClaims(drop: drop.path)
                let mayDispose = job.disposition == .pending && drop.afterImport != .keep
                guard mayDispose, try claims.holds(id, expecting: file.stamp) else {
                    try claims.putBack(id, to: relative)
                    continue
                }
                if drop.afterImport == .move {
                    try claims.move(id, to: Self.target(of: relative, drop: drop), from: relative)
                } else {
                    try claims.delete(id, from: relative)
                }
            } catch {
                log(
                    LogLine(
                        .warning, "A claimed source could neither be disposed of nor put back.",
                        [("DROP", drop.name), ("PATH", SafeText.of(subject.path)), ("ERRNO", error.name)]))
            }
        }
    }
}
