import Files
import Glibc
import PhotoModel

/// Word of every mount that comes or goes: a card is noticed the moment it is mounted.
final class MountNews {
    private let mounts: Mounts
    private var known: Set<Mount>
    var descriptor: Int32 { mounts.descriptor.rawValue }

    /// nil without /proc: drop folders are then looked for every few seconds only.
    init?() {
        do throws(Errno) {
            mounts = try Mounts()
            known = Set(try mounts.read())
        } catch {
            return nil
        }
    }

    /// The mount points at which something came or went since it was last asked; nil when nobody can say.
    func changes() -> Set<Path>? {
        do throws(Errno) {
            let now = Set(try mounts.read())
            defer { known = now }
            return Set(known.symmetricDifference(now).map(\.point))
        } catch {
            return nil
        }
    }

    /// Where a held folder lies, links resolved: what the mount table calls it.
    static func realPath(of folder: borrowing Folder) -> Path? {
        linkTarget(of: Path("/proc/self/fd/\(folder.descriptor.rawValue)"))
    }
}
