import Files
import PhotoModel
import Synchronization

/// One thread's share of the drop folders, as the other threads see it: its orders, its reports and its pulse.
final class Lane: Sendable {
    enum Order: Sendable {
        case stop
        /// Look at everything in one drop folder, or in all.
        case rescan(drop: String?)
        /// The drop folders, or the mounts they lie on, have changed.
        case assign
        case recheck(Path)
    }

    private struct State {
        var orders: [Order] = []
        var health: [DropHealth] = []
        var isStopping = false
        var hasUnheardRescan = false
    }

    private let state: Mutex<State>
    private let turns = Atomic<UInt64>(0)
    private let lastTurn = Atomic<Int64>(Moment.now.nanoseconds)
    private let hasEnded = Atomic<Bool>(false)
    /// Without one, orders are seen within a second.
    let bell = Bell()

    init(_ drops: [DropFolder]) { state = Mutex(State(health: drops.map(DropHealth.init(notYetSeen:)))) }

    // MARK: From the other threads

    func give(_ order: Order) {
        state.withLock {
            $0.orders.append(order)
            switch order {
            case .stop: $0.isStopping = true
            case .rescan(let name):
                // From this moment on it is not idle, however long it takes to hear of it.
                for place in $0.health.indices where name == nil || $0.health[place].name == name {
                    $0.health[place].hasFinishedFirstScan = false
                }
                $0.hasUnheardRescan = true
            case .assign, .recheck: break
            }
        }
        bell?.ring()
    }

    var health: [DropHealth] { state.withLock { $0.health } }
    /// Moves with every turn, at least every five seconds.
    var progressMark: UInt64 { turns.load(ordering: .relaxed) }
    var isOver: Bool { hasEnded.load(ordering: .acquiring) }
    /// Since when it stands still.
    var lastSign: Moment { Moment(nanoseconds: lastTurn.load(ordering: .relaxed)) }

    // MARK: From its own

    func takeOrders() -> [Order] {
        state.withLock { state in
            defer { state.orders.removeAll() }
            state.hasUnheardRescan = false
            return state.orders
        }
    }

    /// Whether it was told to stop: asked again after anything that may have taken long.
    var isStopping: Bool { state.withLock { $0.isStopping } }

    /// - Returns: whether more than counts has changed.
    func publish(_ health: [DropHealth]) -> Bool {
        state.withLock { state in
            // What was found out before an order that waits says nothing about it.
            guard !state.hasUnheardRescan else { return false }
            defer { state.health = health }
            return state.health.map(\.withoutCounts) != health.map(\.withoutCounts)
        }
    }

    func markTurn() {
        turns.wrappingAdd(1, ordering: .relaxed)
        lastTurn.store(Moment.now.nanoseconds, ordering: .relaxed)
    }

    func end() { hasEnded.store(true, ordering: .releasing) }
}
