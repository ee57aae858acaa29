import Files
import PhotoModel
import Synchronization

/// Staging folders of imports that are over and could not be removed: a moment without free descriptors, a disk that
/// said no. Tried again with every pulse; what is left when the process ends is the sweep's.
final class Leftovers: Sendable {
    private let ids = Mutex<Set<String>>([])

    func add(_ importID: String) { ids.withLock { _ = $0.insert(importID) } }

    func remove(from library: Library) {
        for id in ids.withLock({ $0 }) {
            do throws(Errno) {
                try library.removeStaging(of: id)
                ids.withLock { _ = $0.remove(id) }
            } catch {
                return  // still no; the others can wait as well
            }
        }
    }
}
