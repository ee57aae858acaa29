import Files
import PhotoModel

/// A source, opened to be read from its first byte to its last as the one version that settled.
struct OpenSource: ~Copyable {
    let descriptor: Descriptor
    let stamp: FileStamp
    private let path: Path

    /// Follows no link and waits for nobody.
    ///
    /// - Parameter root: the drop folder or import root that `file` lies below.
    /// - Throws: ``ImportOutcome/sourceChanged`` when another version is there now; ``ImportOutcome/sourceAway(filesystem:)``.
    static func open(_ file: SettledFile, root: Path) throws(ImportEnded) -> OpenSource {
        guard let relative = file.path.below(root) else {
            throw ImportEnded(
                Problem(
                    .sourceVanished,
                    "\(SafeText.of(file.path)) no longer lies in its drop folder, which is "
                        + "\(SafeText.of(root)) now.", todo: "Nothing; what is in the folder now is found by itself."))
        }
        let folder: Folder
        do throws(Errno) {
            folder = try Folder(opening: root)
        } catch {
            throw ImportEnded(.sourceAway(filesystem: file.filesystem))
        }
        let source: OpenSource
        do throws(Errno) {
            source = try open(relative, in: folder, path: file.path)
        } catch {
            if error == .noEntry || error == .notDirectory, !file.isHome(relative, in: folder) {
                throw ImportEnded(.sourceAway(filesystem: file.filesystem))
            }
            throw ImportEnded(.source(file.path, error, doing: "open"))
        }
        let stamp = source.stamp
        // The device number is left out: it may change when a share is mounted again.
        guard stamp.size == file.stamp.size, stamp.mtime == file.stamp.mtime, stamp.inode == file.stamp.inode else {
            throw ImportEnded(.sourceChanged)
        }
        return source
    }

    private static func open(
        _ relative: Path, in folder: borrowing Folder, path: Path
    ) throws(Errno) -> OpenSource {
        let descriptor = try folder.openForReading(relative)
        let stamp = try descriptor.status().stamp
        return OpenSource(descriptor: descriptor, stamp: stamp, path: path)
    }

    /// Grown, shortened or rewritten while it was read: what was read is no version of this file.
    func checkUnchanged(_ content: Content) throws(ImportEnded) {
        let after = try onSource(path, doing: "look at") { () throws(Errno) in try descriptor.status().stamp }
        guard after == stamp, content.byteCount == stamp.size else { throw ImportEnded(.sourceChanged) }
    }
}
