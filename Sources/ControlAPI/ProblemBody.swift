package import PhotoModel

/// A ``Problem`` inside another body: a job's error, a reason of the daemon's state.
package struct ErrorBody: Codable, Hashable, Sendable {
    /// One of DESIGN section 13; a string, because a newer daemon may know more of them.
    package var code: String
    /// The same for every occurrence of the code.
    package var title: String
    package var detail: String
    package var recovery: String
    /// Whether the daemon tries again by itself.
    package var transient: Bool

    package init(_ problem: Problem) {
        code = problem.code.rawValue
        title = problem.code.title
        detail = problem.whatHappened
        recovery = problem.whatToDo
        transient = problem.isTransient
    }
}

/// The answer to a call that failed: `application/problem+json`, RFC 9457.
package struct ProblemBody: Codable, Hashable, Sendable, Error {
    package static let mediaType = "application/problem+json"

    /// The HTTP status of the answer.
    package var status: Int
    package var code: String
    package var title: String
    package var detail: String
    package var recovery: String
    /// Each fault by itself, when there are several: the lines of a configuration, the paths of an import.
    package var errors: [ErrorBody]?

    package init(_ problem: Problem, status: Int, errors: [Problem] = []) {
        self.status = status
        code = problem.code.rawValue
        title = problem.code.title
        detail = problem.whatHappened
        recovery = problem.whatToDo
        self.errors = errors.isEmpty ? nil : errors.map(ErrorBody.init)
    }
}
