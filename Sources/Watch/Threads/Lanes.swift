import Files
import Glibc
import PhotoModel
import Synchronization
import Workers

/// Which thread watches which drop folder: all local ones share the watcher's own, and each that lies on a share has one
/// to itself, so that a server that does not answer keeps nobody else waiting.
///
/// Only the shared lane's thread deals the folders out, ``assign()``, at the start, at a reload, and when mounts change.
final class Lanes: Sendable {
    private struct Apart {
        let drop: DropFolder
        let lane: Lane
        var isSaidSilent = false
    }

    private struct State {
        var drops: [DropFolder]
        var apart: [Apart] = []
    }

    let shared: Lane
    private let state: Mutex<State>
    private let door: Watcher.Door
    private let tuning: WatchTuning
    private let remotePlaces: @Sendable () -> RemotePlaces

    init(
        _ drops: [DropFolder], door: Watcher.Door, tuning: WatchTuning,
        remotePlaces: @escaping @Sendable () -> RemotePlaces = RemotePlaces.now
    ) {
        shared = Lane(drops)
        state = Mutex(State(drops: drops))
        self.door = door
        self.tuning = tuning
        self.remotePlaces = remotePlaces
    }

    // MARK: From any thread

    /// In the order of the configuration.
    var health: [DropHealth] {
        let (drops, apart) = state.withLock { ($0.drops, $0.apart) }
        let shared = shared.health
        let now = Moment.now
        return drops.map { drop in
            guard let own = apart.first(where: { $0.drop == drop }) else {
                return shared.first { $0.name == drop.name } ?? Self.unwatched(drop)
            }
            var health = own.lane.health.first ?? DropHealth(notYetSeen: drop)
            if isSilent(own.lane, at: now) {
                health.isSilent = true
                health.health = .degraded
                health.reasons.append(Self.silence(of: drop))
            }
            return health
        }
    }

    func configure(_ drops: [DropFolder]) {
        state.withLock { $0.drops = drops }
        shared.give(.assign)
    }

    func give(_ order: Lane.Order) {
        for lane in all { lane.give(order) }
    }

    private var all: [Lane] { [shared] + state.withLock { $0.apart.map(\.lane) } }

    // MARK: From the shared lane's thread

    /// Deals the drop folders out anew.
    /// - Returns: those of the shared lane.
    func assign() -> [DropFolder] {
        let (drops, old) = state.withLock { ($0.drops, $0.apart) }
        let places = remotePlaces()
        let wanted = drops.filter { places.areTouched(by: $0.path) }
        var apart = old.filter { wanted.contains($0.drop) }
        // One that hangs ends when its server answers; what it finds then, the queue knows.
        for leaving in old where !wanted.contains(leaving.drop) { leaving.lane.give(.stop) }
        for drop in wanted where !apart.contains(where: { $0.drop == drop }) {
            if let lane = start(drop) { apart.append(Apart(drop: drop, lane: lane)) }
        }
        let result = apart
        state.withLock { $0.apart = result }
        // One without a thread is not watched until there is one: in the shared lane it could stop all the others.
        return drops.filter { !wanted.contains($0) }
    }

    /// Whether a share waits for a thread of its own: worth another ``assign()`` now and then.
    var lacksThread: Bool {
        let (drops, apart) = state.withLock { ($0.drops, $0.apart) }
        let shared = shared.health
        return drops.contains { drop in
            !apart.contains { $0.drop == drop } && !shared.contains { $0.name == drop.name }
        }
    }

    private func start(_ drop: DropFolder) -> Lane? {
        let lane = Lane([drop])
        let (door, tuning) = (door, tuning)
        let thread = DaemonThread(trying: "watch \(drop.name)") {
            WatchLoop(lane: lane, door: door, tuning: tuning).run([drop])
            lane.end()
        }
        guard thread != nil else { return nil }
        return lane
    }

    /// Says once which shares do not answer, and once that they do again.
    func noticeSilence(at now: Moment) {
        let changes = state.withLock { state in
            var changes: [(DropFolder, Bool)] = []
            for place in state.apart.indices {
                let isSilent = isSilent(state.apart[place].lane, at: now)
                guard isSilent != state.apart[place].isSaidSilent else { continue }
                state.apart[place].isSaidSilent = isSilent
                changes.append((state.apart[place].drop, isSilent))
            }
            return changes
        }
        for (drop, isSilent) in changes {
            let fields = [("DROP", drop.name), ("PATH", SafeText.of(drop.path))]
            door.log(
                isSilent
                    ? LogLine(.warning, Self.silence(of: drop), fields)
                    : LogLine(.info, "The drop folder answers again.", fields))
        }
        if !changes.isEmpty { door.changed() }
    }

    /// By the shared lane's turns: after a suspend, or while the state holds everybody up, nobody is silent before others
    /// have moved.
    private func isSilent(_ lane: Lane, at now: Moment) -> Bool {
        !lane.isOver && now - lane.lastSign > tuning.silence
            && (shared.isOver || shared.lastSign - lane.lastSign > tuning.silence)
    }

    private static func unwatched(_ drop: DropFolder) -> DropHealth {
        var health = DropHealth(notYetSeen: drop)
        health.health = .degraded
        health.reasons = [
            Problem(
                .memory, "There is no thread to watch the drop folder \(SafeText.of(drop.path)) with.",
                todo: "Raise TasksMax of the service; it is tried again by itself.")
        ]
        return health
    }

    private static func silence(of drop: DropFolder) -> Problem {
        Problem(
            .sourceIO, "The drop folder \(SafeText.of(drop.path)) does not answer.",
            todo: "Look whether its server runs and can be reached; everything else goes on, and so does this one then."
        )
    }

    /// Waits for the other lanes to end. In a `once` life for as long as they get on; once there is an order to stop, not
    /// for long: one that hangs in the kernel ends with the process.
    func waitForOthers() {
        if !tuning.isOnce { give(.stop) }
        var end: Moment?
        for lane in all.dropFirst() {
            while !lane.isOver {
                let now = Moment.now
                if shared.isStopping, end == nil { end = now + tuning.partingWait }
                if let end, now >= end { break }
                if isSilent(lane, at: now) { break }
                usleep(5_000)
            }
        }
    }
}
