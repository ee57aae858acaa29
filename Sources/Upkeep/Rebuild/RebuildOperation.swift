import Ingest
import PhotoModel
import Store

/// Brings the catalog up to what the library and its journal tell: for a state that is new, older than the library, or came
/// out of damage. Adds what the state does not have, and takes nothing away.
///
/// Arguments: `verify`, `1`: every original is read again and compared, too. Without, size and modification time have to be
/// right, and the bytes are read where they are not.
///
/// First it is told which assets were taken out, then which came in, and at last what became of those that are there. The
/// place to go on from is the id of the last line that was done, behind `removal/`, nothing, or `preview/`.
package struct RebuildOperation: Sendable {
    private let rooms: UpkeepRooms
    private let trash: Trash

    package init(_ rooms: UpkeepRooms, trash: Trash) {
        self.rooms = rooms
        self.trash = trash
    }

    private static let portion = 200

    package func run(_ run: OperationRun) throws(OperationRun.Ended) {
        let rehashes = try run.orEnd { () throws(Problem) in try Self.rehashes(run.operation.arguments) }
        let library = try run.orEnd(rooms.library)
        let isStale = try run.orEnd { () throws(Problem) in try self.isStale(library) }
        // Before the journal is read: what is done to an asset from now on counts for more than what was read.
        let first = try run.orEnd { () throws(Problem) in try rooms.store.firstUnsettledAct() }
        let claims = ForgottenClaims(store: rooms.store, drops: rooms.drops())
        let found: JournalIndex?
        do throws(Problem) {
            found = try JournalIndex(of: library, claims: isStale ? claims.ids : [], isGoingOn: { !run.isEnding })
        } catch { throw .failed(error) }
        guard let index = found else { return try run.check() }
        let reader = JournalWitness(
            store: rooms.store, library: library, index: index, rehashes: rehashes, drops: rooms.drops(), run: run)
        if run.cursor == nil {
            run.restart()
            reader.tellUnreadable()
        }
        run.setTotal(Int64(index.entries.count))
        let place = RebuildPlace(run.cursor)
        let afterlife = JournalAfterlife(rooms: rooms, reader: reader, first: first, isStale: isStale)
        if case .removals(let done) = place { try afterlife.takeOut(after: done) }
        var start =
            switch place {
            case .removals: 0
            case .imports(let id): index.entries.prefix { $0.id <= id }.count
            case .previews: index.entries.count
            }
        while start < index.entries.count {
            // In a stale state nothing is under way: what it believes to be has ended in the life it has forgotten.
            let underWay = try run.orEnd { () throws(Problem) -> Set<String> in
                isStale ? [] : Set(try rooms.store.interrupted().map(\.importID))
            }
            let end = Self.end(of: start, in: index)
            try add(try reader.testify(start..<end, but: underWay), since: first, run)
            run.advance(by: Int64(end - start))
            start = end
            try run.reached(RebuildPlace.imports(index.entries[end - 1].id).text, recordNow: true)
        }
        if case .previews(let done) = place {
            try afterlife.showAgain(after: done)
        } else {
            try afterlife.showAgain(after: 0)
        }
        if isStale {
            try afterlife.finishLast(with: trash)
            try putBack(claims, by: index, run)
        }
        try run.orEnd { () throws(Problem) in
            try rooms.store.raiseJournal(to: max(index.lastID, try library.lastJournalID()))
        }
        run.setResult("journal", to: String(index.lastID))
    }

    private func putBack(
        _ claims: ForgottenClaims, by index: JournalIndex, _ run: OperationRun
    ) throws(OperationRun.Ended) {
        let (done, failed) = try run.orEnd { () throws(Problem) -> (done: [Path], failed: [Path]) in
            try claims.putBack(by: index)
        }
        for path in done {
            run.find(
                Operation.Finding(
                    "returned", path: path,
                    "\(SafeText.of(path)) was about to be disposed of when the state was lost; it has its name again."))
        }
        for path in failed {
            run.find(
                Operation.Finding(
                    "claimed", path: path,
                    "\(SafeText.of(path)) was about to be disposed of when the state was lost, and lies in "
                        + ".photospool/claim of its drop folder still: it could not get its name back."))
        }
    }

    /// Lines that share an id stay together, for the id is the place to go on from.
    private static func end(of start: Int, in index: JournalIndex) -> Int {
        var end = min(start + portion, index.entries.count)
        while end < index.entries.count, index.entries[end].id == index.entries[end - 1].id { end += 1 }
        return end
    }

    private static func rehashes(_ arguments: [String: String]) throws(Problem) -> Bool {
        switch arguments["verify"] {
        case nil, "0": return false
        case "1": return true
        case .some(let text):
            throw Problem(
                .badRequest, "`verify` is 1 or 0, not `\(SafeText.of(text, limit: 40))`.",
                todo: "Write {\"verify\": \"1\"} to have every original read.")
        }
    }

    private func isStale(_ library: Library) throws(Problem) -> Bool {
        do throws(Problem) {
            try library.checkNotAhead(of: rooms.store)
            return false
        } catch {
            guard error.code == .stateStale else { throw error }
            return true
        }
    }

    private func add(
        _ portion: [Store.Rebuilt], since first: Int64, _ run: OperationRun
    ) throws(OperationRun.Ended) {
        if portion.isEmpty { return }
        let outcomes = try run.orEnd { () throws(Problem) in
            try rooms.store.rebuild(portion, since: first, batchTime: run.operation.createdAt)
        }
        for (rebuilt, outcome) in zip(portion, outcomes) {
            switch outcome {
            case .added, .known: break
            case .contradicted(let path, let sentence):
                run.find(Operation.Finding("contradiction", path: path, asset: rebuilt.asset.id, sentence))
            case .joinsNothing:
                let path = rebuilt.asset.resources.first?.path
                run.find(
                    Operation.Finding(
                        "alone", path: path, asset: rebuilt.asset.id,
                        "\(SafeText.of(path ?? Path(bytes: []))) joined asset \(rebuilt.asset.id), whose own files are "
                            + "not there; `photospool adopt` takes it in."))
            }
        }
    }
}
