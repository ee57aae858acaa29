/// When a job that failed for a passing reason is tried again.
package enum RetrySchedule {
    /// The gap before the first retry; it doubles with each further one.
    package static let firstGap = Duration.seconds(5)
    /// No gap is longer.
    package static let longestGap = Duration.seconds(3600)

    /// The gap after attempt number `attempt` (1 is the first), stretched or shrunk by up to a fifth so that jobs that
    /// failed together do not come back together.
    ///
    /// - Parameter jitter: -1...1, drawn anew for each call; outside that range it counts as the nearer end.
    package static func gap(afterAttempt attempt: Int, jitter: Double) -> Duration {
        let doublings = min(max(attempt, 1) - 1, 10)
        let seconds = min(5.0 * Double(1 << doublings), 3600)
        return .seconds(seconds * (1 + 0.2 * min(max(jitter, -1), 1)))
    }
}
