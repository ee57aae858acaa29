package import PhotoModel
package import Store
import Synchronization
import Workers

/// Claims jobs and carries each to its end: a sliding window of imports, a pulse that probes outages and settles what
/// was left behind, and the record of every outcome.
package final class ImportRoom: Sendable {
    let rooms: ImportRooms
    let keeper: LibraryKeeper
    let outages: Outages
    let settings: @Sendable () -> Settings
    let signals: Signals
    /// A thread for the pulse and one for sources, so that nothing that hangs elsewhere can hold them up.
    let pulsePool = BlockingPool(named: "pulse", width: 1)
    let disposalPool = BlockingPool(named: "sources", width: 1)
    let bell = Bell()
    /// Rings when something is owed to a source.
    let owed = Bell()
    let away = AwayDrops()
    let crowded = Crowded()
    private let claimTurn = Mutex<Void>(())
    private let hasEnded = Atomic<Bool>(false)
    private let needsRecovery = Atomic<Bool>(true)
    private let pulses = Atomic<UInt64>(0)
    private let beats = Atomic<UInt64>(0)
    private let startedAt: Timestamp
    /// Whose sources may go that waited for the mirror. Asked for each of very many, that would be a lot of asking.
    private let mirrorNews = Mutex<MirrorNews?>(.all)

    /// What the room tells the others.
    package struct Signals: Sendable {
        /// A photo of so many bytes came in.
        package var imported: @Sendable (Int64) -> Void
        /// A source changed under its import and has to settle anew.
        package var sourceChanged: @Sendable (Path) -> Void
        /// Whether the room ends when nothing is left to do, and nothing more can come: `--once`.
        package var isDrained: @Sendable () -> Bool
        package var endsWhenDrained: Bool
        /// Whether the run before died of its own fault, so that what it was importing is suspect.
        package var hasCrashed: @Sendable () -> Bool
        /// The suspects have been counted.
        package var crashIsCounted: @Sendable () -> Void
        /// The drop folders that do not answer: whoever touched them would hang.
        package var silentDrops: @Sendable () -> Set<String>
        /// Whether a source goes only when its originals are on the mirror, too.
        package var needsMirror: @Sendable () -> Bool
        /// Waits until the mirror holds what it can get: before the last look at sources, where the room ends by itself.
        package var finishMirror: @Sendable () -> Void

        package init(
            imported: @escaping @Sendable (Int64) -> Void,
            sourceChanged: @escaping @Sendable (Path) -> Void,
            isDrained: @escaping @Sendable () -> Bool, endsWhenDrained: Bool,
            hasCrashed: @escaping @Sendable () -> Bool, crashIsCounted: @escaping @Sendable () -> Void,
            silentDrops: @escaping @Sendable () -> Set<String>,
            needsMirror: @escaping @Sendable () -> Bool = { false },
            finishMirror: @escaping @Sendable () -> Void = {}
        ) {
            self.imported = imported
            self.sourceChanged = sourceChanged
            self.isDrained = isDrained
            self.endsWhenDrained = endsWhenDrained
            self.hasCrashed = hasCrashed
            self.crashIsCounted = crashIsCounted
            self.silentDrops = silentDrops
            self.needsMirror = needsMirror
            self.finishMirror = finishMirror
        }
    }

    package init(
        rooms: ImportRooms, keeper: LibraryKeeper, outages: Outages,
        settings: @escaping @Sendable () -> Settings, signals: Signals
    ) {
        self.rooms = rooms
        self.keeper = keeper
        self.outages = outages
        self.settings = settings
        self.signals = signals
        startedAt = rooms.now()
    }

    /// Moves on with every pulse, about once a second, and while recovery reads; the watchdog looks at it.
    package var progressMark: UInt64 { pulses.load(ordering: .relaxed) }

    func isAlive() { pulses.wrappingAdd(1, ordering: .relaxed) }

    /// Something may be there to claim.
    package func wake() { bell.ring() }

    /// More originals are on the mirror: sources that waited for that may go.
    package func sourcesMayGo(_ news: MirrorNews = .all) {
        mirrorNews.withLock { known in
            if known == nil { known = news } else { known?.add(news) }
        }
        owed.ring()
    }

    /// What the mirror, where there is one, has brought about since the last look at sources.
    func takeMirrorNews() -> MirrorNews? {
        let news = mirrorNews.withLock { known in
            defer { known = nil }
            return known
        }
        return signals.needsMirror() ? news : .all
    }

    /// Runs until the daemon stops, or, with `--once`, until nothing is left. Then every import in flight has ended.
    package func run(width: Int) async {
        await withTaskGroup { group in
            group.addTask {
                await ImportWindow().run(
                    width: width, claim: { await self.next() }, job: \.claim.job.id, importing: { await self.carry($0) }
                )
            }
            group.addTask {
                await self.disposeOfSources()
            }
            group.addTask { await self.pulse() }
            // The window ends by itself, then what is owed to sources is done once more; the pulse goes on until then.
            await group.next()
            if signals.endsWhenDrained, !rooms.isStopping() { await rooms.pool.run { self.signals.finishMirror() } }
            hasEnded.store(true, ordering: .releasing)
            sourcesMayGo()
            await group.next()
            group.cancelAll()
        }
    }

    // MARK: Claiming

    private func next() async -> Holding? {
        while !rooms.isStopping() {
            let seen = bell.count
            // Asked before the claim: what is handed over in between rings the bell.
            let isDrained = signals.endsWhenDrained && (signals.isDrained() || !outages.mayWork)
            let holding = outages.mayWork ? await rooms.pool.run { self.claim() } : nil
            if let holding { return holding }
            if isDrained, rooms.inFlight.imports.isEmpty { return nil }
            await bell.wait(after: seen)
        }
        return nil
    }

    /// A claimed job, known to be in flight.
    struct Holding: Sendable {
        let claim: Store.Claim
        let cancellation: Cancellation
    }

    /// Claims and registers under one lock, so that whoever cancels, stops or recovers finds a job either queued or in
    /// flight, and never in between.
    func claim() -> Holding? {
        // One import after the other would hang on a share that does not answer, until no other had a thread.
        let silent = signals.silentDrops()
        return claimTurn.withLock { _ in
            guard !rooms.isStopping(), !needsRecovery.load(ordering: .acquiring) else { return nil }
            do throws(Problem) {
                // A run that ends when drained takes no job twice: what failed after its start waits for the next.
                let time = signals.endsWhenDrained ? startedAt : rooms.now()
                guard let claim = try rooms.store.claim(importID: rooms.newID(), blockedDrops: silent, at: time)
                else { return nil }
                crowded.remove(claim.job.id)
                let cancellation = Cancellation()
                rooms.inFlight.begin(claim.job, cancellation: cancellation)
                // A stop that came meanwhile has looked for imports in flight already.
                if rooms.isStopping() { cancellation.cancel(.stopping) }
                return Holding(claim: claim, cancellation: cancellation)
            } catch {
                note(error)
                return nil
            }
        }
    }

    /// Takes a job out of the queue, or asks its import to roll back.
    package func cancel(_ job: Job.ID) throws(Problem) -> Store.CancelOutcome {
        try claimTurn.withLock { _ throws(Problem) in
            let outcome = try rooms.store.cancel(job, at: rooms.now())
            if case .inFlight = outcome { _ = rooms.inFlight.cancel(job) }
            return outcome
        }
    }

    /// - Returns: the jobs whose imports are being rolled back.
    package func cancelBatch(_ batch: Batch.ID) throws(Problem) -> [Job.ID] {
        try claimTurn.withLock { _ throws(Problem) in
            let running = try rooms.store.cancelBatch(batch, at: rooms.now())
            for job in running { _ = rooms.inFlight.cancel(job) }
            return running
        }
    }

    // MARK: Carrying

    private func carry(_ holding: Holding) async {
        let job = holding.claim.job
        tell(job, .copying)
        if let plan = ImportPlan(job: job, settings: settings()) {
            let outcome: ImportOutcome
            if let library = keeper.library {
                outcome = await Importer(
                    rooms: rooms, library: library, claim: holding.claim, plan: plan,
                    cancellation: holding.cancellation,
                    patience: signals.endsWhenDrained ? nil : Arrival.patience
                ).run()
            } else {
                outcome = .outage(Problem(.libraryOffline, "The library is not open."))
            }
            await rooms.pool.run { self.close(holding, outcome, plan: plan) }
        } else {
            let problem = Problem(
                .sourceVanished, "The drop folder \(SafeText.of(job.drop)) is no longer configured.",
                todo: "Configure it again; its photos are then found anew.")
            await rooms.pool.run {
                self.closing(holding) { self.finish(holding.claim, as: .vanished, problem: problem) }
            }
        }
        bell.ring()
    }

    /// Records an outcome as it is now: a cancellation that came when the import had ended counts as well.
    func close(_ holding: Holding, _ outcome: ImportOutcome, plan: ImportPlan) {
        closing(holding) {
            record(outcome.given(up: holding.cancellation.reason), of: holding.claim, plan: plan)
        }
    }

    /// Under the lock of claiming: whoever cancels finds the job in flight and is heard, or finds it recorded; and nobody
    /// claims it again before it has left.
    private func closing(_ holding: Holding, _ record: () -> Void) {
        claimTurn.withLock { _ in
            record()
            rooms.turns.end(holding.claim.job.id)
            rooms.inFlight.end(holding.claim.job.id)
        }
    }

    func tell(_ job: Job, _ state: JobState, problem: Problem? = nil, asset: Asset.ID? = nil) {
        rooms.event(
            .job(id: job.id, batch: job.batch, drop: job.drop, state: state, problem: problem, asset: asset))
    }

    /// Notes an outage; says so once.
    func note(_ problem: Problem) {
        if outages.begin(problem) { rooms.log(LogLine(.error, problem)) }
    }

    /// After trouble with the state nobody knows what it holds: recovery looks before anything new is claimed.
    func requireRecovery() { needsRecovery.store(true, ordering: .releasing) }

    func isSettled() { needsRecovery.store(false, ordering: .releasing) }

    // MARK: The pulse

    private func pulse() async {
        while !Task.isCancelled {
            await pulsePool.run { self.beat() }
            isAlive()
            bell.ring()
            do {
                try await Task.sleep(for: .seconds(1))
            } catch {
                return  // cancelled: the room is done
            }
        }
    }

    private func beat() {
        for problem in outages.due() { probe(problem) }
        if let library = keeper.library { rooms.leftovers.remove(from: library) }
        recoverIfNeeded()
        lookForRoom()
        let beat = beats.wrappingAdd(1, ordering: .relaxed).newValue
        if beat % 60 == 0 { sourcesMayGo() } else if !away.all.isEmpty { owed.ring() }
        do throws(Problem) {
            try rooms.store.closeQuietBatches(at: rooms.now())
        } catch {
            note(error)
        }
    }

    private func recoverIfNeeded() {
        guard needsRecovery.load(ordering: .acquiring), outages.reasons.isEmpty, let library = keeper.library else {
            return
        }
        // While the flag is up nothing is claimed; once nobody is in flight under the lock, nobody will be.
        guard claimTurn.withLock({ _ in rooms.inFlight.imports.isEmpty }) else { return }
        do throws(Problem) {
            try settle(in: library) { isAlive() }
        } catch {
            note(error)
        }
    }

    // MARK: Sources

    /// Moves and deletes sources, one after the other, on a thread of its own: a drop folder that hangs holds up neither
    /// imports nor the pulse. Looks again every minute at what could not be done, for a drop that was away.
    private func disposeOfSources() async {
        while true {
            let seen = owed.count
            let isLast = hasEnded.load(ordering: .acquiring)
            await disposalPool.run {
                do throws(Problem) {
                    self.lookForSources()
                    if !self.needsRecovery.load(ordering: .acquiring) { try self.disposePending() }
                } catch {
                    self.note(error)
                }
            }
            if isLast { return }
            await owed.wait(after: seen)
        }
    }
}
