package import PhotoModel

/// Keeps at most `width` imports in flight: as one ends, the next is claimed, so no job waits in memory. When
/// cancelled it claims no more, and returns once the imports in flight have rolled back.
package actor ImportWindow {
    package private(set) var inFlight: Set<Job.ID> = []  // read by the status page meanwhile: hence an actor

    package init() {}

    /// Returns when every lane has been told by `claim` that there is nothing more, or was cancelled.
    /// - Parameters:
    ///   - claim: waits for the next claimed job; nil ends the lane that asked.
    ///   - job: which job a claim is for.
    ///   - importing: brings it to its end, whichever; a failure is an outcome, so it throws nothing.
    package func run<Claim: Sendable>(
        width: Int,
        claim: @escaping @Sendable () async -> Claim?,
        job: @escaping @Sendable (Claim) -> Job.ID,
        importing: @escaping @Sendable (Claim) async -> Void
    ) async {
        await withDiscardingTaskGroup { group in
            for _ in 0..<width {
                group.addTask {
                    while !Task.isCancelled, let claim = await claim() {
                        await self.follow(job(claim)) { await importing(claim) }
                    }
                }
            }
        }
    }

    private func follow(_ job: Job.ID, _ importing: @Sendable () async -> Void) async {
        inFlight.insert(job)
        defer { inFlight.remove(job) }
        await importing()
    }
}
