import Glibc
package import PhotoModel
package import Store
import Synchronization
import Workers

/// Takes orders for operations, and does them one after the other on a thread of its own.
package final class OperationDesk: Sendable {
    /// Does one kind of operation. Runs again from ``OperationRun/cursor`` when the daemon was stopped meanwhile.
    package typealias Work = @Sendable (OperationRun) throws(OperationRun.Ended) -> Void

    private struct State {
        var current: OperationRun?
        var isStopping = false
        var hasEnded = false
    }

    private let store: Store
    private let works: [Operation.Kind: Work]
    private let before: @Sendable () throws(Problem) -> Void
    private let log: Log
    private let now: @Sendable () -> Timestamp
    private let state = Mutex(State())
    private let bell = Doorbell()

    /// - Parameter before: finishes what a process before this one left half done; called before the first operation and
    ///   before each.
    package init(
        store: Store, works: [Operation.Kind: Work], before: @escaping @Sendable () throws(Problem) -> Void,
        log: @escaping Log, now: @escaping @Sendable () -> Timestamp
    ) {
        self.store = store
        self.works = works
        self.before = before
        self.log = log
        self.now = now
    }

    // MARK: Orders

    /// - Throws: `E_BAD_REQUEST` for a kind that this version does not do.
    package func order(_ kind: Operation.Kind, _ arguments: [String: String]) throws(Problem) -> Operation {
        guard works[kind] != nil else {
            throw Problem(
                .badRequest, "This version has no operation `\(kind.rawValue)`.", todo: "Look at docs/api.md.")
        }
        let id = try store.order(kind, arguments, at: now())
        bell.ring()
        return try operation(id)
    }

    /// - Throws: `E_NOT_FOUND`, or `E_CONFLICT` for one that has ended.
    package func cancel(_ id: Operation.ID) throws(Problem) -> Operation {
        let running = state.withLock { $0.current }
        if let running, running.operation.id == id {
            running.cancel()
            return try operation(id)
        }
        let found = try operation(id)
        guard !found.state.isTerminal else {
            throw Problem(
                .conflict, "Operation \(id) has ended: \(found.state.rawValue).", todo: "Nothing; it is over.")
        }
        try store.finishOperation(id, as: .cancelled, problem: nil, results: [:], at: now())
        return try operation(id)
    }

    /// With the progress of this moment.
    /// - Throws: `E_NOT_FOUND`.
    package func operation(_ id: Operation.ID) throws(Problem) -> Operation {
        let running = state.withLock { $0.current }
        if let running, running.operation.id == id { return running.snapshot }
        guard let found = try store.operation(id) else {
            throw Problem(.notFound, "There is no operation \(id).", todo: "`photospool operations` lists them.")
        }
        return found
    }

    /// The one at work.
    package var current: Operation? { state.withLock { $0.current }?.snapshot }

    // MARK: Work

    /// Works until ``stop()``; blocking, on a thread of the caller's. Goes on with what was interrupted.
    package func run() {
        defer { state.withLock { $0.hasEnded = true } }
        while !state.withLock({ $0.isStopping }) {
            let taken: (operation: Operation, cursor: String?)?
            do throws(Problem) { taken = try store.takeOperation() } catch {
                log(LogLine(.error, error))
                pause()
                continue
            }
            do throws(Problem) { try before() } catch {
                // The library may be away: nothing is lost by waiting, and an operation will say it.
                log(LogLine(.info, error))
            }
            guard let taken else {
                bell.wait()
                continue
            }
            perform(taken.operation, cursor: taken.cursor)
        }
    }

    /// Until the state may have recovered.
    private func pause() {
        for _ in 0..<300 where !state.withLock({ $0.isStopping }) { usleep(100_000) }
    }

    /// Whether ``run()`` has returned. A call to a mirror that hangs may keep an operation from that.
    package var hasEnded: Bool { state.withLock { $0.hasEnded } }

    package func stop() {
        state.withLock {
            $0.isStopping = true
            $0.current?.interrupt()
        }
        bell.ring()
    }

    private func perform(_ operation: Operation, cursor: String?) {
        let run = OperationRun(operation, cursor: cursor, store: store)
        let mayBegin = state.withLock { state in
            if !state.isStopping { state.current = run }
            return !state.isStopping
        }
        guard mayBegin else { return }
        let fields = [("OPERATION", String(operation.id)), ("KIND", operation.kind.rawValue)]
        log(LogLine(.info, cursor == nil ? "An operation has begun." : "An operation goes on.", fields))
        var ended: OperationRun.Ended?
        do throws(OperationRun.Ended) {
            guard let work = works[operation.kind] else {
                throw .failed(Problem(.badRequest, "This version has no operation `\(operation.kind.rawValue)`."))
            }
            try work(run)
        } catch {
            ended = error
        }
        let outcome = conclude(run, ended)
        state.withLock { $0.current = nil }
        log(
            LogLine(
                outcome == .failed ? .warning : .info, "An operation has ended.",
                fields + [("STATE", outcome?.rawValue ?? "interrupted"), ("FINDINGS", String(run.snapshot.findings))]))
    }

    /// - Returns: nil when it is to go on at the next start.
    private func conclude(_ run: OperationRun, _ ended: OperationRun.Ended?) -> Operation.State? {
        let (outcome, problem): (Operation.State, Problem?) =
            switch ended {
            case nil: (.done, nil)
            case .cancelled: (.cancelled, nil)
            case .failed(let problem): (.failed, problem)
            case .interrupted: (.running, nil)
            }
        if outcome == .running { return nil }
        do throws(OperationRun.Ended) { try run.record(nil) } catch {
            guard case .failed(let problem) = error else { return nil }
            log(LogLine(.error, problem))
            return nil  // nothing of it is lost: it goes on at the next start
        }
        if let problem { log(LogLine(.warning, problem, [("OPERATION", String(run.operation.id))])) }
        do throws(Problem) {
            try store.finishOperation(
                run.operation.id, as: outcome, problem: problem, results: run.results, at: now())
        } catch {
            log(LogLine(.error, error))  // it is still `running` there, and goes on at the next start
        }
        return outcome
    }
}
