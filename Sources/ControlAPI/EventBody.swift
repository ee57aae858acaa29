package import PhotoModel

/// One server-sent event of `GET /v1/events`: its name and what its `data` holds.
package enum EventBody: Hashable, Sendable {
    case job(JobEventBody)
    case batch(BatchBody)
    case progress(ImportingBody)
    case state(StateBody)
    /// Events were lost between the `Last-Event-ID` and now: read the status and the lists anew.
    case reset

    /// The `event:` field.
    package var name: String {
        switch self {
        case .job: "job"
        case .batch: "batch"
        case .progress: "progress"
        case .state: "state"
        case .reset: "reset"
        }
    }

    /// The `data:` field: JSON on one line.
    package func data() throws -> [UInt8] {
        switch self {
        case .job(let body): try JSON.encode(body)
        case .batch(let body): try JSON.encode(body)
        case .progress(let body): try JSON.encode(body)
        case .state(let body): try JSON.encode(body)
        case .reset: Array("{}".utf8)
        }
    }

    /// Nil for a name this version does not know: a newer daemon may send more.
    package init?(name: String, data: [UInt8]) throws {
        switch name {
        case "job": self = .job(try JSON.decode(JobEventBody.self, from: data))
        case "batch": self = .batch(try JSON.decode(BatchBody.self, from: data))
        case "progress": self = .progress(try JSON.decode(ImportingBody.self, from: data))
        case "state": self = .state(try JSON.decode(StateBody.self, from: data))
        case "reset": self = .reset
        default: return nil
        }
    }
}

/// A job went from one state to another.
package struct JobEventBody: Codable, Hashable, Sendable {
    package var id: Int64
    package var batchID: Int64
    package var drop: String
    package var state: String
    @OrNull package var error: ErrorBody?
    @OrNull package var assetID: String?

    private enum CodingKeys: String, CodingKey {
        case id
        case batchID = "batch_id"
        case drop, state, error
        case assetID = "asset_id"
    }

    package init(
        id: Job.ID, batch: Batch.ID, drop: String, state: JobState, problem: Problem?, asset: Asset.ID?
    ) {
        self.id = id
        batchID = batch
        self.drop = drop
        self.state = state.rawValue
        error = problem.map(ErrorBody.init)
        assetID = asset
    }
}

/// The daemon's state: the event `state`, and the answer to pause and resume.
package struct StateBody: Codable, Hashable, Sendable {
    /// starting, running, paused, degraded or stopping.
    package var state: String
    package var reasons: [ErrorBody]

    package init(state: DaemonState, reasons: [Problem]) {
        self.state = state.rawValue
        self.reasons = reasons.map(ErrorBody.init)
    }
}
