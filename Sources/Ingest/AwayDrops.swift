import Files
import PhotoModel
import Synchronization

/// Where queued photos wait for a filesystem that is not there at the moment: a card that was pulled, a share that is
/// not mounted. What looks like a deleted file on a bare mount point is not taken for one.
final class AwayDrops: Sendable {
    struct Place: Hashable, Sendable {
        var drop: String
        var root: Path
        var filesystem: FilesystemID
    }

    /// Longer than the minute within which a retry keeps the daemon from calling itself idle: it waits for a person.
    static let gap = Duration.seconds(90)

    /// With one file of each, which tells below the root where the filesystem was.
    private let places = Mutex<[Place: SettledFile]>([:])

    var all: Set<Place> { places.withLock { Set($0.keys) } }

    /// - Returns: whether this is news.
    func add(_ place: Place, _ file: SettledFile) -> Bool {
        places.withLock { $0.updateValue(file, forKey: place) == nil }
    }

    func remove(_ place: Place) { places.withLock { $0[place] = nil } }

    /// Whether nobody waits for it any more: it is back, or another medium is in its slot, which it never will be.
    func isOver(_ place: Place) -> Bool {
        guard let file = places.withLock({ $0[place] }), let relative = file.path.below(place.root) else { return true }
        do throws(Errno) {
            return file.isHome(relative, in: try Folder(opening: place.root))
        } catch {
            return false  // still away
        }
    }
}
