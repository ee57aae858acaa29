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

    private let places = Mutex<Set<Place>>([])

    var all: Set<Place> { places.withLock { $0 } }

    /// - Returns: whether this is news.
    func add(_ place: Place) -> Bool { places.withLock { $0.insert(place).inserted } }

    func remove(_ place: Place) { places.withLock { _ = $0.remove(place) } }
}
