import Files
import Ingest
import PhotoModel
import Store

/// Takes a batch back: its assets go to the trash, and sources that were moved come back to where they lay. Sources that
/// were deleted cannot; their bytes lie in the trash. No tombstones: what is dropped again is imported again.
///
/// Arguments: `batch`, its number.
package struct UndoOperation: Sendable {
    private let rooms: UpkeepRooms
    private let trash: Trash

    package init(_ rooms: UpkeepRooms, trash: Trash) {
        self.rooms = rooms
        self.trash = trash
    }

    package func run(_ run: OperationRun) throws(OperationRun.Ended) {
        let batch = try run.orEnd { () throws(Problem) in try self.batch(run.operation.arguments["batch"]) }
        let library = try run.orEnd(rooms.library)
        try run.orEnd { () throws(Problem) in try library.checkNotAhead(of: rooms.store) }
        run.restart()
        run.setTotal(Int64(batch.total))
        // What an interrupted run has done is told by the journal's lines from here on.
        let since = try run.orEnd { () throws(Problem) -> Int64 in
            if let line = run.cursor.flatMap({ Int64($0) }) { return line }
            return try rooms.store.highestJournalID()
        }
        try run.reached(String(since), recordNow: true)
        var deleted = 0
        var cursor: String?
        repeat {
            let after = cursor
            let page: Page<Job> = try run.orEnd { () throws(Problem) in
                try rooms.store.jobs(JobFilter(batch: batch.id), limit: 200, after: after)
            }
            for job in page.items {
                try run.check()
                if job.disposition == .deleted { deleted += job.files.count }
                if job.disposition == .moved { try comeBack(job, library, run, since: since) }
                if job.state == .imported, let asset = job.asset, try mayGo(asset, batch, run) {
                    try run.orEnd { () throws(Problem) in try trash.take(asset, out: library, for: .undo) }
                }
                run.advance(by: 1)
            }
            cursor = page.next
        } while cursor != nil
        let done = try run.orEnd { () throws(Problem) in try rooms.store.undone(since: since) }
        run.setResult("trashed", to: String(done.trashed))
        run.setResult("returned", to: String(done.returned))
        run.setResult("deleted_sources", to: String(deleted))
    }

    private func batch(_ text: String?) throws(Problem) -> Batch {
        guard let text, let id = Int64(text) else {
            throw Problem(
                .badRequest, "`batch` is not the number of a batch.", todo: "`photospool batches` lists them.")
        }
        guard let batch = try rooms.store.batch(id) else {
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
            try rooms.store.jobs(of: asset).filter { $0.batch != batch.id && $0.state == .imported }
        }
        guard let other = others.first else { return true }
        run.find(
            Operation.Finding(
                "shared", path: nil, asset: asset,
                "The asset has files of batch \(other.batch) too, and was left."))
        return false
    }

    // MARK: Sources

    private func comeBack(
        _ job: Job, _ library: Library, _ run: OperationRun, since: Int64
    ) throws(OperationRun.Ended) {
        for file in job.files {
            let why = try run.orEnd { () throws(Problem) in try comeBack(file, of: job, library) }
            if let why { run.find(Operation.Finding("not_returned", path: file.path, asset: job.asset, why)) }
        }
        // Told before the job says that it is over: from then on nobody looks again.
        try run.reached(String(since), recordNow: true)
        try run.orEnd { () throws(Problem) in
            try rooms.store.recordDisposition(job: job.id, state: .kept, problem: nil, at: rooms.now())
        }
    }

    /// - Returns: nil when the source lies where it lay; else why it does not, as a sentence.
    private func comeBack(_ file: SettledFile, of job: Job, _ library: Library) throws(Problem) -> String? {
        let name = SafeText.of(file.path)
        guard let drop = rooms.drops().first(where: { $0.name == job.drop }),
            let relative = file.path.below(drop.path)
        else { return "\(name) lay in a drop folder that is no longer configured." }
        let act = try rooms.store.journal(of: job.id).last { $0.what == "move" && $0.path == file.path }
        // The state keeps the target as text; for a name that is none, the rule says it again.
        let target =
            file.path.isText
            ? act?.detail.map { Path($0) } : act.map { _ in DispositionStep.target(of: relative, drop: drop) }
        guard let target else { return "Nobody knows any more where \(name) was moved to." }
        let found: Path?
        do throws(Errno) {
            if try isThere(file, relative, in: Folder(opening: drop.path)) { return nil }
            found = try find(file, in: Folder(opening: target.parent), as: target.name)
        } catch {
            return "\(SafeText.of(target)) could not be put back as \(name): \(error)."
        }
        guard let found else {
            return "\(SafeText.of(target)) is not the source that was moved there; nothing was put back as \(name)."
        }
        let moved = target.parent / found
        let time = rooms.now()
        let line: Int64
        do throws(Problem) {
            line = try rooms.store.reserveJournal(
                what: "return", job: job.id, path: file.path, sha256: nil, detail: moved.shown, at: time)
            try library.journal.append(.returning(moved, to: file.path, job: job.id, id: line, at: time), at: time)
        } catch {
            return "\(name) was not put back: \(error.whatHappened)"
        }
        do throws(Errno) {
            try rename(moved, to: relative, in: Folder(opening: drop.path))
            return nil
        } catch {
            try rooms.store.closeJournal(line, outcome: "failed")
            return "\(SafeText.of(moved)) could not be put back as \(name): \(error)."
        }
    }

    private func rename(_ moved: Path, to relative: Path, in root: borrowing Folder) throws(Errno) {
        if !relative.parent.isEmpty { try root.makeFolders(at: relative.parent, mode: 0o2770) }
        let place = try Folder(opening: moved.parent)
        try place.renameNoReplace(moved.name, to: relative, in: root)
        try root.folder(at: relative.parent).sync()
        try place.sync()
    }

    /// The name under which the source lies that was moved: where its own was taken, it got a number. By inode, size and
    /// time, for others may lie there.
    private func find(_ file: SettledFile, in place: borrowing Folder, as name: Path) throws(Errno) -> Path? {
        for number in 1..<1000 {
            let tried = number == 1 ? name : SourceClaims.numbered(name, number)
            let stamp: FileStamp
            do throws(Errno) { stamp = try place.status(of: tried).stamp } catch .noEntry {
                if number == 1 { continue }  // the first one may have been taken away since
                return nil
            }
            if stamp.inode == file.stamp.inode, stamp.size == file.stamp.size, stamp.mtime == file.stamp.mtime {
                return tried
            }
        }
        return nil
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
