import Files
package import PhotoModel
package import Preview
package import Store

/// Makes the preview of an asset that is in the library already, from its originals: because there is none, or because it is
/// gone.
///
/// An original is read past the cache and compared with the catalog before a decoder sees it: one that is damaged is told,
/// and gives no picture that would hide it.
package struct PreviewMaker: Sendable {
    package let library: Library
    let store: Store
    let decoders: DecoderPool
    let spec: PreviewSpec
    let log: Log
    let now: @Sendable () -> Timestamp
    let newID: @Sendable () -> String

    package init(
        library: Library, store: Store, decoders: DecoderPool, spec: PreviewSpec, log: @escaping Log,
        now: @escaping @Sendable () -> Timestamp, newID: @escaping @Sendable () -> String
    ) {
        self.library = library
        self.store = store
        self.decoders = decoders
        self.spec = spec
        self.log = log
        self.now = now
        self.newID = newID
    }

    /// What an asset that has a preview is to have beside it.
    package var renditions: [RenditionSpec] { spec.renditions }

    /// An original that is not as it was imported.
    package struct Damage: Sendable {
        /// `missing`, `changed` or `unreadable`.
        package let kind: String
        package let path: Path
        package let sentence: String
    }

    package enum Outcome: Sendable {
        case made
        /// The originals are as they were, and no picture could be made of them.
        case failed(Problem)
        /// Nothing was tried: no original that could show it is whole.
        case damaged
        /// There is nothing to be shown, or the asset is gone.
        case nothing
    }

    enum Stop: Error {
        case cancelled
        case problem(Problem)
    }

    /// - Returns: nil when it was cancelled; the asset is then as it was.
    /// - Throws: what any asset would meet: library, state or decoder are away, or the preview cannot be written.
    package func run(
        _ asset: Asset, isCancelled: @escaping () -> Bool
    ) throws(Problem) -> (outcome: Outcome, damages: [Damage])? {
        var damages: [Damage] = []
        do throws(Stop) {
            return (try make(asset, &damages, isCancelled), damages)
        } catch {
            switch error {
            case .cancelled: return nil
            case .problem(let problem): throw problem
            }
        }
    }

    private func make(
        _ asset: Asset, _ damages: inout [Damage], _ isCancelled: @escaping () -> Bool
    ) throws(Stop) -> Outcome {
        let candidates = asset.resources
            .filter { PreviewStep.roles.contains($0.role) && $0.mediaType.previewRank < 9 }
            .sorted { $0.mediaType.previewRank < $1.mediaType.previewRank }
        if candidates.isEmpty { return .nothing }
        var first: Problem?
        for resource in candidates {
            try trying { () throws(Problem) in try library.check() }
            guard let file = try read(resource, isCancelled, &damages) else { continue }
            let id = newID()
            defer { removeStaging(of: id) }
            switch try decode(file, importID: id, isCancelled) {
            case .made(let made):
                for line in Remarks.lines(made) {
                    log(LogLine(line.level, line.sentence, line.fields + [("ASSET_ID", asset.id)]))
                }
                return try place(made, of: asset)
            case .failed(let problem): first = first ?? problem
            case .none: continue
            }
        }
        guard let problem = first else {
            if asset.preview.path != nil {
                // The catalog promised one, and nothing that could show it is whole.
                try tell(
                    Problem(.notFound, "The preview is gone, and its original is not as it was imported."), of: asset)
            }
            return damages.isEmpty ? .nothing : .damaged
        }
        try tell(problem, of: asset)
        return .failed(problem)
    }

    private func trying<Result>(_ body: () throws(Problem) -> Result) throws(Stop) -> Result {
        do throws(Problem) { return try body() } catch { throw .problem(error) }
    }

    // MARK: The original

    /// - Returns: nil when it is not as it was imported.
    private func read(
        _ resource: Resource, _ isCancelled: () -> Bool, _ damages: inout [Damage]
    ) throws(Stop) -> StagedResource? {
        let name = SafeText.of(resource.path)
        do throws(CopyFailure) {
            let file: Descriptor
            do throws(Errno) { file = try library.root.openForReading(resource.path) } catch {
                throw .destination(error)
            }
            let stamp: FileStamp
            do throws(Errno) { stamp = try file.status().stamp } catch { throw .destination(error) }
            let content = try readBack(file, isCancelled: isCancelled)
            guard content.sha256 == resource.sha256 else {
                damages.append(
                    Damage(
                        kind: "changed", path: resource.path,
                        sentence: "\(name) no longer holds the bytes that were imported."))
                return nil
            }
            return StagedResource(
                role: resource.role, source: resource.path, sourceStamp: stamp, staged: resource.path,
                sha256: content.sha256, size: content.byteCount, device: stamp.device, inode: stamp.inode)
        } catch {
            switch error {
            case .cancelled: throw .cancelled
            case .source(let errno), .destination(let errno):
                let problem = Problem.library(resource.path, errno, doing: "read")
                if problem.code.isOutage { throw .problem(problem) }
                let isMissing = [.noEntry, .notDirectory].contains(errno)
                damages.append(
                    Damage(
                        kind: isMissing ? "missing" : "unreadable", path: resource.path,
                        sentence: isMissing ? "\(name) is not in the library." : problem.whatHappened))
                return nil
            }
        }
    }

    // MARK: The picture

    private func decode(
        _ file: StagedResource, importID: String, _ isCancelled: @escaping () -> Bool
    ) throws(Stop) -> PreviewStep.Result {
        let staging = library.previewStaging(of: importID)
        try trying { () throws(Problem) in
            if !library.hasPreviewsElsewhere { try library.requireRoom(for: spec.mostBytes) }
            try onLibrary(staging, doing: "make") { () throws(Errno) in
                try library.root.makeFolders(at: staging, mode: 0o700)
            }
        }
        do throws(ImportEnded) {
            let inspections = try InspectStep(
                library: library, decoders: decoders, isCancelled: isCancelled, log: log
            ).run([file])
            let result = try PreviewStep(
                library: library, decoders: decoders, staging: staging, spec: spec, policy: .keep,
                isCancelled: isCancelled
            ).run([file], inspections)
            // Not the picture's trouble, but that of every one.
            if case .failed(let problem) = result, problem.isOfOnePlace { throw ImportEnded(.outage(problem)) }
            return result
        } catch {
            switch error.outcome {
            case .ended(_, let problem): return .failed(problem)
            case .outage(let problem), .tryLater(let problem): throw .problem(problem)
            default: throw .cancelled
            }
        }
    }

    private func removeStaging(of importID: String) {
        do throws(Errno) { try library.removeStaging(of: importID) } catch _ {}  // the sweep finds it
    }

    // MARK: The catalog

    /// The line first, then the name, then the catalog: whoever dies in between leaves at most a preview that nobody asks
    /// for, and the next run makes it again.
    private func place(_ made: StagedPreview, of asset: Asset) throws(Stop) -> Outcome {
        let made = lacking(made, of: asset)
        var preview = made.preview
        preview.renditions = made.renditions
        let path = LibraryLayout.preview(of: asset.id)
        let line = try announce(preview, of: asset)
        var named: [Path] = []
        do throws(MoveFailure) {
            for move in made.moves {
                try name(move, of: asset)
                named.append(move.final)
            }
        } catch {
            takeBack(named, of: asset)
            try trying { () throws(Problem) in try store.closeJournal(line, outcome: "failed") }
            switch error {
            case .problem(let problem): throw .problem(problem.isOfOnePlace ? problem.ofPreview : problem)
            case .nameTaken: return .nothing  // a file that joined meanwhile brought one
            }
        }
        let isThere = try trying { () throws(Problem) in try store.set(preview, of: asset.id, journal: line) }
        if isThere { return .made }
        for one in preview.paths + [path] {
            do throws(Errno) { try library.root.unlink(one) } catch _ {}  // deleted meanwhile; the sweep finds it
        }
        return .nothing
    }

    /// A half of them would be in the way of whatever joins the asset later and brings its own.
    private func takeBack(_ named: [Path], of asset: Asset) {
        do throws(Problem) {
            let wanted = Set(try store.asset(asset.id)?.preview.paths ?? [])
            for path in named where !wanted.contains(path) {
                try onLibrary(path, doing: "remove") { () throws(Errno) in try library.root.unlink(path) }
            }
        } catch _ {}  // what stopped them stops this, too, and is said; the next run replaces what is left
    }

    /// What of a preview and its renditions an asset lacks, and what it then has. Those that it has stay as they are.
    private func lacking(
        _ made: StagedPreview, of asset: Asset
    ) -> (preview: AssetPreview, renditions: [Rendition], moves: [CommitIntent.Move]) {
        let all = IntentBuilder.describe(.made(made), of: asset.id)
        let hasPreview = asset.preview.path.map { !isMissing($0) } ?? false
        let kept = asset.preview.renditions.filter { one in
            // Of those that are configured no longer, too, unless another one takes the name.
            (!spec.renditions.contains { $0.name == one.spec.name } || spec.renditions.contains(one.spec))
                && !isMissing(one.path)
        }
        let there = Set(kept.map(\.path) + (hasPreview ? [LibraryLayout.preview(of: asset.id)] : []))
        return (
            hasPreview ? asset.preview : all,
            kept + all.renditions.filter { !there.contains($0.path) },
            made.moves(of: asset.id).filter { !there.contains($0.final) }
        )
    }

    /// A file of this name that the catalog does not count on is one that was not finished, or a rendition as it was
    /// configured before: ours, and replaced.
    private func name(_ move: CommitIntent.Move, of asset: Asset) throws(MoveFailure) {
        let moves = FinalMoves(library: library, calls: .live)
        do throws(MoveFailure) { return try moves.perform([move]) } catch {
            guard case .nameTaken = error else { throw error }
        }
        do throws(Problem) {
            if try store.isBeingCommitted(move.final) { throw Problem(.conflict, "A preview is on its way.") }
            let present = try store.asset(asset.id)?.preview
            guard present == asset.preview || present?.paths.contains(move.final) != true || isMissing(move.final)
            else { throw Problem(.conflict, "A preview is there.") }
            try onLibrary(move.final, doing: "replace") { () throws(Errno) in try library.root.unlink(move.final) }
        } catch {
            throw error.code == .conflict ? .nameTaken(move.final) : .problem(error)
        }
        try moves.perform([move])
    }

    /// Not there, or empty: what cannot be looked at is taken for both, and then cannot be replaced either.
    private func isMissing(_ path: Path) -> Bool {
        do throws(Errno) {
            let status = try library.root.status(of: path)
            return status.kind != .regular || status.stamp.size == 0
        } catch { return true }
    }

    private func tell(_ problem: Problem, of asset: Asset) throws(Stop) {
        // It has a preview, and only renditions cannot be made: that changes nothing of what there is.
        if let path = asset.preview.path, !isMissing(path) { return }
        let preview = AssetPreview(state: .failed, problem: problem)
        if preview == asset.preview { return }
        let line = try announce(preview, of: asset)
        _ = try trying { () throws(Problem) in try store.set(preview, of: asset.id, journal: line) }
    }

    private func announce(_ preview: AssetPreview, of asset: Asset) throws(Stop) -> Int64 {
        try trying { () throws(Problem) in
            let time = now()
            let line = try store.reserveJournal(
                what: "preview", job: nil, path: LibraryLayout.preview(of: asset.id), sha256: nil, detail: asset.id,
                at: time)
            try library.journal.append(.preview(preview, of: asset.id, id: line, at: time), at: time)
            return line
        }
    }
}
