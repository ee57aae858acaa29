import Files
import PhotoModel
import Synchronization

/// Drop folders that everybody may write to, although sources are to be moved or deleted there: `W_DROP_OPEN`.
///
/// Somebody could exchange a file between its import and its end; so nothing is disposed of in such a folder, and the
/// status says why.
final class OpenDrops: Sendable {
    private let found = Mutex<[Problem]>([])

    var problems: [Problem] { found.withLock { $0 } }

    /// One fstat(2) a drop folder.
    /// - Parameter silent: the names of those that do not answer, and are left alone.
    func look(at drops: [DropFolder], but silent: Set<String>) {
        let open = drops.filter { $0.afterImport != .keep && !silent.contains($0.name) && Self.isOpen($0.path) }
        let problems = open.map { drop in
            Problem(
                .dropOpen,
                "The drop folder \(SafeText.of(drop.path)) can be written by everybody; sources there are "
                    + "neither moved nor deleted.")
        }
        found.withLock { $0 = problems }
    }

    private static func isOpen(_ path: Path) -> Bool {
        do throws(Errno) {
            return try Folder(opening: path).status().isWorldWritable
        } catch {
            return false  // absent: the watcher says so
        }
    }
}
