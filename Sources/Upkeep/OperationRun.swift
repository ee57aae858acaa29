import Files
package import PhotoModel
import Store
import Synchronization

/// One operation at work: what it may say, and where it learns that it is to stop.
///
/// Progress is told at once to whoever asks, and recorded every few seconds together with what was found and the place to
/// go on from: an operation that is interrupted between two records does the last portion again, and says nothing twice.
package final class OperationRun: Sendable {
    /// Why an operation ends before its work is done.
    package enum Ended: Error {
        /// By a person.
        case cancelled
        /// The daemon stops: it goes on at the next start.
        case interrupted
        case failed(Problem)
    }

    private struct State {
        var done: Int64
        var total: Int64?
        var findings: [Operation.Finding] = []
        var results: [String: String] = [:]
        var isCancelled = false
        var isInterrupted = false
        var lastRecord: Duration
    }

    package let operation: Operation
    /// Where to go on; nil for a beginning. Of the kind's own making.
    package let cursor: String?
    private let store: Store
    private let state: Mutex<State>

    init(_ operation: Operation, cursor: String?, store: Store) {
        self.operation = operation
        self.cursor = cursor
        self.store = store
        state = Mutex(
            State(done: operation.done, total: operation.total, lastRecord: SystemClock.monotonic()))
    }

    // MARK: For the work

    package func setTotal(_ total: Int64?) { state.withLock { $0.total = total } }
    package func advance(by count: Int64) { state.withLock { $0.done += count } }
    package func restart() { state.withLock { $0.done = 0 } }
    package func find(_ finding: Operation.Finding) { state.withLock { $0.findings.append(finding) } }
    package func setResult(_ name: String, to value: String) { state.withLock { $0.results[name] = value } }

    /// To be asked between two steps, and within long ones.
    package func check() throws(Ended) {
        let (isCancelled, isInterrupted) = state.withLock { ($0.isCancelled, $0.isInterrupted) }
        if isCancelled { throw .cancelled }
        if isInterrupted { throw .interrupted }
    }

    package var isEnding: Bool { state.withLock { $0.isCancelled || $0.isInterrupted } }

    /// Everything before `cursor` is done. Recorded now and then, and with `now` at once.
    package func reached(_ cursor: String, recordNow now: Bool = false) throws(Ended) {
        let isDue = state.withLock {
            now || SystemClock.monotonic() - $0.lastRecord > Self.gap || $0.findings.count > 500
        }
        if isDue { try record(cursor) }
        try check()
    }

    private static let gap = Duration.seconds(2)

    func record(_ cursor: String?) throws(Ended) {
        let (done, total, findings) = state.withLock { ($0.done, $0.total, $0.findings) }
        do throws(Problem) {
            try store.checkpoint(operation.id, cursor: cursor, done: done, total: total, findings: findings)
        } catch {
            throw .failed(error)
        }
        state.withLock {
            $0.findings.removeFirst(findings.count)
            $0.lastRecord = SystemClock.monotonic()
        }
    }

    /// Lets a call that throws a problem end the operation with it.
    package func orEnd<Result>(_ body: () throws(Problem) -> Result) throws(Ended) -> Result {
        do throws(Problem) { return try body() } catch { throw .failed(error) }
    }

    // MARK: For the desk

    func cancel() { state.withLock { $0.isCancelled = true } }
    func interrupt() { state.withLock { $0.isInterrupted = true } }
    var results: [String: String] { state.withLock { $0.results } }

    /// The operation as it is at this moment.
    var snapshot: Operation {
        state.withLock { state in
            var now = operation
            now.done = state.done
            now.total = state.total
            now.findings += Int64(state.findings.count)
            now.results = state.results
            return now
        }
    }
}
