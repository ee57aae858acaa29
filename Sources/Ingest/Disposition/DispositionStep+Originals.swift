import Files
import PhotoModel
import Store

/// Which original stands for a source. None does when its asset was taken out of the library meanwhile, or the original by
/// somebody; nor when the source is that very original, by a link or a mount that came after the configuration was
/// checked.
extension DispositionStep {
    /// - Parameter place: where the source is now, below its drop folder: under its name, or claimed.
    /// - Returns: nil when it has to wait: the original is not on the mirror yet, or the service stops.
    /// - Throws: `E_DISPOSITION` when the source has to be left.
    func original(
        of file: SettledFile, at place: Path, job: Job, drop: DropFolder, _ act: Act
    ) throws(Problem) -> Resource? {
        let name = SafeText.of(file.path)
        guard let id = job.asset, let asset = try store.asset(id) else {
            throw Problem(
                .disposition, "\(name) was left: what was imported of it is no longer in the catalog.",
                todo: "Nothing; it is imported again when its job is retried.")
        }
        let source: FileStamp
        let known = asset.resources.first { $0.sourcePath == file.path && $0.size == file.stamp.size }?.sha256
        let digest: SHA256Digest
        do throws(Errno) {
            let opened = try Folder(opening: drop.path).openForReading(place)
            source = try opened.status().stamp
            // The catalog does not name the source of a duplicate, whose files may be those of several assets.
            if let known {
                digest = known
            } else {
                guard let found = try hashUnlessStopping(opened) else { return nil }
                digest = found
            }
        } catch {
            throw Self.failed(act, file, error)
        }
        var isBehind = false
        for (asset, resource) in try store.resources(withHash: digest) {
            guard try stands(resource, for: source, named: name) else { continue }
            let isSafe = needsMirror() ? try store.isMirrored(asset) : true
            if isSafe { return resource }
            isBehind = true
        }
        if isBehind { return nil }
        throw Problem(
            .disposition, "\(name) was left: its original is no longer in the library.",
            todo: "Run `photospool verify`; drop the photo again to have it back.")
    }

    private func stands(_ resource: Resource, for source: FileStamp, named name: String) throws(Problem) -> Bool {
        let original: FileStamp
        do throws(Errno) {
            original = try library.root.status(of: resource.path).stamp
        } catch {
            if error == .noEntry || error == .notDirectory { return false }
            throw .library(resource.path, error, doing: "look at")
        }
        guard original.device != source.device || original.inode != source.inode else {
            throw Problem(
                .disposition,
                "\(name) is itself an original of the library, to which the drop folder leads; it was left.",
                todo: "Correct the link or mount that makes the library appear in the drop folder.")
        }
        return original.size == resource.size
    }

    private func hashUnlessStopping(_ file: borrowing Descriptor) throws(Errno) -> SHA256Digest? {
        do throws(CopyFailure) {
            return try hash(file, isCancelled: isStopping).sha256
        } catch {
            switch error {
            case .source(let errno), .destination(let errno): throw errno
            case .cancelled: return nil
            }
        }
    }
}
