import Files
import PhotoModel
import Preview

/// The asset's preview, made from the best photo of its group, durable in staging.
struct PreviewStep {
    let library: Library
    let decoders: DecoderPool
    /// Where the preview is staged: ``Library/previewStaging(of:)``.
    let staging: Path
    let spec: PreviewSpec
    let policy: ImportSettings.OnPreviewFailure
    let isCancelled: () -> Bool
    /// Told when it begins to wait for memory or a decoder, and when it has both.
    var setWaiting: (Bool) -> Void = { _ in }

    /// Of files that an asset may be shown by.
    static let roles: Set<Role> = [.photo, .alternatePhoto, .video]

    enum Result: Sendable {
        case made(StagedPreview)
        /// The original is imported all the same.
        case failed(Problem)
        /// A kind without a picture in it.
        case none
    }

    func run(_ staged: [StagedResource], _ inspections: [Inspection]) throws(ImportEnded) -> Result {
        let candidates = zip(staged, inspections)
            .filter { Self.roles.contains($0.0.role) && $0.1.mediaType.previewRank < 9 }
            .sorted { $0.1.mediaType.previewRank < $1.1.mediaType.previewRank }
        guard !candidates.isEmpty else { return .none }
        var first: Problem?
        var damaged: [Path: Problem] = [:]
        for (resource, inspection) in candidates {
            do throws(PreviewFailed) {
                var made = try make(from: resource, inspection)
                made.passedOver = damaged
                return .made(made)
            } catch {
                switch error {
                case .ended(let end): throw end
                case .unwritable(let problem): return .failed(problem)
                case .problem(let problem):
                    first = first ?? problem
                    if problem.code.blamesFile { damaged[resource.source] = problem }
                }
            }
        }
        guard let problem = first else { return .none }
        switch policy {
        case .keep: return .failed(problem)
        case .strict: throw ImportEnded(.ended(.failed, problem))
        case .rollback:
            if problem.code.blamesFile { throw ImportEnded(.ended(.failed, problem)) }
            return .failed(problem)
        }
    }

    /// Why this candidate gave none: the import is over, the next candidate may do, or none will.
    private enum PreviewFailed: Error {
        case ended(ImportEnded)
        case problem(Problem)
        case unwritable(Problem)
    }

    private func make(
        from resource: StagedResource, _ inspection: Inspection
    ) throws(PreviewFailed) -> StagedPreview {
        let decoded = try decode(resource, inspection)
        do throws(Problem) {
            return try store(decoded, of: resource.source)
        } catch {
            // A place of its own that is full, or broken, keeps no original out.
            if library.hasPreviewsElsewhere, policy != .strict, error.isOfOneDisk {
                throw .unwritable(error.ofPreview)
            }
            throw .ended(ImportEnded(error))
        }
    }

    private func decode(
        _ resource: StagedResource, _ inspection: Inspection
    ) throws(PreviewFailed) -> DecodedPreview {
        let descriptor: Descriptor
        do throws(Problem) {
            descriptor = try onLibrary(resource.staged, doing: "open") { () throws(Errno) in
                try library.root.openForReading(resource.staged)
            }
        } catch {
            throw .ended(ImportEnded(error))
        }
        do throws(DecoderFailure) {
            return try decoders.preview(
                descriptor, size: resource.size, inspection: inspection, spec: spec,
                name: resource.source.name, setWaiting: setWaiting, isCancelled: isCancelled)
        } catch {
            switch error {
            case .cancelled: throw .ended(ImportEnded(.cancelled))
            case .problem(let problem) where problem.code.isOutage: throw .ended(ImportEnded(problem))
            case .problem(let problem): throw .problem(problem)
            }
        }
    }

    private func store(_ decoded: consuming DecodedPreview, of source: Path) throws(Problem) -> StagedPreview {
        let picture = try write(decoded, decoded.preview, as: "preview.jpg")
        var renditions: [(RenditionSpec, StagedPicture)] = []
        for (rendition, part) in zip(spec.renditions, decoded.renditions) {
            renditions.append((rendition, try write(decoded, part, as: rendition.name + ".jpg")))
        }
        return StagedPreview(
            source: source, picture: picture, renditions: renditions, isPartial: decoded.isPartial,
            warning: decoded.warning)
    }

    private func write(
        _ decoded: borrowing DecodedPreview, _ part: DecodedPreview.Part, as name: String
    ) throws(Problem) -> StagedPicture {
        let staged = staging / name
        let bytes: [UInt8]
        do throws(Errno) { bytes = try decoded.read(part) } catch {
            throw .library(staged, error, doing: "take over")
        }
        let digest = SHA256.digest(of: bytes)
        let stamp = try onLibrary(staged, doing: "write") { () throws(Errno) in
            if library.hasPreviewsElsewhere { try library.root.makeFolders(at: staging, mode: 0o700) }
            let file = try library.root.create(staged, mode: library.fileMode, gid: library.groupID)
            try file.write(bytes)
            let stamp = try file.status().stamp
            try file.makeDurable()
            return stamp
        }
        return StagedPicture(
            staged: staged, sha256: digest, byteCount: Int64(bytes.count), device: stamp.device, inode: stamp.inode,
            size: part.size)
    }
}
