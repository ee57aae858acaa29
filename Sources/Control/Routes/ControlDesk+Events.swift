import HTTP
import PhotoModel

extension ControlDesk {
    /// Server-sent events: <https://html.spec.whatwg.org/multipage/server-sent-events.html>.
    func events(_ request: Request) throws(Problem) -> Reply {
        _ = try Query(request, allowing: [])
        let headers = [("Content-Type", "text/event-stream"), ("Cache-Control", "no-store")]
            .map { (name: $0.0, value: $0.1) }
        guard request.method == "GET" else { return Reply(status: 200, headers: headers) }
        let last = request.header("last-event-id").flatMap { UInt64(trimmingBlanks($0)) }
        guard let stream = door.hub.subscribe(after: last, user: request.peer?.uid) else {
            throw Problem(.busy, "This user follows the events too many times already.", todo: "End another one first.")
        }
        return Reply(status: 200, headers: headers, body: .stream(stream))
    }

    private func trimmingBlanks(_ text: String) -> String { text.filter { $0 != " " && $0 != "\t" } }
}
