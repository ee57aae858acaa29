import Glibc
package import Ingest
package import PhotoModel
package import Store
import Synchronization
import Workers

/// Keeps the mirror up to the library, on a thread of its own: what the catalog holds and the mirror does not is copied to it,
/// and what left the catalog leaves it. Imports never wait for it; whether it is there is its own affair.
package final class MirrorRoom: Sendable {
    private let store: Store
    private let library: @Sendable () -> Library?
    private let settings: @Sendable () -> LibrarySettings
    private let log: Log
    private let monotonic: @Sendable () -> Duration
    private let advanced: @Sendable (Set<Asset.ID>) -> Void
    private let keeper: MirrorKeeper
    private let state = Mutex(State())
    private let bell = Doorbell()

    /// Counting more than this, every second and for every question, would be noticed; such a count is good for a while.
    private static let many = 10_000
    private static let manyGap = Duration.seconds(10)
    /// Between two looks at a mirror to which nothing is owed.
    private static let lookGap = Duration.seconds(10)
    /// Until what could not be had is tried again.
    private static let retryGap = Duration.seconds(3600)
    /// Between two copies of the journal; of a large one, a month of a busy library, four seconds a megabyte.
    private static let journalGap = Duration.seconds(30)

    /// - Parameters:
    ///   - library: the open library; nil while it is away.
    ///   - advanced: told when more originals are on the mirror, and of which assets.
    package init(
        store: Store, library: @escaping @Sendable () -> Library?,
        settings: @escaping @Sendable () -> LibrarySettings, log: @escaping Log,
        now: @escaping @Sendable () -> Timestamp, monotonic: @escaping @Sendable () -> Duration,
        advanced: @escaping @Sendable (Set<Asset.ID>) -> Void
    ) {
        self.store = store
        self.library = library
        self.settings = settings
        self.log = log
        self.monotonic = monotonic
        self.advanced = advanced
        keeper = MirrorKeeper(store: store, log: log, now: now)
    }

    // MARK: For the others

    /// Something may be owed. Also to be called every second or so: the thread itself keeps no time.
    package func wake() { bell.ring() }

    /// What could not be had is to be tried again at once.
    package func retry() {
        state.withLock {
            $0.nextRetry = .zero
            $0.outage?.nextTry = .zero
        }
        bell.ring()
    }

    /// How the mirror is; nil where none is configured.
    package var status: MirrorStatus? {
        let path = settings().mirror
        if path.isEmpty { return nil }
        let seen = state.withLock { $0 }
        let isSame = seen.path == path
        let (outage, free) = isSame ? (seen.outage?.problem, seen.freeBytes) : (nil, nil)
        let debts: Store.MirrorDebts
        do throws(Problem) { debts = try isSame ? counted(seen) : store.mirrorDebts() } catch {
            // The state's own trouble has its own line.
            return MirrorStatus(path: path, freeBytes: free, behind: 0, reasons: [outage].compactMap { $0 })
        }
        return MirrorStatus(
            path: path, freeBytes: free, debts: debts, outage: outage,
            refusals: isSame ? Array(seen.refusals.values) : [], removal: isSame ? seen.removalProblem : nil,
            journal: isSame ? seen.journalProblem : nil)
    }

    private func counted(_ seen: State) throws(Problem) -> Store.MirrorDebts {
        let now = monotonic()
        if let many = seen.many, now - many.at < Self.manyGap { return many.debts }
        let debts = try store.mirrorDebts()
        state.withLock { $0.many = debts.all > Self.many ? (debts, now) : nil }
        return debts
    }

    /// Whether it is there and has something to do, so far as anybody knows. An absent mirror waits for somebody else.
    package var isAtWork: Bool {
        let path = settings().mirror
        guard !path.isEmpty, library() != nil else { return false }
        let (isOut, hasLooked, stuck) = state.withLock { state in
            state.path == path ? (state.outage != nil, state.hasLooked, state.stuckRemoval) : (false, false, 0)
        }
        if isOut { return false }
        if !hasLooked { return true }
        // Trouble with the state is told by itself.
        do throws(Problem) { return try store.hasWorkForMirror(after: stuck) } catch { return false }
    }

    /// Whether something is left that a later run has to do.
    package var isBehind: Bool {
        guard !settings().mirror.isEmpty else { return false }
        do throws(Problem) { return try store.mirrorDebts().all > 0 } catch { return true }  // nobody knows
    }

    /// Waits until the mirror holds what it can get, its copy of the journal too; blocking.
    package func finish() {
        guard !settings().mirror.isEmpty else { return }
        // The round at this moment may have passed the journal already; the next one has not.
        let enough = state.withLock { state in
            state.isFinishing = true
            state.nextJournal = .zero
            return state.rounds + 2
        }
        while true {
            let (rounds, sign, isOver) = state.withLock { ($0.rounds, $0.lastSign, $0.isStopping || $0.hasEnded) }
            if isOver || (rounds >= enough && !isAtWork) { return }
            if monotonic() - sign > Self.patience {
                return log(LogLine(.warning, "The mirror does not answer; what it lacks is left for later."))
            }
            bell.ring()
            usleep(20_000)
        }
    }

    /// How long a call may take while somebody waits for the mirror: as long as a slow disk needs for what is in memory.
    private static let patience = Duration.seconds(600)

    /// The mirror, open, for a check of it.
    package func mirror() throws(Problem) -> Library {
        let settings = settings()
        guard !settings.mirror.isEmpty else {
            throw Problem(
                .badRequest, "No mirror is configured.", todo: "Write library.mirror into the configuration first.")
        }
        guard let library = library() else {
            throw Problem(.libraryOffline, "The library is not there at the moment.")
        }
        return try keeper.open(settings, of: library)
    }

    // MARK: The thread

    /// Works until ``stop()``; blocking, on a thread of the caller's.
    package func run() {
        while !state.withLock({ $0.isStopping }) {
            round()
            state.withLock { $0.rounds += 1 }
            if !state.withLock({ $0.isStopping }) { bell.wait() }
        }
        state.withLock { $0.hasEnded = true }
    }

    package func stop() {
        state.withLock { $0.isStopping = true }
        bell.ring()
    }

    /// Whether ``run()`` has returned. A call to a share that hangs may keep it from that.
    package var hasEnded: Bool { state.withLock { $0.hasEnded } }

    private func round() {
        let settings = settings()
        let now = monotonic()
        state.withLock { state in
            state.lastSign = now
            guard state.path != settings.mirror else { return }
            var new = State()
            new.path = settings.mirror
            new.lastSign = now
            (new.isFinishing, new.isStopping, new.rounds) = (state.isFinishing, state.isStopping, state.rounds)
            state = new
        }
        guard !settings.mirror.isEmpty, let library = library() else { return }
        if let outage = state.withLock({ $0.outage }), !outage.isDue(at: now) { return }
        do throws(MirrorEnded) {
            guard try hasReason(settings, library, at: now) else { return }
            try turn(settings, library, at: now)
            settle()
        } catch {
            note(error, at: monotonic())
        }
    }

    /// Whether the mirror has to be opened.
    private func hasReason(
        _ settings: LibrarySettings, _ library: Library, at now: Duration
    ) throws(MirrorEnded) -> Bool {
        let seen = state.withLock { $0 }
        if !seen.hasLooked || seen.outage != nil { return true }
        if try elsewhere({ () throws(Problem) in try store.hasWorkForMirror(after: seen.stuckRemoval) }) { return true }
        if !seen.refusals.isEmpty || seen.removalProblem != nil, seen.nextRetry <= now { return true }
        guard seen.nextLook <= now || seen.isFinishing else { return false }
        if seen.nextJournal <= now {
            let present = try elsewhere { () throws(Problem) in try MirrorJournal.present(in: library) }
            if present != seen.journal { return true }
        }
        let free = try elsewhere { () throws(Problem) in try keeper.look(settings) }
        state.withLock {
            $0.nextLook = now + Self.lookGap
            $0.freeBytes = free
        }
        guard let free else { return true }
        guard let lacking = seen.lackingRoom, free - settings.reserveFree.bytes >= lacking else { return false }
        state.withLock { $0.nextRetry = .zero }
        return true
    }

    private func turn(_ settings: LibrarySettings, _ library: Library, at now: Duration) throws(MirrorEnded) {
        // An older state knows of deletions and originals that are none any more.
        try elsewhere { () throws(Problem) in try library.checkNotAhead(of: store) }
        let mirror = try ofMirror { () throws(Problem) in try keeper.open(settings, of: library) }
        let (block, isRetry, stuck) = state.withLock { state in
            let isRetry = !state.hasLooked || state.outage != nil || state.nextRetry <= now
            if isRetry { (state.stuckRemoval, state.removalProblem) = (0, nil) }
            return (state.outage?.stumblingBlock, isRetry, state.stuckRemoval)
        }
        // Also when another mirror is configured meanwhile, or none any more; and when the library was let go: held here
        // longer, it would keep itself from being opened again.
        let isStopping: @Sendable () -> Bool = {
            let now = self.monotonic()
            let isStopping = self.state.withLock { state in
                state.lastSign = now
                return state.isStopping
            }
            return isStopping || self.settings().mirror != mirror.path || self.library() !== library
        }
        var turn = MirrorTurn(
            store: store, library: library, mirror: mirror, isStopping: isStopping,
            refused: { self.refuse($0, lacking: $1) }, stuck: { self.pass(over: $0, $1) },
            advanced: { assets in
                self.state.withLock { $0.hasAdvanced = true }
                self.advanced(assets)
            }, stumblingBlock: block, stuckRemoval: stuck)
        try turn.prepare()
        try turn.catchUp()
        if isRetry {
            state.withLock {
                ($0.refusals, $0.lackingRoom) = ([:], nil)
                $0.nextRetry = now + Self.retryGap
            }
            try turn.retryRefused()
        }
        try copyJournal(MirrorJournal(library: library, mirror: mirror, isStopping: isStopping), library, at: now)
        let free = try ofMirror { () throws(Problem) in try mirror.freeBytes().bytes }
        state.withLock {
            $0.freeBytes = free
            $0.nextLook = now + Self.lookGap
        }
    }

    private func copyJournal(
        _ journal: MirrorJournal, _ library: Library, at now: Duration
    ) throws(MirrorEnded) {
        var (copied, isDue) = state.withLock { ($0.journal, $0.nextJournal <= now) }
        guard isDue else { return }
        let present = try elsewhere { () throws(Problem) in try MirrorJournal.present(in: library) }
        if present == copied { return }
        let copiedBefore = copied
        let problem = try journal.run(present, since: &copied)
        if let problem { log(LogLine(.warning, problem)) }
        let bytes = present.reduce(0) { $1.value == copiedBefore[$1.key] ? $0 : $0 + $1.value.size }
        let done = problem == nil ? copied : present  // what was left alone is looked at again when it has changed
        state.withLock {
            $0.journal = done
            $0.journalProblem = problem
            $0.nextJournal = now + max(Self.journalGap, .seconds(bytes >> 18))
        }
    }

    // MARK: What comes of it

    private func refuse(_ problem: Problem, lacking size: Int64?) {
        state.withLock {
            $0.refusals[problem.code] = problem
            if let size { $0.lackingRoom = min($0.lackingRoom ?? size, size) }
        }
        log(LogLine(.warning, problem))
    }

    private func pass(over removal: Store.MirrorRemoval, _ found: Problem) {
        let problem = Problem(
            found.code, found.whatHappened + " It is deleted, and stays on the mirror.",
            todo:
                "Look why it cannot be moved away; it is tried again every hour, or at once after `photospool reload`.")
        state.withLock { ($0.stuckRemoval, $0.removalProblem) = (removal.id, problem) }
        log(LogLine(.warning, problem))
    }

    /// All went well.
    private func settle() {
        let outage = state.withLock { state in
            defer {
                state.outage = nil
                state.hasLooked = true
            }
            return state.outage
        }
        if let problem = outage?.problem {
            log(LogLine(.info, "The mirror is written again.", [("CODE", problem.code.rawValue)]))
        }
    }

    private func note(_ ended: MirrorEnded, at now: Duration) {
        let (problem, place): (Problem?, Store.ResourcePlace?)
        switch ended {
        case .stopping: return
        case .elsewhere: (problem, place) = (nil, nil)
        case .mirror(let found, let at): (problem, place) = (found, at)
        }
        let isNews = state.withLock { state in
            let before = state.outage
            state.outage = MirrorOutage(problem, at: place, after: before, hasAdvanced: state.hasAdvanced, now: now)
            state.hasAdvanced = false
            state.hasLooked = true
            // What it has free is not known any more where it is not there.
            if problem?.code.isOutage ?? false, problem?.code != .libraryFull { state.freeBytes = nil }
            return problem != nil && before?.problem?.code != problem?.code
        }
        if isNews, let problem {
            log(LogLine(.error, problem.onMirror(saying: ""), [("MIRROR", SafeText.of(settings().mirror))]))
        }
    }
}
