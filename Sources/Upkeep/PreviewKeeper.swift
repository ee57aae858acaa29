package import Ingest
package import PhotoModel
package import Store
import Synchronization

/// Sees to it that previews which can be made are made without a command: those that could not be written, once there is
/// room; and those that failed for a decoder's reason, once there is another decoder, together with the jobs that failed so.
package final class PreviewKeeper: Sendable {
    /// The version of the decoder that has seen everything.
    private static let setting = "decoder.version"
    /// What another decoder may do better.
    package static let decoderCodes: [Problem.Code] = [
        .unsupported, .corrupt, .truncated, .tooLarge, .decodeTimeout, .decoderCrash, .encode, .decoderMissing,
    ]
    /// Between two tries; doubled by each that leaves something, up to the longest.
    static let gap = Duration.seconds(10)
    static let longestGap = Duration.seconds(600)

    private struct State {
        var nextLook: Timestamp
        var gap = PreviewKeeper.gap
        /// Whether this life has compared the decoder with that of the life before.
        var knowsDecoder = false
        /// The last one ordered for want of room, and what was owed then.
        var ordered: (id: Operation.ID, count: Int)?
        var isFirst = true
    }

    private let store: Store
    private let desk: OperationDesk
    private let owed: PreviewsOwed
    private let decoderVersion: @Sendable () -> String?
    private let mayWork: @Sendable () -> Bool
    private let hasRoom: @Sendable () -> Bool
    private let retried: @Sendable ([Job.ID]) -> Void
    private let log: Log
    private let state: Mutex<State>

    /// - Parameters:
    ///   - decoderVersion: asks the decoder; nil while there is none.
    ///   - mayWork: whether nothing is paused and nothing away.
    ///   - hasRoom: whether a preview could be written, as far as a look can tell.
    ///   - retried: told of jobs that are queued again.
    package init(
        store: Store, desk: OperationDesk, owed: PreviewsOwed, decoderVersion: @escaping @Sendable () -> String?,
        mayWork: @escaping @Sendable () -> Bool, hasRoom: @escaping @Sendable () -> Bool,
        retried: @escaping @Sendable ([Job.ID]) -> Void, log: @escaping Log,
        startedAt: Timestamp
    ) {
        self.store = store
        self.desk = desk
        self.owed = owed
        self.decoderVersion = decoderVersion
        self.mayWork = mayWork
        self.hasRoom = hasRoom
        self.retried = retried
        self.log = log
        state = Mutex(State(nextLook: startedAt))
    }

    /// To be called now and then; it looks only when it is time to.
    package func look(at now: Timestamp) {
        let isOwed = owed.problem != nil
        let isTime = state.withLock { state in
            // A clock that was set back by years must not keep it from looking for years.
            let isFar = state.nextLook - now > Self.longestGap
            guard now >= state.nextLook || isFar else { return false }
            state.nextLook = now + (isOwed ? state.gap : Self.gap)
            return true
        }
        guard isTime, mayWork() else { return }
        do throws(Problem) {
            if !state.withLock({ $0.knowsDecoder }) { try compareDecoders(at: now) }
            try lookForRoom()
        } catch {
            log(LogLine(.warning, error))
        }
    }

    // MARK: Another decoder

    private func compareDecoders(at now: Timestamp) throws(Problem) {
        guard let version = decoderVersion() else { return }
        let before = try store.setting(Self.setting)
        if version != before {
            if try store.assetCount(withPreviewFailed: Self.decoderCodes) > 0 {
                _ = try desk.order(.previews, Self.arguments(Self.decoderCodes))
            }
            let jobs = before == nil ? [] : try store.retryFailed(with: Self.decoderCodes, at: now)
            if !jobs.isEmpty { retried(jobs) }
            try store.set(Self.setting, to: version)
            if let before {
                log(
                    LogLine(
                        .info, "There is another decoder: what the one before could not do is tried again.",
                        [("VERSION", version), ("BEFORE", before), ("JOBS", String(jobs.count))]))
            }
        }
        state.withLock { $0.knowsDecoder = true }
    }

    private static func arguments(_ codes: [Problem.Code]) -> [String: String] {
        ["codes": codes.map(\.rawValue).joined(separator: ",")]
    }

    // MARK: Room

    private func lookForRoom() throws(Problem) {
        if let ordered = state.withLock({ $0.ordered }) {
            guard let operation = try store.operation(ordered.id), operation.state.isTerminal else { return }
            let rest = try store.assetCount(withPreviewFailed: PreviewsOwed.codes)
            if rest == 0 { owed.settle(upTo: ordered.count) }
            state.withLock { state in
                state.ordered = nil
                state.gap = rest == 0 ? Self.gap : min(state.gap * 2, Self.longestGap)
            }
            if rest > 0 { return }
        }
        // A life before this one may have left some.
        let isFirst = state.withLock { state in
            defer { state.isFirst = false }
            return state.isFirst
        }
        guard isFirst || owed.problem != nil else { return }
        let count = owed.count
        guard try store.assetCount(withPreviewFailed: PreviewsOwed.codes) > 0 else {
            return owed.settle(upTo: count)
        }
        if owed.problem == nil {
            owed.note(
                Problem(.libraryFull, "Some previews could not be written; their originals are imported.").ofPreview)
        }
        guard hasRoom() else { return }
        let operation = try desk.order(.previews, Self.arguments(PreviewsOwed.codes))
        state.withLock { $0.ordered = (operation.id, owed.count) }
    }
}
