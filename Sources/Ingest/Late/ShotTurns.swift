import PhotoModel
import Synchronization

/// The jobs that have found no other of their shot to wait for, and so have begun. Looking and beginning are one act: else
/// an older job that is tried again and a younger one could both find that nobody is ahead of them.
final class ShotTurns: Sendable {
    private let running = Mutex<Set<Job.ID>>([])

    /// - Parameter look: says whom the job has to wait for, given who has begun. One indexed look-up, under the lock.
    /// - Returns: what it says; with nil the job has begun.
    func begin(
        _ job: Job.ID, unless look: (_ running: Set<Job.ID>) throws(Problem) -> Job.ID?
    ) throws(Problem) -> Job.ID? {
        try running.withLock { running throws(Problem) in
            let other = try look(running)
            if other == nil { running.insert(job) }
            return other
        }
    }

    /// To be called when the job's outcome is recorded.
    func end(_ job: Job.ID) { running.withLock { _ = $0.remove(job) } }
}
