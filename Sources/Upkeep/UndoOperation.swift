import Files
package import Ingest
package import PhotoModel
package import Store

/// Takes a batch back: its assets go to the trash, and sources that were moved come back to where they lay. Sources that
/// were deleted cannot; their bytes lie in the trash. No tombstones: what is dropped again is imported again.
///
/// Arguments: `batch`, its number.
package struct UndoOperation: Sendable {
    package let store: Store
    package let trash: Trash
    /// - Throws: why the library is not open.
    package let library: @Sendable () throws(Problem) -> Library
    package let drops: @Sendable () -> [DropFolder]
    package let now: @Sendable () -> Timestamp

    package init(
        store: Store, trash: Trash, library: @escaping @Sendable () throws(Problem) -> Library,
        drops: @escaping @Sendable () -> [DropFolder], now: @escaping @Sendable () -> Timestamp
    ) {
        self.store = store
        self.trash = trash
        self.library = library
        self.drops = drops
        self.now = now
    }

    package func run(_ run: OperationRun) throws(OperationRun.Ended) {
        let batch = try run.orEnd { () throws(Problem) in try self.batch(run.operation.arguments["batch"]) }
        let library = try run.orEnd(library)
        run.setTotal(Int64(batch.total))
        var cursor: String?
        var (trashed, returned, deleted) = (0, 0, 0)
        repeat {
            let after = cursor
            let page: Page<Job> = try run.orEnd { () throws(Problem) in
                try store.jobs(JobFilter(batch: batch.id), limit: 200, after: after)
            }
            for job in page.items {
                try run.check()
                if job.disposition == .deleted { deleted += job.files.count }
                if job.disposition == .moved { returned += try comeBack(job, library, run) }
                if job.state == .imported, let asset = job.asset, try mayGo(asset, batch, run) {
                    try run.orEnd { () throws(Problem) in try trash.take(asset, out: library, for: .undo) }
                    trashed += 1
                }
                run.advance(by: 1)
            }
            cursor = page.next
        } while cursor != nil
        run.setResult("trashed", to: String(trashed))
        run.setResult("returned", to: String(returned))
        run.setResult("deleted_sources", to: String(deleted))
    }

    private func batch(_ text: String?) throws(Problem) -> Batch {
        guard let text, let id = Int64(text) else {
            throw Problem(
                .badRequest, "`batch` is not the number of a batch.", todo: "`photospool batches` lists them.")
        }
        guard let batch = try store.batch(id) else {
            throw Problem(.notFound, "There is no batch \(id).", todo: "`photospool batches` lists them.")
        }
        guard batch.closedAt != nil, batch.done == batch.total else {
            throw Problem(
                .conflict, "Batch \(id) is not over.",
                todo: "Cancel it first with `photospool cancel --batch=\(id)`, or wait for its end.")
        }
        return batch
    }

    /// An asset that a later or earlier batch has brought files of stays, and is named.
    private func mayGo(_ asset: Asset.ID, _ batch: Batch, _ run: OperationRun) throws(OperationRun.Ended) -> Bool {
        let others = try run.orEnd { () throws(Problem) in
            try store.jobs(of: asset).filter { $0.batch != batch.id && $0.state == .imported }
        }
        guard let other = others.first else { return true }
        run.find(
            Operation.Finding(
                "shared", path: nil, asset: asset,
                "The asset has files of batch \(other.batch) too, and was left."))
        return false
    }

    // MARK: Sources

    /// - Returns: how many sources are back where they were.
    private func comeBack(
        _ job: Job, _ library: Library, _ run: OperationRun
    ) throws(OperationRun.Ended) -> Int {
        var count = 0
        for file in job.files {
            let why = try run.orEnd { () throws(Problem) in try comeBack(file, of: job, library) }
            if let why {
                run.find(Operation.Finding("not_returned", path: file.path, asset: job.asset, why))
            } else {
                count += 1
            }
        }
        try run.orEnd { () throws(Problem) in
            try store.recordDisposition(job: job.id, state: .kept, problem: nil, at: now())
        }
        return count
    }

    /// - Returns: nil when the source lies where it lay; else why it does not, as a sentence.
    private func comeBack(_ file: SettledFile, of job: Job, _ library: Library) throws(Problem) -> String? {
        let name = SafeText.of(file.path)
        guard let drop = drops().first(where: { $0.name == job.drop }), let relative = file.path.below(drop.path) else {
            return "\(name) lay in a drop folder that is no longer configured."
        }
        let line = try store.journal(of: job.id).last { $0.what == "move" && $0.path == file.path }
        // The state keeps the target as text; for a name that is none, the rule says it again.
        let target =
            file.path.isText
            ? line?.detail.map { Path($0) } : line.map { _ in DispositionStep.target(of: relative, drop: drop) }
        guard let target else { return "Nobody knows any more where \(name) was moved to." }
        do throws(Errno) {
            let root = try Folder(opening: drop.path)
            if try isThere(file, relative, in: root) { return nil }
            let place = try Folder(opening: target.parent)
            guard try place.status(of: target.name).stamp.size == file.stamp.size else { throw .stale }
            let time = now()
            let id: Int64
            do throws(Problem) {
                id = try store.reserveJournal(
                    what: "return", job: job.id, path: file.path, sha256: nil, detail: target.shown, at: time)
                try library.journal.append(
                    .returning(target, to: file.path, job: job.id, id: id, at: time), at: time)
            } catch {
                return "\(name) was not put back: \(error.whatHappened)"
            }
            if !relative.parent.isEmpty { try root.makeFolders(at: relative.parent, mode: 0o2770) }
            try place.renameNoReplace(target.name, to: relative, in: root)
            try root.folder(at: relative.parent).sync()
            try place.sync()
            return nil
        } catch {
            return "\(SafeText.of(target)) could not be put back as \(name): \(error)."
        }
    }

    /// It is back already, by a run that was interrupted.
    private func isThere(_ file: SettledFile, _ relative: Path, in root: borrowing Folder) throws(Errno) -> Bool {
        do throws(Errno) {
            let stamp = try root.status(of: relative).stamp
            return stamp.size == file.stamp.size && stamp.mtime == file.stamp.mtime
        } catch .noEntry {
            return false
        }
    }
}
