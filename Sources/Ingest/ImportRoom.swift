package import PhotoModel
import Store
import Synchronization
package import Workers

/// Claims jobs and carries each to its end: a sliding window of imports, a pulse that probes outages and settles what
/// was left behind, and the record of every outcome.
package final class ImportRoom: Sendable {
    let rooms: ImportRooms
    let keeper: LibraryKeeper
    let outages: Outages
    let settings: @Sendable () -> Settings
    let signals: Signals
    /// For the pulse and for people's orders, so that imports that fill their pool cannot hold them up.
    let housekeeping: BlockingPool
    let bell = Bell()
    package let away = AwayDrops()
    private let needsRecovery = Atomic<Bool>(true)
    private let pulses = Atomic<UInt64>(0)
    let dispositionTurn = Mutex<Void>(())
    private let startedAt: Timestamp

    /// What the room tells the others.
    package struct Signals: Sendable {
        package var event: @Sendable (SpoolEvent) -> Void
        /// A source changed under its import and has to settle anew.
        package var sourceChanged: @Sendable (Path) -> Void
        /// Whether the room ends when nothing is left to do, and nothing more can come: `--once`.
        package var isDrained: @Sendable () -> Bool
        package var endsWhenDrained: Bool
        /// Whether the run before died of its own fault, so that what it was importing is suspect.
        package var hasCrashed: @Sendable () -> Bool
        /// The suspects have been counted.
        package var crashIsCounted: @Sendable () -> Void

        package init(
            event: @escaping @Sendable (SpoolEvent) -> Void, sourceChanged: @escaping @Sendable (Path) -> Void,
            isDrained: @escaping @Sendable () -> Bool, endsWhenDrained: Bool,
            hasCrashed: @escaping @Sendable () -> Bool, crashIsCounted: @escaping @Sendable () -> Void
        ) {
            self.event = event
            self.sourceChanged = sourceChanged
            self.isDrained = isDrained
            self.endsWhenDrained = endsWhenDrained
            self.hasCrashed = hasCrashed
            self.crashIsCounted = crashIsCounted
        }
    }

    package init(
        rooms: ImportRooms, keeper: LibraryKeeper, outages: Outages, housekeeping: BlockingPool,
        settings: @escaping @Sendable () -> Settings, signals: Signals
    ) {
        self.rooms = rooms
        self.keeper = keeper
        self.outages = outages
        self.housekeeping = housekeeping
        self.settings = settings
        self.signals = signals
        startedAt = rooms.now()
    }

    /// Moves on with every pulse, about once a second; the watchdog looks at it.
    package var progressMark: UInt64 { pulses.load(ordering: .relaxed) }

    /// Something may be there to claim.
    package func wake() { bell.ring() }

    /// Runs until the daemon stops, or, with `--once`, until nothing is left. Then every import in flight has ended.
    package func run(width: Int) async {
        await withTaskGroup { group in
            group.addTask {
                await ImportWindow().run(
                    width: width, claim: { await self.next() }, job: \.job.id, importing: { await self.carry($0) })
            }
            group.addTask { await self.pulse() }
            // The window ends by itself; the pulse goes on until it has.
            await group.next()
            group.cancelAll()
        }
    }

    // MARK: Claiming

    private func next() async -> Store.Claim? {
        while !rooms.isStopping() {
            let seen = bell.count
            if outages.mayWork, !needsRecovery.load(ordering: .acquiring) {
                let claim = await rooms.pool.run { self.claim() }
                if let claim { return claim }
            }
            if signals.endsWhenDrained, isFinished() { return nil }
            await bell.wait(after: seen)
        }
        return nil
    }

    private func claim() -> Store.Claim? {
        do throws(Problem) {
            // A run that ends when drained takes no job a second time: what failed after its start waits for the next.
            let time = signals.endsWhenDrained ? startedAt : rooms.now()
            return try rooms.store.claim(importID: rooms.newID(), blockedDrops: away.names, at: time)
        } catch {
            note(error)
            return nil
        }
    }

    private func isFinished() -> Bool {
        signals.isDrained() && rooms.inFlight.imports.isEmpty || !outages.mayWork && rooms.inFlight.imports.isEmpty
    }

    // MARK: Carrying

    private func carry(_ claim: Store.Claim) async {
        let cancellation = Cancellation()
        let job = claim.job
        rooms.inFlight.begin(job, cancellation: cancellation)
        tell(job, .copying)
        let outcome: ImportOutcome
        if let plan = ImportPlan(job: job, settings: settings()) {
            if let library = keeper.library {
                outcome = await Importer(
                    rooms: rooms, library: library, claim: claim, plan: plan, cancellation: cancellation
                ).run()
                await rooms.pool.run { self.record(outcome, of: claim, plan: plan) }
            } else {
                outcome = .outage(Problem(.libraryOffline, "The library is not open."))
                await rooms.pool.run { self.record(outcome, of: claim, plan: plan) }
            }
        } else {
            let problem = Problem(
                .sourceVanished, "The drop folder \(SafeText.of(job.drop)) is no longer configured.",
                todo: "Configure it again and retry the job, or import the files by hand.")
            await rooms.pool.run { self.finish(claim, as: .vanished, problem: problem) }
        }
        rooms.inFlight.end(job.id)
        bell.ring()
    }

    func tell(_ job: Job, _ state: JobState, problem: Problem? = nil, asset: Asset.ID? = nil) {
        signals.event(
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
            await housekeeping.run { self.beat() }
            pulses.wrappingAdd(1, ordering: .relaxed)
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
        lookForDrops()
        if needsRecovery.load(ordering: .acquiring), rooms.inFlight.imports.isEmpty { recover() }
        do throws(Problem) {
            try rooms.store.closeQuietBatches(at: rooms.now())
            // A drop that was away when its sources were due may be back.
            if pulses.load(ordering: .relaxed) % 60 == 59, outages.mayWork { try disposePending() }
        } catch {
            note(error)
        }
    }

    private func recover() {
        guard outages.reasons.isEmpty, let library = keeper.library else { return }
        do throws(Problem) {
            try settle(in: library) { _, _ in }
        } catch {
            note(error)
        }
    }
}
