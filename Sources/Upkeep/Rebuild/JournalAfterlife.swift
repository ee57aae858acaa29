import Ingest
import PhotoModel
import Store

/// Brings the catalog up to what became of assets after their import.
struct JournalAfterlife {
    let rooms: UpkeepRooms
    let reader: JournalWitness
    /// ``Store/firstUnsettledAct()`` before the journal was read.
    let first: Int64
    let isStale: Bool

    private var run: OperationRun { reader.run }
    private static let portion = 200

    /// What was taken out stays out, its sources stay known, and so do the bytes that were deleted for good. Before anything
    /// is added, so that no job of these sources begins meanwhile.
    func takeOut(after done: Int64) throws(OperationRun.Ended) {
        try each(reader.index.afterlife.removals.filter { $0.id > done }, RebuildPlace.removals) {
            (act, line) throws(OperationRun.Ended) in
            if act.kind == .forget { return line.assetID.map { .init(line: act.id, asset: $0, deed: .forgotten) } }
            guard let asset = line.asset else { return nil }
            let tombstones = asset.resources.filter { reader.index.afterlife.stands(act, for: $0.sha256) }
            let sources = (line.sources ?? []).map {
                RebuiltSource(
                    drop: $0.drop, isManual: $0.isManual, files: $0.files, disposition: $0.disposition ?? .keep)
            }
            return .init(
                line: act.id, asset: asset.id,
                deed: .removal(tombstones: tombstones, sources: sources, at: line.at ?? run.operation.createdAt))
        }
    }

    /// Previews that were made, or failed, after the import; only those that are there count.
    func showAgain(after done: Int64) throws(OperationRun.Ended) {
        try each(reader.index.afterlife.previews.filter { $0.id > done }, RebuildPlace.previews) {
            (act, line) throws(OperationRun.Ended) in
            guard let id = line.assetID, let preview = line.preview else { return nil }
            if let path = preview.path, try !run.orEnd({ () throws(Problem) in try reader.isPresent(path) }) {
                return nil
            }
            return .init(line: act.id, asset: id, deed: .preview(preview))
        }
    }

    private func each(
        _ acts: [JournalIndex.Act], _ place: (Int64) -> RebuildPlace,
        _ body: (JournalIndex.Act, JournalLine) throws(OperationRun.Ended) -> Store.RebuiltAct?
    ) throws(OperationRun.Ended) {
        var rest = acts[...]
        while !rest.isEmpty {
            let portion = rest.prefix(Self.portion)
            rest = rest.dropFirst(Self.portion)
            var found: [Store.RebuiltAct] = []
            for act in portion {
                try run.check()
                let line = try run.orEnd { () throws(Problem) in try reader.index.line(act, of: reader.library) }
                if let line, let told = try body(act, line) {
                    found.append(told)
                } else if line == nil {
                    run.find(
                        Operation.Finding(
                            "unreadable", path: nil, "Line \(act.id) of the library's journal cannot be understood."))
                }
            }
            try run.orEnd { () throws(Problem) in
                try rooms.store.rebuild(
                    found, since: first, isStale: isStale, batchTime: run.operation.createdAt)
            }
            if let last = portion.last { try run.reached(place(last.id).text, recordNow: true) }
        }
    }

    /// One asset is taken out at a time: the last of them may have been under way when the state was lost. Of its files
    /// those that nobody has claimed since follow the others.
    func finishLast(with trash: Trash) throws(OperationRun.Ended) {
        guard let act = reader.index.afterlife.removals.last(where: { $0.kind.isRemoval }),
            let asset = try run.orEnd({ () throws(Problem) in try reader.index.line(act, of: reader.library) })?.asset
        else { return }
        var left: [Resource] = []
        for resource in asset.resources {
            if try run.orEnd({ () throws(Problem) in try rooms.store.expects(resource.path) }) { continue }
            let gone = LibraryLayout.trash(of: asset.id) / "originals" / resource.path
            if try run.orEnd({ () throws(Problem) in try reader.isPresent(gone) }) { continue }
            if try reader.standing(of: resource, hashing: true) == .whole { left.append(resource) }
        }
        if left.isEmpty { return }
        try run.orEnd { () throws(Problem) in try trash.takeRest(of: asset, left, in: reader.library) }
        for resource in left {
            run.find(
                Operation.Finding(
                    "trashed", path: resource.path, asset: asset.id,
                    "\(SafeText.of(resource.path)) was on its way to the trash when the state was lost; it lies there now."
                ))
        }
    }
}
