package import PhotoModel
import Synchronization
import Workers

/// What is being imported at this moment, for the status page, for cancelling, and for the watchdog.
package final class InFlight: Sendable {
    private struct Entry {
        var shown: InFlightImport
        var cancellation: Cancellation
        var lastMove: Duration
        /// For another import to come to its end; that one is watched.
        var isWaiting = false
    }

    private let entries = Mutex<[Job.ID: Entry]>([:])
    private let monotonic: @Sendable () -> Duration
    private let onProgress: @Sendable (InFlightImport) -> Void

    package init(
        monotonic: @escaping @Sendable () -> Duration, onProgress: @escaping @Sendable (InFlightImport) -> Void
    ) {
        self.monotonic = monotonic
        self.onProgress = onProgress
    }

    package var imports: [InFlightImport] {
        entries.withLock { $0.values.map(\.shown) }.sorted { $0.job < $1.job }
    }

    /// Moves on with every sign of life of the import that has been still longest; nil when there is none. Copying is
    /// left out: a card or share that hangs blocks only itself. So is waiting for another import, whose time it is.
    package var progressMark: UInt64? {
        entries.withLock { entries in
            entries.values.filter { $0.shown.phase != .copying && !$0.isWaiting }.map(\.lastMove).min()
        }.map { UInt64($0.components.seconds * 1000 + $0.components.attoseconds / 1_000_000_000_000_000) }
    }

    func begin(_ job: Job, cancellation: Cancellation) {
        let shown = InFlightImport(
            job: job.id, batch: job.batch, phase: .copying, path: job.files.first?.path ?? Path(bytes: []),
            bytesDone: 0, bytesTotal: job.files.reduce(0) { $0 + $1.stamp.size })
        let entry = Entry(shown: shown, cancellation: cancellation, lastMove: monotonic())
        entries.withLock { $0[job.id] = entry }
        onProgress(shown)
    }

    func update(_ job: Job.ID, _ change: (inout InFlightImport) -> Void) {
        let now = monotonic()
        let shown = entries.withLock { entries -> InFlightImport? in
            guard var entry = entries[job] else { return nil }
            change(&entry.shown)
            entry.lastMove = now
            entries[job] = entry
            return entry.shown
        }
        if let shown { onProgress(shown) }
    }

    /// An import waits for another one, or goes on; its time then begins anew.
    func setWaiting(_ isWaiting: Bool, _ job: Job.ID) {
        let now = monotonic()
        entries.withLock {
            $0[job]?.isWaiting = isWaiting
            $0[job]?.lastMove = now
        }
    }

    func end(_ job: Job.ID) { entries.withLock { $0[job] = nil } }

    /// Asks an import to roll back; it does so at its next step unless it is committing already.
    ///
    /// - Returns: whether the job was in flight.
    package func cancel(_ job: Job.ID) -> Bool {
        let cancellation = entries.withLock { $0[job]?.cancellation }
        cancellation?.cancel(.requested)
        return cancellation != nil
    }

    /// The service stops: every import rolls back and is given back, but for those that are committing.
    package func stopAll() {
        for cancellation in entries.withLock({ $0.values.map(\.cancellation) }) { cancellation.cancel(.stopping) }
    }
}
