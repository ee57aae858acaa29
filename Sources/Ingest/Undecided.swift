import PhotoModel
import Synchronization

/// The bytes of imports that could neither be committed nor taken back. Until recovery has decided, nobody else may
/// import the same ones: both would be stored.
final class Undecided: Sendable {
    private let problems = Mutex<[SHA256Digest: Problem]>([:])

    /// - Parameter problem: what keeps the import from being decided.
    func add(_ digests: [SHA256Digest], _ problem: Problem) {
        problems.withLock { problems in
            for digest in digests { problems[digest] = problem }
        }
    }

    /// Why these bytes have to wait; nil when they need not.
    func problem(of digests: [SHA256Digest]) -> Problem? {
        let known = problems.withLock { $0 }
        return digests.lazy.compactMap { known[$0] }.first
    }

    func clear() { problems.withLock { $0 = [:] } }
}
