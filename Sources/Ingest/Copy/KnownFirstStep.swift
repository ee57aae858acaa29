import Files
import PhotoModel
import Store

/// Reads a group that the library may hold already before anything is written: a card that was put in again is mounted
/// anew, so that all of it is handed over once more, and most of it would be copied only to be found a duplicate.
///
/// What comes of it is decided by ``DuplicateStep`` as for copies. Here is only a guess, by name and size, whether reading
/// first is likely to spare the copy; a wrong one costs a second reading.
struct KnownFirstStep {
    let store: Store
    let job: Job
    /// Called with the file at hand and the bytes of the group read so far.
    let progress: (Path, Int64) -> Void
    let isCancelled: () -> Bool

    /// - Parameter root: the drop folder or import root that the files lie below.
    /// - Returns: nil when a photo or video of the group is likely new, or there is none in it.
    func run(root: Path) throws(ImportEnded) -> [HashedFile]? {
        let shots = job.files.filter { DuplicateStep.shotRoles.contains($0.role) }
        guard !shots.isEmpty else { return nil }
        for file in shots {
            let mayBeKnown = try endingImport { () throws(Problem) in try store.mayHold(file, of: job) }
            guard mayBeKnown else { return nil }
        }
        var hashed: [HashedFile] = []
        var done: Int64 = 0
        for file in job.files {
            do throws(ImportEnded) {
                hashed.append(try hash(file, root: root, behind: done))
            } catch {
                throw error.about(file.path)
            }
            done += file.stamp.size
        }
        return hashed
    }

    private func hash(_ file: SettledFile, root: Path, behind done: Int64) throws(ImportEnded) -> HashedFile {
        let source = try OpenSource.open(file, root: root)
        let content: Content
        var read: Int64 = 0
        do throws(CopyFailure) {
            content = try Files.hash(
                source.descriptor,
                progress: { bytes in
                    read = bytes
                    progress(file.path, done + bytes)
                },
                // What grows as fast as it is read has no end.
                isCancelled: { read > file.stamp.size || isCancelled() })
        } catch {
            switch error {
            case .source(let errno), .destination(let errno): throw ImportEnded(.source(file.path, errno))
            case .cancelled: throw ImportEnded(read > file.stamp.size ? .sourceChanged : .cancelled)
            }
        }
        try source.checkUnchanged(content)
        return HashedFile(role: file.role, source: file.path, sha256: content.sha256)
    }
}

/// One file of a group and what it holds, wherever that was read.
struct HashedFile: Sendable {
    var role: Role
    /// Absolute.
    var source: Path
    var sha256: SHA256Digest

    init(role: Role, source: Path, sha256: SHA256Digest) {
        self.role = role
        self.source = source
        self.sha256 = sha256
    }

    init(_ staged: StagedResource) { self.init(role: staged.role, source: staged.source, sha256: staged.sha256) }
}
