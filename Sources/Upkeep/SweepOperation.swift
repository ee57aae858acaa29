import Files
import Ingest
import PhotoModel
import Store

/// Removes now what else goes by and by, or never: staging of imports that are over, however young, and previews of assets
/// that are gone. Both are the daemon's own and can be made again; nothing else is removed. Tells of claims that nobody is at
/// work on, and of files among the previews that are none.
///
/// Arguments: `dry_run`, `1`: everything is only told. Begun anew after an interruption; the cursor holds what was counted.
package struct SweepOperation: Sendable {
    private let rooms: UpkeepRooms

    package init(_ rooms: UpkeepRooms) { self.rooms = rooms }

    private struct Count {
        var staging: Int64 = 0
        var previews: Int64 = 0
        var bytes: Int64 = 0
        var told = 0

        init(_ cursor: String?) {
            let parts = (cursor ?? "").split(separator: "/").compactMap { Int64($0) }
            if parts.count == 3 { (staging, previews, bytes) = (parts[0], parts[1], parts[2]) }
        }

        var cursor: String { "\(staging)/\(previews)/\(bytes)" }
    }

    package func run(_ run: OperationRun) throws(OperationRun.Ended) {
        let isDryRun = try run.orEnd { () throws(Problem) in try Self.isDryRun(run.operation.arguments) }
        let library = try run.orEnd(rooms.library)
        try run.orEnd { () throws(Problem) in
            // A state that has forgotten photos would take their previews for nobody's.
            try library.checkNotAhead(of: rooms.store)
            try rooms.store.closeInterrupted("sweep")
        }
        run.restart()
        var count = Count(run.cursor)
        try clearStaging(library, isDryRun, &count, run)
        try clearPreviews(library, isDryRun, &count, run)
        try tellClaims(run)
        run.setResult("staging", to: String(count.staging))
        run.setResult("previews", to: String(count.previews))
        run.setResult("bytes", to: String(count.bytes))
    }

    private static func isDryRun(_ arguments: [String: String]) throws(Problem) -> Bool {
        for name in arguments.keys.sorted() where name != "dry_run" {
            throw Problem(
                .badRequest, "A sweep has no argument `\(SafeText.of(name, limit: 40))`.",
                todo: "Order it without, or with {\"dry_run\": \"1\"}.")
        }
        switch arguments["dry_run"] {
        case nil, "0": return false
        case "1": return true
        case .some(let text):
            throw Problem(
                .badRequest, "`dry_run` is 1 or 0, not `\(SafeText.of(text, limit: 40))`.",
                todo: "Write {\"dry_run\": \"1\"} to be told only.")
        }
    }

    private func tellClaims(_ run: OperationRun) throws(OperationRun.Ended) {
        let stale = try run.orEnd { () throws(Problem) in
            try ForgottenClaims(store: rooms.store, drops: rooms.drops()).stale()
        }
        for (claim, source) in stale {
            let whose =
                source.map { "It was \(SafeText.of($0)), and gets its name back at the next start." }
                ?? "This state does not know whose it is."
            run.find(
                Operation.Finding(
                    "claimed", path: claim, "\(SafeText.of(claim)) is a source that nobody is at work on. \(whose)"))
        }
    }

    // MARK: Staging

    private func clearStaging(
        _ library: Library, _ isDryRun: Bool, _ count: inout Count, _ run: OperationRun
    ) throws(OperationRun.Ended) {
        let sweep = Sweep(library: library, sweepAfter: .zero, now: rooms.now, log: rooms.log)
        let dead = try run.orEnd { () throws(Problem) in
            try sweep.find(
                live: { () throws(Problem) in Set(try rooms.store.interrupted().map(\.importID)) }, whateverAge: true)
        }
        for path in dead {
            let bytes = size(of: path, in: library)
            if isDryRun {
                run.find(
                    Operation.Finding(
                        "staging", path: path, "\(SafeText.of(path)) belongs to no import: \(bytes) bytes."))
            } else {
                try run.orEnd { () throws(Problem) in
                    try library.check()
                    try sweep.remove(path)
                }
                count.staging += 1
                count.bytes += bytes
            }
            run.advance(by: 1)
            try run.reached(count.cursor, recordNow: !isDryRun)
        }
    }

    /// Staging is flat.
    private func size(of path: Path, in library: Library) -> Int64 {
        var bytes: Int64 = 0
        do throws(Errno) {
            let folder = try library.root.folder(at: path)
            try folder.forEachEntry { name, kind throws(Errno) in
                if kind == .regular { bytes += try folder.status(of: name).stamp.size }
                return true
            }
        } catch _ {}  // a number that is only told
        return bytes
    }

    // MARK: Previews

    private func clearPreviews(
        _ library: Library, _ isDryRun: Bool, _ count: inout Count, _ run: OperationRun
    ) throws(OperationRun.Ended) {
        try LibraryWalk(library: library, start: LibraryLayout.previews).run(run) {
            (path, status) throws(OperationRun.Ended) in
            run.advance(by: 1)
            guard let asset = LibraryLayout.assetOfPreview(at: path) else {
                return try tell(
                    Operation.Finding(
                        "foreign", path: path, "\(SafeText.of(path)) is no preview of the service's, and was left."),
                    &count, run)
            }
            guard try run.orEnd({ () throws(Problem) in try isNobodys(path, asset) }) else { return }
            if isDryRun {
                return try tell(
                    Operation.Finding(
                        "preview", path: path, asset: asset,
                        "\(SafeText.of(path)) is the preview of an asset that is gone: \(status.stamp.size) bytes."),
                    &count, run)
            }
            try run.orEnd { () throws(Problem) in try remove(path, in: library) }
            count.previews += 1
            count.bytes += status.stamp.size
            try run.reached(count.cursor, recordNow: true)
        }
    }

    /// So many are named, and the rest is counted by nobody: whoever has so many does not read further.
    private func tell(
        _ finding: PhotoModel.Operation.Finding, _ count: inout Count, _ run: OperationRun
    ) throws(OperationRun.Ended) {
        count.told += 1
        if count.told <= ForeignFiles.most { run.find(finding) }
        try run.reached(count.cursor)
    }

    /// A commit gives a preview its name before it lists the asset: so the list is asked again after the commits are.
    private func isNobodys(_ path: Path, _ asset: Asset.ID) throws(Problem) -> Bool {
        if try rooms.store.asset(asset) != nil { return false }
        if try rooms.store.isBeingCommitted(path) { return false }
        return try rooms.store.asset(asset) == nil
    }

    private func remove(_ path: Path, in library: Library) throws(Problem) {
        try library.check()
        let time = rooms.now()
        let line = try rooms.store.reserveJournal(
            what: "sweep", job: nil, path: path, sha256: nil, detail: nil, at: time)
        try library.journal.append(.sweeping(path, id: line, at: time), at: time)
        do throws(Errno) { try library.root.unlink(path) } catch {
            if error != .noEntry { throw .library(path, error, doing: "remove") }  // gone meanwhile is as good
        }
        try rooms.store.closeJournal(line, outcome: "removed")
    }
}
