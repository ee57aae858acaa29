internal import ControlAPI
internal import PhotoModel

/// What is known while watching: the last status, and what events said since. No terminal and no socket here.
struct WatchModel {
    /// A job that came to its end.
    struct Outcome: Equatable {
        var job: Int64
        var state: String
        var error: ErrorBody?
    }

    private(set) var status: StatusBody?
    /// Imports under way, by job.
    private(set) var flights: [Int64: ImportingBody] = [:]
    private(set) var names: [Int64: String] = [:]
    private(set) var batch: BatchProgressBody?
    /// Jobs that ended since watching began, by state.
    private(set) var tally: [String: Int] = [:]
    /// Whether something ended or began since the last status, so that a new one is worth asking for.
    private(set) var isStale = true

    /// Failures since watching began, also such as fell into a time without connection.
    var failed: Int { max(tally["failed"] ?? 0, (status?.queue.failed ?? 0) - failedBefore) }
    private var failedBefore = 0

    mutating func take(_ status: StatusBody) {
        // The first one: events that came earlier are counted in it already.
        if self.status == nil { failedBefore = status.queue.failed - (tally["failed"] ?? 0) }
        self.status = status
        batch = status.batch
        flights = [:]
        for flight in status.importing { note(flight) }
        isStale = false
    }

    /// - Returns: how a job ended, when the event says that one did.
    mutating func take(_ event: EventBody) -> Outcome? {
        switch event {
        case .progress(let flight): note(flight)
        case .batch(let body):
            isStale = true
            batch = BatchProgressBody(id: body.id, done: body.done, total: body.total, failed: body.failed)
        case .state, .reset: isStale = true
        case .job(let body):
            isStale = true
            guard let state = JobState(rawValue: body.state), state.isTerminal else {
                if body.state == JobState.queued.rawValue { flights[body.id] = nil }
                return nil
            }
            flights[body.id] = nil
            tally[body.state, default: 0] += 1
            return Outcome(job: body.id, state: body.state, error: body.error)
        }
        return nil
    }

    /// The name of a job's file, once, for the line that says how it ended.
    mutating func takeName(of job: Int64) -> String? { names.removeValue(forKey: job) }

    private mutating func note(_ flight: ImportingBody) {
        flights[flight.jobID] = flight
        names[flight.jobID] = SafeText.of(Path(flight.path).name)
    }
}

extension BatchProgressBody {
    init(id: Int64, done: Int, total: Int, failed: Int) {
        self.init(
            Batch(
                id: id, drop: "", createdAt: .init(seconds: 0), closedAt: nil, total: total, done: done, failed: failed)
        )
    }
}
