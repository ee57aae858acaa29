import PhotoModel
import Synchronization

/// Drop folders whose filesystem is not there at the moment: a card that was pulled, a share that is not mounted. Their
/// jobs wait, without an attempt, and the other drops go on. What looks like a deleted file on a bare mount point is not
/// taken for one.
package final class AwayDrops: Sendable {
    private let expected = Mutex<[String: FilesystemID]>([:])

    package init() {}

    package var names: Set<String> { expected.withLock { Set($0.keys) } }

    /// - Parameter filesystem: the one that the drop's jobs were found on.
    func add(_ drop: String, filesystem: FilesystemID) { expected.withLock { $0[drop] = filesystem } }

    var all: [String: FilesystemID] { expected.withLock { $0 } }

    func remove(_ drop: String) { expected.withLock { $0[drop] = nil } }
}
