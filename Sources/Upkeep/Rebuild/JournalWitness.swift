import Files
import Ingest
import PhotoModel
import Store

/// Compares what the library's journal says with what the library holds: only what is there counts.
struct JournalWitness {
    let store: Store
    let library: Library
    let index: JournalIndex
    let rehashes: Bool
    let drops: [DropFolder]
    let run: OperationRun

    func tellUnreadable() {
        for (file, offset) in index.unreadable {
            run.find(
                Operation.Finding(
                    "unreadable", path: file, "A line of \(SafeText.of(file)), at byte \(offset), cannot be understood."
                ))
        }
    }

    /// What the entries add to the catalog, in their order.
    /// - Parameter underWay: imports that are at work at this moment, and say themselves what comes of them.
    func testify(
        _ range: Range<Int>, but underWay: Set<String>
    ) throws(OperationRun.Ended) -> [Store.Rebuilt] {
        var found: [Store.Rebuilt] = []
        for position in range {
            try run.check()
            try run.orEnd { () throws(Problem) in try library.check() }
            if index.wasTakenOut(position) { continue }
            guard let line = try line(position), let intent = line.intent else { continue }
            if underWay.contains(intent.importID) { continue }
            if try isOutdone(position) { continue }
            guard try isThere(intent, hashing: rehashes || index.isContested(position)) else { continue }
            var asset = intent.asset
            asset.resources = brought(by: intent)
            asset.preview = try preview(of: asset)
            found.append(
                Store.Rebuilt(
                    asset: asset, joins: intent.joinsExisting, importID: intent.importID, at: asset.importedAt,
                    source: source(of: line)))
        }
        return found
    }

    private func line(_ position: Int) throws(OperationRun.Ended) -> JournalLine? {
        let entry = index.entries[position]
        let line = try run.orEnd { () throws(Problem) in try index.line(entry, of: library) }
        if line?.intent == nil {
            run.find(
                Operation.Finding(
                    "unreadable", path: nil, "Line \(entry.id) of the library's journal cannot be understood."))
        }
        return line
    }

    // MARK: Files

    /// The files that a commit brought. An adoption moves none: all it names are new.
    private func brought(by intent: CommitIntent) -> [Resource] {
        let new = intent.newResources
        return new.isEmpty ? intent.asset.resources : new
    }

    enum Standing { case whole, missing, changed, unreadable }

    /// Whether an import that announced one of its paths later has it: then this one was rolled back.
    private func isOutdone(_ position: Int) throws(OperationRun.Ended) -> Bool {
        for later in index.later(than: position) {
            guard
                let intent = try run.orEnd({ () throws(Problem) in try index.line(index.entries[later], of: library) })?
                    .intent, let lead = brought(by: intent).first
            else { continue }
            if try standing(of: lead, hashing: true) == .whole { return true }
        }
        return false
    }

    /// Whether the commit came about. The leading file is renamed last: where it stands, all stood. Where it does not, the
    /// import was rolled back, or somebody took the file away since: then what is left of the shot tells.
    private func isThere(_ intent: CommitIntent, hashing: Bool) throws(OperationRun.Ended) -> Bool {
        var standings: [Standing] = []
        for resource in brought(by: intent) { standings.append(try standing(of: resource, hashing: hashing)) }
        let isWhole = zip(brought(by: intent), standings).contains { resource, standing in
            Self.isShot(resource.role) && (standing == .whole || standing == .unreadable)
        }
        let hasLead = standings.first == .whole || standings.first == .unreadable
        let hadPreview = try run.orEnd { () throws(Problem) in
            if intent.joinsExisting { return false }
            return try isPresent(LibraryLayout.preview(of: intent.asset.id))
        }
        if !hasLead, !isWhole, !hadPreview { return false }
        if !hasLead, try isStaged(intent) {
            tell(
                "unfinished", brought(by: intent)[0], intent,
                "was being imported when the state was lost; its source is still there.")
            return false
        }
        for (resource, standing) in zip(brought(by: intent), standings) {
            switch standing {
            case .whole: break
            case .missing: tell("missing", resource, intent, "is not in the library.")
            case .changed: tell("changed", resource, intent, "no longer holds the bytes that were imported.")
            case .unreadable: tell("unreadable", resource, intent, "could not be read.")
            }
        }
        return hasLead || isWhole
    }

    private static func isShot(_ role: Role) -> Bool {
        switch role {
        case .photo, .alternatePhoto, .video, .pairedVideo: true
        case .adjustment, .sidecar, .audio, .thumbnail: false
        }
    }

    private func tell(_ kind: String, _ resource: Resource, _ intent: CommitIntent, _ words: String) {
        run.find(
            Operation.Finding(
                kind, path: resource.path, asset: intent.asset.id, "\(SafeText.of(resource.path)) \(words)"))
    }

    func standing(of resource: Resource, hashing: Bool) throws(OperationRun.Ended) -> Standing {
        let stamp: FileStamp
        do throws(Errno) {
            let status = try library.root.status(of: resource.path)
            if status.kind != .regular { return .changed }
            stamp = status.stamp
        } catch {
            if [.noEntry, .notDirectory, .loop].contains(error) { return .missing }
            throw .failed(.library(resource.path, error, doing: "look at"))
        }
        if stamp.size != resource.size { return .changed }
        if !hashing, stamp.mtime == resource.mtime { return .whole }
        do throws(CopyFailure) {
            return try hash(resource.path) == resource.sha256 ? .whole : .changed
        } catch {
            if error == .cancelled { try run.check() }
            return .unreadable
        }
    }

    private func hash(_ path: Path) throws(CopyFailure) -> SHA256Digest {
        let file: Descriptor
        do throws(Errno) { file = try library.root.openForReading(path) } catch { throw .destination(error) }
        return try readBack(file, isCancelled: { run.isEnding }).sha256
    }

    func isPresent(_ path: Path) throws(Problem) -> Bool {
        do throws(Errno) {
            return try library.root.status(of: path).kind == .regular
        } catch {
            if [.noEntry, .notDirectory, .loop].contains(error) { return false }
            throw .library(path, error, doing: "look at")
        }
    }

    private func isStaged(_ intent: CommitIntent) throws(OperationRun.Ended) -> Bool {
        guard let staged = intent.moves.last?.staged else { return false }
        return try run.orEnd { () throws(Problem) in try isPresent(staged) }
    }

    /// One that is not there is to be made again.
    private func preview(of asset: Asset) throws(OperationRun.Ended) -> AssetPreview {
        guard let path = asset.preview.path else { return asset.preview }
        if try run.orEnd({ () throws(Problem) in try isPresent(path) }) {
            var preview = asset.preview
            preview.renditions = try run.orEnd { () throws(Problem) in
                var present: [Rendition] = []
                for one in asset.preview.renditions where try isPresent(one.path) { present.append(one) }
                return present
            }
            return preview
        }
        return AssetPreview(
            state: .failed,
            problem: Problem(
                .notFound, "The preview was not there when the catalog was rebuilt.",
                todo: "`photospool previews --missing` makes it again."))
    }

    // MARK: Sources

    /// What can be said of the sources: those of a drop that keeps them are where they were; of those that were to go it is
    /// known when the journal says so and they are gone. In every other case nothing is said, and the next scan finds out by
    /// their bytes.
    private func source(of line: JournalLine) -> RebuiltSource? {
        guard let source = line.source, !source.files.isEmpty else { return nil }
        let drop = drops.first { $0.name == source.drop }
        let disposals = source.files.map { index.disposal(of: $0.path, $0.stamp) }
        if let disposed = disposals[0], disposals.allSatisfy({ $0 == disposed }), source.files.allSatisfy(isGone) {
            return RebuiltSource(
                drop: source.drop, isManual: source.isManual, files: source.files, disposition: disposed)
        }
        guard source.isManual || drop?.afterImport ?? .keep == .keep else { return nil }
        return RebuiltSource(drop: source.drop, isManual: source.isManual, files: source.files, disposition: .keep)
    }

    private func isGone(_ file: SettledFile) -> Bool {
        do throws(Errno) {
            return try !Folder(opening: file.path.parent).contains(file.path.name)
        } catch {
            return false  // nobody can say
        }
    }
}
