import Files
package import PhotoModel
package import Preview
package import Store

/// Takes a shot into the catalog that lies in the library already. Its files stay where they are and as they are: they are
/// read, and only a preview is written, into a folder of our own.
///
/// They are read past the cache, for what the catalog says of them is compared with the medium for years. Who changes a
/// file meanwhile makes it wait for the next run.
package struct Adoption: Sendable {
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

    /// A file of the library that the catalog does not list.
    package struct Stray: Sendable {
        /// Relative to the library.
        package var path: Path
        package var role: Role

        package init(path: Path, role: Role) {
            self.path = path
            self.role = role
        }
    }

    /// What became of one file that was not adopted.
    package struct Refusal: Sendable {
        package enum Kind: String, Sendable { case duplicate, moved, changed, unreadable, unsupported, alone }
        package let kind: Kind
        package let path: Path
        package let sentence: String
    }

    package struct Outcome: Sendable {
        package var adopted: [Asset.ID] = []
        package var refused: [Refusal] = []
    }

    enum Stop: Error {
        case cancelled
        case problem(Problem)
    }

    /// - Parameters:
    ///   - shot: the leading file first; one by one, parted where their metadata shows that they are several shots.
    ///   - asset: the asset that the catalog has of files of this stem in this folder: what cannot be a shot by itself joins
    ///     it.
    /// - Returns: nil when it was cancelled; nothing of the file at work is then in the catalog.
    /// - Throws: what any file would meet: library, state or decoder are away.
    package func run(
        _ shot: [Stray], beside asset: Asset.ID?, isCancelled: @escaping () -> Bool
    ) throws(Problem) -> Outcome? {
        var outcome = Outcome()
        do throws(Stop) {
            var files: [StagedResource] = []
            for stray in shot {
                if let file = try read(stray, isCancelled, &outcome) { files.append(file) }
            }
            files = try withoutKnown(files, &outcome)
            let inspected = try inspect(files, isCancelled, &outcome)
            for part in parts(inspected, beside: asset, &outcome) {
                if let id = try adopt(part, isCancelled, &outcome) { outcome.adopted.append(id) }
            }
            return outcome
        } catch {
            switch error {
            case .cancelled: return nil
            case .problem(let problem): throw problem
            }
        }
    }

    func trying<Result>(_ body: () throws(Problem) -> Result) throws(Stop) -> Result {
        do throws(Problem) { return try body() } catch { throw .problem(error) }
    }

    // MARK: Reading

    private func read(
        _ stray: Stray, _ isCancelled: () -> Bool, _ outcome: inout Outcome
    ) throws(Stop) -> StagedResource? {
        let shown = SafeText.of(stray.path)
        do throws(CopyFailure) {
            let file: Descriptor
            do throws(Errno) { file = try library.root.openForReading(stray.path) } catch { throw .destination(error) }
            let before: FileStamp
            do throws(Errno) { before = try file.status().stamp } catch { throw .destination(error) }
            let content = try readBack(file, isCancelled: isCancelled)
            guard content.byteCount == before.size, stamp(of: stray.path) == before else {
                outcome.refused.append(
                    Refusal(
                        kind: .changed, path: stray.path,
                        sentence: "\(shown) changed while it was read; the next run looks at it again."))
                return nil
            }
            return StagedResource(
                role: stray.role, source: library.path / stray.path, sourceStamp: before, staged: stray.path,
                sha256: content.sha256, size: content.byteCount, device: before.device, inode: before.inode)
        } catch {
            switch error {
            case .cancelled: throw .cancelled
            case .source(let errno), .destination(let errno):
                let problem = Problem.library(stray.path, errno, doing: "read")
                if problem.code.isOutage { throw .problem(problem) }
                outcome.refused.append(
                    Refusal(kind: .unreadable, path: stray.path, sentence: problem.whatHappened))
                return nil
            }
        }
    }

    /// nil when it is not there any more, or cannot be looked at.
    func stamp(of path: Path) -> FileStamp? {
        do throws(Errno) { return try library.root.status(of: path).stamp } catch { return nil }
    }

    /// An original's bytes are listed once. Sidecars are often the same, and say nothing.
    private func withoutKnown(
        _ files: [StagedResource], _ outcome: inout Outcome
    ) throws(Stop) -> [StagedResource] {
        var rest: [StagedResource] = []
        for file in files {
            guard let twin = try twin(of: file, among: rest) else {
                rest.append(file)
                continue
            }
            let isThere = stamp(of: twin) != nil
            let (shown, other) = (SafeText.of(file.staged), SafeText.of(twin))
            outcome.refused.append(
                Refusal(
                    kind: isThere ? .duplicate : .moved, path: file.staged,
                    sentence: isThere
                        ? "\(shown) holds the same bytes as \(other)."
                        : "\(shown) holds the bytes of \(other), which is not there any more; move it back."))
        }
        return rest
    }

    private func twin(of file: StagedResource, among others: [StagedResource]) throws(Stop) -> Path? {
        guard DuplicateStep.shotRoles.contains(file.role) else { return nil }
        let known = try trying { () throws(Problem) in try store.resources(withHash: file.sha256) }
        return known.first?.resource.path ?? others.first { $0.sha256 == file.sha256 }?.staged
    }

    private func inspect(
        _ files: [StagedResource], _ isCancelled: @escaping () -> Bool, _ outcome: inout Outcome
    ) throws(Stop) -> [Member] {
        let step = InspectStep(library: library, decoders: decoders, isCancelled: isCancelled, log: log)
        var members: [Member] = []
        for file in files {
            do throws(ImportEnded) {
                guard let inspection = try step.run([file]).first else { continue }
                members.append(Member(file: file, inspection: inspection))
            } catch {
                try refuse(file, error, &outcome)
            }
        }
        return members
    }

    private func refuse(
        _ file: StagedResource, _ ended: ImportEnded, _ outcome: inout Outcome
    ) throws(Stop) {
        switch ended.outcome {
        case .cancelled, .stopped: throw .cancelled
        case .outage(let problem), .tryLater(let problem): throw .problem(problem)
        case .ended(_, let problem):
            outcome.refused.append(
                Refusal(
                    kind: .unsupported, path: file.staged,
                    sentence: problem.whatHappened.replacing(SafeText.of(file.source), with: SafeText.of(file.staged))))
        default: break  // the others are about sources, of which there are none
        }
    }
}
