import Files
import PhotoModel
import Preview

/// Reads a source where it lies, as an import reads its copy: nothing is written, and the source stays as it is.
struct SourceReading {
    let decoders: DecoderPool
    let isCancelled: () -> Bool
    let log: Log

    /// A file of a shot, and what it says of itself. Without `hashing` its digest is all zeros.
    func read(
        _ file: SettledFile, root: Path, hashing: Bool
    ) throws(ImportEnded) -> (resource: StagedResource, inspection: Inspection) {
        let source = try OpenSource.open(file, root: root)
        var digest = SHA256Digest(bytes: [UInt8](repeating: 0, count: 32))
        if hashing {
            let content = try hash(source, of: file)
            try source.checkUnchanged(content)
            digest = content.sha256
        }
        let resource = StagedResource(
            role: file.role, source: file.path, sourceStamp: source.stamp, staged: file.path, sha256: digest,
            size: source.stamp.size, device: source.stamp.device, inode: source.stamp.inode)
        let inspection = try InspectStep.inspect(
            source.descriptor, of: resource, decoders: decoders, isCancelled: isCancelled, log: log)
        return (resource, inspection)
    }

    private func hash(_ source: borrowing OpenSource, of file: SettledFile) throws(ImportEnded) -> Content {
        var read: Int64 = 0
        do throws(CopyFailure) {
            return try Files.hash(
                source.descriptor, progress: { read = $0 },
                // What grows as fast as it is read has no end.
                isCancelled: { read > file.stamp.size || isCancelled() })
        } catch {
            switch error {
            case .source(let errno), .destination(let errno): throw ImportEnded(.source(file.path, errno))
            case .cancelled: throw ImportEnded(read > file.stamp.size ? .sourceChanged : .cancelled)
            }
        }
    }
}

extension ImportEnded {
    /// In words, for a file that was only looked at.
    func problem(of path: Path) -> Problem {
        switch outcome {
        case .ended(_, let problem), .tryLater(let problem), .outage(let problem), .doesNotFit(let problem),
            .mayStillArrive(let problem, _), .orphan(let problem, _), .unresolved(let problem):
            problem
        case .sourceChanged: Problem(.sourceChanged, "\(SafeText.of(path)) changed while it was read.")
        case .sourceAway: Problem(.sourceVanished, "\(SafeText.of(path)) is not there any more.")
        case .imported, .duplicate, .waitsForShot, .parted, .alone, .cancelled, .stopped:
            Problem(.busy, "\(SafeText.of(path)) was not read to its end.", todo: "Ask again.")
        }
    }
}
