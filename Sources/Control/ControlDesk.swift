import ControlAPI
import HTTP
package import PhotoModel
package import Store

/// What the control API is made of.
package struct ControlDoor: Sendable {
    package var store: Store
    package var view: DaemonView
    package var orders: DaemonOrders
    package var rights: Rights
    package var hub: EventHub
    package var now: @Sendable () -> Timestamp
    package var log: Log

    package init(
        store: Store, view: DaemonView, orders: DaemonOrders, rights: Rights, hub: EventHub,
        now: @escaping @Sendable () -> Timestamp, log: @escaping Log
    ) {
        self.store = store
        self.view = view
        self.orders = orders
        self.rights = rights
        self.hub = hub
        self.now = now
        self.log = log
    }
}

/// Answers requests: finds the call, checks who asks, and turns what the rooms say into JSON. Owns nothing.
struct ControlDesk: Sendable {
    let door: ControlDoor

    typealias Answer = (Request) throws(Problem) -> Reply

    /// A call: how it is asked for, and whether it changes anything.
    enum Call {
        case read(Answer)
        case change(Answer)
        /// A list that can be added to.
        case both(read: Answer, change: Answer)
        /// A thing that can be taken away.
        case item(read: Answer, delete: Answer)
    }

    func respond(to request: Request) -> Reply {
        guard let segments = request.segments else {
            return Problem.bad("The path is not percent-encoded UTF-8.").reply()
        }
        guard let call = call(segments) else {
            return Problem(
                .notFound, "There is nothing at \(SafeText.of(request.target, limit: 200)).",
                todo: "Look at docs/api.md for the calls there are."
            ).reply()
        }
        do throws(Problem) {
            switch (call, request.method) {
            case (.read(let answer), "GET"), (.read(let answer), "HEAD"): return try answer(request)
            case (.both(let answer, _), "GET"), (.both(let answer, _), "HEAD"): return try answer(request)
            case (.change(let answer), "POST"), (.both(_, let answer), "POST"):
                try checkRights(request)
                return try answer(request)
            case (.item(let answer, _), "GET"), (.item(let answer, _), "HEAD"): return try answer(request)
            case (.item(_, let answer), "DELETE"):
                try checkRights(request)
                return try answer(request)
            case (.item, _): return wrongMethod(request, allowed: "GET, HEAD, DELETE")
            case (.both, _): return wrongMethod(request, allowed: "GET, HEAD, POST")
            case (.read, _): return wrongMethod(request, allowed: "GET, HEAD")
            case (.change, _): return wrongMethod(request, allowed: "POST")
            }
        } catch {
            return error.reply()
        }
    }

    private func wrongMethod(_ request: Request, allowed: String) -> Reply {
        Problem(
            .badRequest, "\(SafeText.of(request.method, limit: 20)) does not work here.", todo: "Use \(allowed)."
        ).reply(status: 405, headers: [("Allow", allowed)])
    }

    private func checkRights(_ request: Request) throws(Problem) {
        // A program has no Origin; a page that got at the socket through some proxy has one.
        guard request.header("origin") == nil else {
            throw Problem(
                .forbidden, "A web page may not change anything here.", todo: "Use photospool or another program.")
        }
        guard door.rights.mayChange(request.peer) else {
            door.log(
                LogLine(
                    .warning, "A change was refused.",
                    [
                        ("UID", request.peer.map { String($0.uid) } ?? "unknown"),
                        ("PID", request.peer.map { String($0.pid) } ?? "unknown"),
                        ("CALL", SafeText.of(request.target, limit: 200)),
                    ]))
            throw Problem(.forbidden, "This user may look, but not change anything.")
        }
    }

    /// The whole of the API.
    private func call(_ path: [String]) -> Call? {
        switch path {
        case ["healthz"]: return .read(health)
        case ["readyz"]: return .read(readiness)
        default: break
        }
        guard path.first == "v1" else { return nil }
        let parts = path.dropFirst().map { $0 }
        switch parts.count {
        case 1:
            switch parts[0] {
            case "status": return .read(status)
            case "events": return .read(events)
            case "jobs": return .read(jobs)
            case "batches": return .read(batches)
            case "assets": return .read(assets)
            case "operations": return .both(read: operations, change: orderOperation)
            case "retry": return .change(retryAll)
            case "import": return .change(importPaths)
            case "pause": return .change(pause)
            case "resume": return .change(resume)
            case "rescan": return .change(rescan)
            case "reload": return .change(reload)
            default: return nil
            }
        case 2:
            let id = parts[1]
            switch parts[0] {
            case "jobs": return .read { (request) throws(Problem) in try job(id, request) }
            case "batches": return .read { (request) throws(Problem) in try batch(id, request) }
            case "assets":
                return .item(
                    read: { (request) throws(Problem) in try asset(id, request) },
                    delete: { (request) throws(Problem) in try deleteAsset(id, request) })
            case "operations": return .read { (request) throws(Problem) in try operation(id, request) }
            default: return nil
            }
        case 3:
            let id = parts[1]
            switch (parts[0], parts[2]) {
            case ("jobs", "retry"): return .change { (request) throws(Problem) in try retry(id, request) }
            case ("jobs", "cancel"): return .change { (request) throws(Problem) in try cancel(id, request) }
            case ("assets", "forget"): return .change { (request) throws(Problem) in try forget(id, request) }
            case ("operations", "cancel"):
                return .change { (request) throws(Problem) in try cancelOperation(id, request) }
            case ("batches", "cancel"): return .change { (request) throws(Problem) in try cancelBatch(id, request) }
            case ("assets", "export"): return .read { (request) throws(Problem) in try export(id, request) }
            case ("assets", "preview"): return .read { (request) throws(Problem) in try preview(id, request) }
            default: return nil
            }
        case 4:
            guard parts[0] == "assets", parts[2] == "original" else { return nil }
            let (id, number) = (parts[1], parts[3])
            return .read { (request) throws(Problem) in try original(id, number, request) }
        default: return nil
        }
    }
}
