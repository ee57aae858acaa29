import PhotoModel
import Synchronization

/// Photos that wait for room in the library while smaller ones go on. In memory only: the next start finds out anew.
final class Crowded: Sendable {
    struct Waiting: Sendable {
        var drop: String
        /// Beside the reserve.
        var bytes: Int64
        var problem: Problem
    }

    private let jobs = Mutex<[Job.ID: Waiting]>([:])

    var all: [Job.ID: Waiting] { jobs.withLock { $0 } }

    /// Why the one waits that would need the least.
    var problem: Problem? { all.values.min { $0.bytes < $1.bytes }?.problem }

    func add(_ job: Job.ID, _ waiting: Waiting) { jobs.withLock { $0[job] = waiting } }
    func remove(_ job: Job.ID) { jobs.withLock { $0[job] = nil } }
}
