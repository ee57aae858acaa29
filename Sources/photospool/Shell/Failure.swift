internal import ControlAPI
internal import PhotoModel

/// Why a command did not do what was asked, for a person and, with `--json`, for a program.
struct Failure: Error, Sendable {
    var status: ExitStatus
    /// A code of the service; nil for what only this program can meet, such as a service that does not run.
    var code: String?
    var title: String
    /// A whole sentence.
    var detail: String
    /// What to do, a whole sentence; empty when the detail says it all.
    var recovery: String
    /// Each fault by itself, when there are several.
    var parts: [ErrorBody]

    init(
        _ status: ExitStatus, code: String? = nil, title: String, _ detail: String, todo recovery: String = "",
        parts: [ErrorBody] = []
    ) {
        self.status = status
        self.code = code
        self.title = title
        self.detail = detail
        self.recovery = recovery
        self.parts = parts
    }

    init(_ status: ExitStatus = .failed, _ problem: Problem) {
        self.init(
            status, code: problem.code.rawValue, title: problem.code.title, problem.whatHappened,
            todo: problem.whatToDo)
    }

    /// The service said no.
    init(_ body: ProblemBody) {
        let status: ExitStatus =
            switch body.code {
            case Problem.Code.forbidden.rawValue: .notPermitted
            case Problem.Code.config.rawValue, Problem.Code.overlap.rawValue: .configuration
            default: .failed
            }
        self.init(
            status, code: body.code, title: body.title, body.detail, todo: body.recovery, parts: body.errors ?? [])
    }

    /// A command line that cannot be understood: what is wrong, and where to read on.
    static func usage(_ detail: String, see command: [String] = []) -> Failure {
        let name = (["photospool"] + command).joined(separator: " ")
        return Failure(
            .usage, code: Problem.Code.badRequest.rawValue, title: "Usage", detail, todo: "Try '\(name) --help'.")
    }
}

/// ``Failure`` as JSON on standard error.
struct FailureBody: Encodable {
    @OrNull var code: String?
    var title: String
    var detail: String
    var recovery: String
    var exit: Int32
    var errors: [ErrorBody]?

    init(_ failure: Failure) {
        code = failure.code
        title = failure.title
        detail = failure.detail
        recovery = failure.recovery
        exit = failure.status.rawValue
        errors = failure.parts.isEmpty ? nil : failure.parts
    }
}
