import Control
import PhotoModel
import Store

/// Lets those who follow the events know how jobs are, whoever changed them.
struct JobNews: Sendable {
    let store: Store
    let hub: EventHub
    let log: Log

    /// Of more new jobs than this at once only the first are told one by one; the batch's event counts them all.
    private static let most = 100

    func tell(_ jobs: [Job.ID]) {
        for id in jobs.prefix(Self.most) {
            do throws(Problem) {
                guard let job = try store.job(id) else { continue }
                hub.publish(
                    .job(
                        id: id, batch: job.batch, drop: job.drop, state: job.state, problem: job.problem,
                        asset: job.asset))
            } catch {
                return log(LogLine(.warning, error, [("JOB_ID", String(id))]))
            }
        }
        guard jobs.count > Self.most, let last = jobs.last else { return }
        // Not being able to look one up costs one event of many.
        if let batch = try? store.job(last)?.batch { hub.publish(.batch(id: batch)) }
    }
}
