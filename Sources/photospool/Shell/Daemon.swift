internal import Config
internal import ControlAPI
internal import Files
internal import Glibc
internal import HTTPClient
internal import PhotoModel

/// The service, as this program talks to it: calls that give a body or say why not.
struct Daemon: ~Copyable {
    let socket: Path
    private var connection: Connection

    init(socket: Path) throws(Failure) {
        self.socket = socket
        do throws(HTTPFailure) {
            connection = try Connection(socket: socket)
        } catch {
            throw Failure(error, socket: socket)
        }
    }

    /// The reply's bytes, for `--json`.
    mutating func call(
        _ request: HTTPRequest, deadline: Duration = Connection.usualDeadline,
        isCancelled: @escaping () -> Bool = { false }
    ) throws(Failure) -> [UInt8] {
        try reply(to: request, deadline: deadline, isCancelled: isCancelled).body
    }

    /// A success; whatever else comes is thrown.
    mutating func reply(
        to request: HTTPRequest, deadline: Duration = Connection.usualDeadline,
        isCancelled: @escaping () -> Bool = { false }
    ) throws(Failure) -> HTTPReply {
        let reply: HTTPReply
        do throws(HTTPFailure) {
            reply = try connection.send(request, deadline: deadline, isCancelled: isCancelled)
        } catch {
            throw Failure(error, socket: socket)
        }
        guard reply.isSuccess else { throw Failure(reply) }
        return reply
    }

    mutating func get<Body: Decodable>(
        _ type: Body.Type, _ target: String, deadline: Duration = Connection.usualDeadline,
        isCancelled: @escaping () -> Bool = { false }
    ) throws(Failure) -> Body {
        try Self.decode(type, try call(HTTPRequest(.get, target), deadline: deadline, isCancelled: isCancelled))
    }

    mutating func post(
        _ target: String, _ body: (some Encodable)? = [String]?.none, deadline: Duration = Connection.usualDeadline
    ) throws(Failure) -> [UInt8] {
        var bytes: [UInt8]?
        if let body { bytes = try Self.encode(body) }
        return try call(HTTPRequest(.post, target, body: bytes), deadline: deadline)
    }

    /// Up to `limit` items of a list, page by page.
    mutating func list<Body>(
        _ type: Body.Type, _ path: String, query: [(name: String, value: String?)], limit: Int
    ) throws(Failure) -> ListBody<Body> {
        var list = ListBody<Body>(items: [], next: nil)
        repeat {
            let page = try get(
                ListBody<Body>.self,
                HTTPRequest.target(
                    path,
                    query: query + [("limit", String(min(200, limit - list.items.count))), ("after", list.next)]))
            list.items += page.items.prefix(limit - list.items.count)
            list.next = page.items.isEmpty ? nil : page.next
        } while list.next != nil && list.items.count < limit
        return list
    }

    static func decode<Body: Decodable>(_ type: Body.Type, _ bytes: [UInt8]) throws(Failure) -> Body {
        do {
            return try JSON.decode(type, from: bytes)
        } catch {
            let why = (error as? DecodingError).map(sentence(about:)) ?? ""
            throw Failure(
                .failed, title: "Answer not understood", "The service's answer could not be understood. \(why)",
                todo: "Use the photospool that was installed with the service.")
        }
    }

    static func encode(_ body: some Encodable) throws(Failure) -> [UInt8] {
        do {
            return try JSON.encode(body)
        } catch {
            throw Failure(.failed, title: "Not JSON", "A value could not be written as JSON.")
        }
    }

    /// Where the service listens: `--socket`, else `$PHOTOSPOOL_SOCKET`, else the user's own when there is one, else the
    /// system's.
    static func socket(option: Path?) -> Path {
        if let option { return option }
        if let variable = environment("PHOTOSPOOL_SOCKET"), !variable.isEmpty { return Path(variable) }
        let own = Locations.own.socket
        return exists(own) ? own : Locations.system.socket
    }
}

extension Failure {
    /// No reply came.
    init(_ failure: HTTPFailure, socket: Path) {
        let place = SafeText.of(socket)
        let start = "Start it with: systemctl start photospool"
        let title = "Service not reachable"
        switch failure {
        case .noSocket:
            self.init(
                .unreachable, title: title, "The photospool service is not running: there is no socket at \(place).",
                todo: start)
        case .refused:
            self.init(
                .unreachable, title: title, "The photospool service is not running: nobody listens at \(place).",
                todo: start)
        case .notPermitted:
            let group = Self.group(of: socket)
            self.init(
                .notPermitted, code: Problem.Code.forbidden.rawValue, title: Problem.Code.forbidden.title,
                "You may not talk to the photospool service at \(place).",
                todo: "Add yourself to its group, then log in again: sudo usermod -aG \(group) \(Self.userName)")
        case .timeout:
            self.init(
                .unreachable, title: title, "The photospool service at \(place) does not answer.",
                todo: "Look at it with: systemctl status photospool")
        case .closed:
            self.init(
                .unreachable, title: title, "The photospool service at \(place) closed the connection.",
                todo: "Look at it with: systemctl status photospool")
        case .cancelled: self.init(.interrupted, title: "Interrupted", "Interrupted.")
        case .tooBig:
            self.init(.failed, title: "Answer too large", "The service's answer is too large.", todo: "Use --limit.")
        case .rejected(let reply): self.init(reply)
        case .other(let words):
            self.init(
                .unreachable, title: title, "The photospool service at \(place) cannot be reached: \(words).",
                todo: "Check --socket and $PHOTOSPOOL_SOCKET.")
        }
    }

    /// A reply that is not a success.
    init(_ reply: HTTPReply) {
        if let body = try? JSON.decode(ProblemBody.self, from: reply.body) {  // not a problem: said with its number
            self.init(body)
            if status == .notPermitted && recovery.isEmpty { recovery = Problem.Code.forbidden.usualRemedy }
        } else {
            self.init(
                .failed, title: "Unexpected answer", "The service answered with HTTP status \(reply.status).",
                todo: "Check that photospool listens at this socket, and no other program.")
        }
    }

    /// Of the socket, or the usual one when it cannot be seen.
    private static func group(of socket: Path) -> String {
        var found = stat()
        let usual = "photospool"
        guard unsafe socket.withCString({ unsafe stat($0, &found) }) == 0, found.st_gid != 0 else { return usual }
        return unsafe getgrgid(found.st_gid).map { unsafe SafeText.of(String(cString: $0.pointee.gr_name)) } ?? usual
    }

    private static var userName: String {
        unsafe getpwuid(getuid()).map { unsafe SafeText.of(String(cString: $0.pointee.pw_name)) } ?? "$USER"
    }
}
