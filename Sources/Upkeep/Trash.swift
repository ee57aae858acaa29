import Files
package import Ingest
package import PhotoModel
package import Store
import Synchronization

/// Takes assets out of the library without losing a byte: their files go to `.photospool/trash/<asset id>/`, under the
/// names they had, and stay there until a person empties it.
///
/// In this order, so that a death anywhere between is finished by ``finishInterrupted(in:)``: the line in the state's
/// journal, the one in the library's with the whole asset, the renames, the folders made durable, and one transaction that
/// takes the asset out of the catalog.
package final class Trash: Sendable {
    /// Whether the same bytes are to stay out when they come again.
    package enum Reason: String, CaseIterable, Sendable {
        case delete = "trash"
        case undo = "undo"
    }

    private let store: Store
    private let log: Log
    private let now: @Sendable () -> Timestamp
    /// One removal at a time.
    private let turn = Mutex<Void>(())

    package init(store: Store, log: @escaping Log, now: @escaping @Sendable () -> Timestamp) {
        self.store = store
        self.log = log
        self.now = now
    }

    /// - Throws: `E_NOT_FOUND`; a library problem, after which the asset is as it was, or half in the trash and finished
    ///   later: it is never half listed.
    package func take(_ id: Asset.ID, out library: Library, for reason: Reason) throws(Problem) {
        try turn.withLock { _ throws(Problem) in
            guard let asset = try store.asset(id) else {
                throw Problem(
                    .notFound, "There is no asset \(SafeText.of(id, limit: 64)).", todo: "Nothing; it is gone.")
            }
            try library.check()
            try take(asset, line: nil, for: reason, in: library)
            log(LogLine(.info, "An asset was put into the trash.", [("ASSET_ID", asset.id)]))
        }
    }

    /// Once more when a late member joins it meanwhile, which then goes along.
    /// - Parameter line: what announced it already.
    private func take(_ asset: Asset, line: Int64?, for reason: Reason, in library: Library) throws(Problem) {
        var (asset, line) = (asset, line)
        while true {
            let time = now()
            let id =
                if let line { line } else {
                    try store.reserveJournal(
                        what: reason.rawValue, job: nil, path: asset.resources.first?.path ?? Path(bytes: []),
                        sha256: asset.resources.first?.sha256, detail: asset.id, at: time)
                }
            try announce(asset, reason, line: id, in: library, at: time)
            try move(asset, in: library)
            if try store.remove(asset, journal: id, isForGood: reason == .delete, at: time) { return }
            guard let joined = try store.asset(asset.id) else { return }
            (asset, line) = (joined, nil)
        }
    }

    /// Lets the bytes of an asset that was deleted be imported again. Its files stay in the trash.
    /// - Returns: how many were kept out; 0 for an asset that was not deleted.
    package func forget(_ id: Asset.ID, library: Library) throws(Problem) -> Int {
        try turn.withLock { _ throws(Problem) in
            guard try store.tombstones(of: id) > 0 else { return 0 }
            try library.check()
            let time = now()
            let line = try store.reserveJournal(
                what: Self.forgetting, job: nil, path: Path(bytes: []), sha256: nil, detail: id, at: time)
            return try forget(id, line: line, library, at: time)
        }
    }

    private static let forgetting = "forget"

    private func forget(
        _ id: Asset.ID, line: Int64, _ library: Library, at time: Timestamp
    ) throws(Problem) -> Int {
        try library.journal.append(.forgetting(id, id: line, at: time), at: time)
        return try store.forgetTombstones(of: id, journal: line)
    }

    private func announce(
        _ asset: Asset, _ reason: Reason, line: Int64, in library: Library, at time: Timestamp
    ) throws(Problem) {
        try library.journal.append(
            .removal(of: asset, what: reason.rawValue, jobs: try store.jobs(of: asset.id), id: line, at: time), at: time
        )
    }

    /// Does to its end what a process before this one had begun.
    package func finishInterrupted(in library: Library) throws(Problem) {
        try turn.withLock { _ throws(Problem) in
            for open in try store.openRemovals(Reason.allCases.map(\.rawValue) + [Self.forgetting]) {
                if open.what == Self.forgetting {
                    try library.check()
                    _ = try forget(open.asset, line: open.journal, library, at: now())
                    continue
                }
                guard let reason = Reason(rawValue: open.what) else { continue }  // asked for these only
                guard let asset = try store.asset(open.asset) else {
                    try store.closeJournal(open.journal, outcome: "gone")
                    continue
                }
                // The line in the library's journal may be missing: written again, it says the same.
                try library.check()
                try take(asset, line: open.journal, for: reason, in: library)
                log(LogLine(.info, "An interrupted removal was finished.", [("ASSET_ID", asset.id)]))
            }
        }
    }

    /// Takes the rest of an asset along that was being taken out when the state was lost: of its files those that are still
    /// there.
    func takeRest(of asset: Asset, _ files: [Resource], in library: Library) throws(Problem) {
        var rest = asset
        rest.resources = files
        try turn.withLock { _ throws(Problem) in try move(rest, in: library) }
    }

    /// Where the files of an asset go. Names that are taken there already are those of a move that was interrupted.
    private func move(_ asset: Asset, in library: Library) throws(Problem) {
        let trash = LibraryLayout.trash(of: asset.id)
        var moves = asset.resources.map { ($0.path, trash / "originals" / $0.path) }
        let previews = asset.preview.paths
        if let preview = asset.preview.path { moves.append((preview, trash / "preview.jpg")) }
        for rendition in asset.preview.renditions {
            moves.append((rendition.path, trash / (rendition.spec.name + ".jpg")))
        }
        for (from, to) in moves {
            try Self.onLibrary(from, doing: "move to the trash") { () throws(Errno) in
                try library.root.makeFolders(at: to.parent, mode: 0o700)
                do throws(Errno) {
                    try library.root.renameNoReplace(from, to: to, in: library.root)
                } catch .noEntry {
                    // Moved before, or missing already, which verify tells of.
                } catch .crossDevice where previews.contains(from) {
                    // Previews may lie on a disk of their own; one can be made again at any time.
                    try library.root.unlink(from)
                }
            }
        }
        for folder in Set(moves.flatMap { [$0.0.parent, $0.1.parent] }) {
            try Self.onLibrary(folder, doing: "make durable the folder") { () throws(Errno) in
                do throws(Errno) {
                    try folder.isEmpty ? library.root.sync() : library.root.folder(at: folder).sync()
                } catch .noEntry {}  // a folder that is gone has no names to keep
            }
        }
    }

    private static func onLibrary(_ path: Path, doing what: String, _ body: () throws(Errno) -> Void) throws(Problem) {
        do throws(Errno) { try body() } catch { throw .library(path, error, doing: what) }
    }
}
