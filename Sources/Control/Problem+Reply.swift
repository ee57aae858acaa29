import ControlAPI
import HTTP
import PhotoModel

extension Problem {
    /// The HTTP status that fits the code: RFC 9110, section 15.
    var status: Int {
        switch code {
        case .badRequest: 400
        case .forbidden: 403
        case .notFound: 404
        case .conflict: 409
        case .tooBig: 413
        case .config, .overlap: 422
        // Of this file, whoever asks.
        case .unsupported, .corrupt, .truncated, .tooLarge, .decodeTimeout, .decoderCrash, .encode, .empty: 422
        case .busy, .libraryOffline, .libraryFull, .marker, .stateIO, .stateStale, .decoderMissing, .memory, .locked:
            503
        default: 500  // a fault of files and disks that a caller can do nothing about
        }
    }

    func reply(status: Int? = nil, headers: [(name: String, value: String)] = [], errors: [Problem] = []) -> Reply {
        let status = status ?? self.status
        return .json(
            ProblemBody(self, status: status, errors: errors), status: status, mediaType: ProblemBody.mediaType,
            headers: headers)
    }
}

extension Reply {
    static func json(
        _ body: some Encodable, status: Int = 200, mediaType: String = "application/json",
        headers: [(name: String, value: String)] = []
    ) -> Reply {
        do {
            let bytes = try JSON.encode(body)
            return Reply(
                status: status,
                headers: [
                    ("Content-Type", mediaType), ("Cache-Control", "no-store"), ("X-Content-Type-Options", "nosniff"),
                ] + headers, body: .bytes(bytes))
        } catch {
            // Only a number without a JSON form (a latitude that is not finite) can do this.
            return Reply(status: 500, mediaType: "text/plain", Array("The answer has no JSON form.".utf8))
        }
    }
}
