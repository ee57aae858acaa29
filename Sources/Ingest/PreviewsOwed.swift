package import PhotoModel
import Synchronization

/// That previews could not be written although their originals could, as long as it is so: the originals are imported, and
/// the previews are made once there is room.
package final class PreviewsOwed: Sendable {
    /// With these codes an asset waits for nothing but a place to write its preview to.
    package static let codes: [Problem.Code] = [.libraryFull, .libraryIO, .libraryPermission]

    private let state = Mutex<(problem: Problem?, count: Int)>((nil, 0))

    package init() {}

    package func note(_ problem: Problem) { state.withLock { $0 = (problem, $0.count + 1) } }

    /// Why the last of them could not be written; nil when all are there.
    package var problem: Problem? { state.withLock { $0.problem } }

    /// Grows with each that is noted.
    package var count: Int { state.withLock { $0.count } }

    /// All were made but those that were noted since `count`.
    package func settle(upTo count: Int) { state.withLock { if $0.count == count { $0.problem = nil } } }
}
