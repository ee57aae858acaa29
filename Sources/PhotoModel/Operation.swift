/// Long work on the library or the state that a person ordered, or the clock: checking, rebuilding, undoing.
///
/// One runs at a time. It survives the daemon: what a stop interrupts goes on at the next start from its last checkpoint.
package struct Operation: Hashable, Sendable, Identifiable {
    package typealias ID = Int64

    package enum Kind: String, Sendable, CaseIterable {
        case verify, adopt, rebuild, undo, backup, previews, manifest, sweep, check
    }

    package enum State: String, Sendable, CaseIterable {
        case queued, running, done, failed, cancelled
        package var isTerminal: Bool { self == .done || self == .failed || self == .cancelled }
    }

    package var id: ID
    package var kind: Kind
    /// As ordered; what is allowed, the kind says.
    package var arguments: [String: String]
    package var state: State
    /// In units of the kind's own: files, bytes, jobs.
    package var done: Int64
    /// nil while nobody knows.
    package var total: Int64?
    /// How many findings there are.
    package var findings: Int64
    /// What came of it, beside findings: where a manifest or backup lies.
    package var results: [String: String]
    package var problem: Problem?
    package var createdAt: Timestamp
    package var finishedAt: Timestamp?

    package init(
        id: ID, kind: Kind, arguments: [String: String], state: State, done: Int64, total: Int64?, findings: Int64,
        results: [String: String], problem: Problem?, createdAt: Timestamp, finishedAt: Timestamp?
    ) {
        self.id = id
        self.kind = kind
        self.arguments = arguments
        self.state = state
        self.done = done
        self.total = total
        self.findings = findings
        self.results = results
        self.problem = problem
        self.createdAt = createdAt
        self.finishedAt = finishedAt
    }

    /// Something that somebody should look at.
    package struct Finding: Hashable, Sendable {
        /// `missing`, `changed`, `truncated`, `foreign`…: one word for each sort.
        package var kind: String
        /// Relative to the library, or absolute for a source.
        package var path: Path?
        package var asset: Asset.ID?
        /// A whole sentence.
        package var detail: String

        package init(_ kind: String, path: Path?, asset: Asset.ID? = nil, _ detail: String) {
            self.kind = kind
            self.path = path
            self.asset = asset
            self.detail = detail
        }
    }
}
