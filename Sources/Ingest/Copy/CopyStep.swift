import Files
import PhotoModel

/// From the source to a durable, verified copy in staging: open without following links, copy and hash in one pass,
/// fsync on the descriptor that wrote, look at the source again, read back past the page cache.
struct CopyStep {
    let library: Library
    let staging: Path
    let verify: ImportSettings.Verify
    let now: Timestamp
    /// Called with the bytes done so far of the file at hand; tells whether the import is to go on.
    let progress: (Path, Int64) -> Void
    let isCancelled: () -> Bool

    /// - Parameters:
    ///   - number: names the staged file.
    ///   - root: the drop folder or import root that `file` lies below.
    func run(_ file: SettledFile, number: Int, root: Path) throws(ImportEnded) -> StagedResource {
        let source = try OpenSource.open(file, root: root)
        let staged = staging / String(number)
        let copy = try copy(source, of: file, to: staged)
        try source.checkUnchanged(copy.content)
        if verify == .readback { try readBackAndCompare(staged, against: copy) }
        return StagedResource(
            role: file.role, source: file.path, sourceStamp: source.stamp,
            touched: lastTouch(of: source.descriptor, now: now),
            hasHole: hasHole(source.descriptor, size: source.stamp.size), staged: staged, sha256: copy.content.sha256,
            size: copy.content.byteCount, device: copy.stamp.device, inode: copy.stamp.inode)
    }

    private struct Copy {
        var content: Content
        var stamp: FileStamp
    }

    private func copy(
        _ source: borrowing OpenSource, of file: SettledFile, to staged: Path
    ) throws(ImportEnded) -> Copy {
        let target = try endingImport { () throws(Problem) in
            try onLibrary(staged, doing: "create") { () throws(Errno) in
                try library.root.create(staged, mode: library.fileMode, gid: library.groupID)
            }
        }
        let content: Content
        do throws(CopyFailure) {
            content = try Files.copy(
                from: source.descriptor, to: target, size: source.stamp.size, progress: { progress(file.path, $0) },
                isCancelled: isCancelled)
        } catch {
            switch error {
            case .source(let errno): throw ImportEnded(.source(file.path, errno))
            case .destination(let errno): throw ImportEnded(.library(staged, errno, doing: "write"))
            case .cancelled: throw ImportEnded(.cancelled)
            }
        }
        do throws(Errno) {
            let stamp = try target.status().stamp
            try target.makeDurable()
            return Copy(content: content, stamp: stamp)
        } catch {
            throw ImportEnded(.library(staged, error, doing: "make durable"))
        }
    }

    /// Reads what the medium holds, not what memory remembers of it.
    private func readBackAndCompare(_ staged: Path, against copy: Copy) throws(ImportEnded) {
        let found: Content
        let descriptor = try endingImport { () throws(Problem) in
            try onLibrary(staged, doing: "open") { () throws(Errno) in try library.root.openForReading(staged) }
        }
        do throws(CopyFailure) {
            found = try readBack(descriptor, isCancelled: isCancelled)
        } catch {
            switch error {
            case .source(let errno), .destination(let errno):
                throw ImportEnded(.library(staged, errno, doing: "read back"))
            case .cancelled: throw ImportEnded(.cancelled)
            }
        }
        guard found == copy.content else {
            throw ImportEnded(
                Problem(
                    .verifyMismatch,
                    "The copy read back from the library's disk (SHA-256 \(found.sha256.hex)) differs from what was "
                        + "written (\(copy.content.sha256.hex))."))
        }
    }
}
