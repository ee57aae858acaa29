import ControlAPI
import HTTP
import PhotoModel
import Store

/// Jobs and batches.
extension ControlDesk {
    func jobs(_ request: Request) throws(Problem) -> Reply {
        let query = try Query(request, allowing: ["state", "drop", "batch", "limit", "after"])
        var filter = JobFilter(drop: query["drop"], batch: try query.number("batch"))
        if let text = query["state"] {
            guard let state = JobState(rawValue: text) else {
                throw .bad(
                    "There is no job state `\(SafeText.of(text, limit: 40))`.",
                    todo: "Use " + JobState.allCases.map(\.rawValue).joined(separator: ", ") + ".")
            }
            filter.state = state
        }
        return .json(list(try door.store.jobs(filter, limit: try query.limit(), after: query["after"]), JobBody.init))
    }

    func job(_ id: String, _ request: Request) throws(Problem) -> Reply {
        _ = try Query(request, allowing: [])
        return .json(JobBody(try job(id)))
    }

    func retry(_ id: String, _ request: Request) throws(Problem) -> Reply {
        let id = try Self.number(id, of: "job")
        try door.orders.retry(id)
        return .json(JobBody(try job(String(id))))
    }

    func retryAll(_ request: Request) throws(Problem) -> Reply {
        .json(RetriedBody(retried: try door.orders.retryAll()))
    }

    /// 200 when it is done, 202 when an import has to roll back first.
    func cancel(_ id: String, _ request: Request) throws(Problem) -> Reply {
        let id = try Self.number(id, of: "job")
        let outcome = try door.orders.cancel(id)
        return .json(JobBody(try job(String(id))), status: outcome == .inFlight ? 202 : 200)
    }

    func batches(_ request: Request) throws(Problem) -> Reply {
        let query = try Query(request, allowing: ["limit", "after"])
        return .json(list(try door.store.batches(limit: try query.limit(), after: query["after"]), BatchBody.init))
    }

    func batch(_ id: String, _ request: Request) throws(Problem) -> Reply {
        let query = try Query(request, allowing: ["limit", "after"])
        let batch = try batch(id)
        let jobs = try door.store.jobs(JobFilter(batch: batch.id), limit: try query.limit(), after: query["after"])
        return .json(BatchDetailBody(batch, jobs: list(jobs, JobBody.init)))
    }

    func cancelBatch(_ id: String, _ request: Request) throws(Problem) -> Reply {
        let rollingBack = try door.orders.cancelBatch(try Self.number(id, of: "batch"))
        return .json(BatchBody(try batch(id)), status: rollingBack.isEmpty ? 200 : 202)
    }

    private func job(_ id: String) throws(Problem) -> Job {
        guard let job = try door.store.job(try Self.number(id, of: "job")) else {
            throw .missing("There is no job \(id).")
        }
        return job
    }

    private func batch(_ id: String) throws(Problem) -> Batch {
        guard let batch = try door.store.batch(try Self.number(id, of: "batch")) else {
            throw .missing("There is no batch \(id).")
        }
        return batch
    }

    /// - Throws: `E_NOT_FOUND`, for what is no number names nothing.
    private static func number(_ text: String, of kind: String) throws(Problem) -> Int64 {
        guard let number = Int64(text), String(number) == text else {
            throw .missing("There is no \(kind) \(SafeText.of(text, limit: 64)).")
        }
        return number
    }

    func list<Value, Body>(_ page: Page<Value>, _ body: (Value) -> Body) -> ListBody<Body> {
        ListBody(items: page.items.map(body), next: page.next)
    }
}
