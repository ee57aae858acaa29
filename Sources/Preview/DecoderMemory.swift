package import PhotoModel
import Synchronization
import Workers

/// What the decoders of all pools may take together, and how much of it a decoder that is idle keeps.
///
/// Of the budget comes off what idle decoders and the daemon itself may hold; the rest is shared by the decodes in flight.
/// At least half is always shared, however small the budget is.
package final class DecoderMemory: Sendable {
    /// The daemon's own, whatever it imports.
    static let ofDaemon: Int64 = 32 << 20
    /// A decoder that has loaded its libraries and decoded a photo, at least.
    static let leastKept: Int64 = 48 << 20
    /// Of one decoder, by its sandbox.
    static let ofSandbox: Int64 = 2 << 30

    private struct State {
        var budget: Int64
        var machine: Int64
        var decoders = 0
        var pressure: Pressure = .none

        /// What an idle decoder may keep: an eighth of the budget among all.
        var kept: Int64 {
            min(Int64(DecoderKeeper.residentLimit), max(leastKept, budget / 8 / Int64(max(1, decoders))))
        }

        var shared: Int64 { max(budget - ofDaemon - Int64(decoders) * kept, budget / 2) / pressure.divisor }

        /// What one picture gets at most: alone it may have more than the budget, but not what would bring the machine down.
        var most: Int64 { max(shared, min(ofSandbox, machine / 2)) }
    }

    /// How short of memory the machine is, by the kernel's own account.
    package enum Pressure: Sendable {
        case none, some, high

        /// - Parameter stalled: percent of the last ten seconds in which something waited for memory: `some avg10` of
        ///   /proc/pressure/memory, or of the cgroup's memory.pressure.
        package init(stalled: Double) {
            self = stalled >= 40 ? .high : stalled >= 10 ? .some : .none
        }

        var divisor: Int64 {
            switch self {
            case .none: 1
            case .some: 2
            case .high: 4
            }
        }
    }

    private let state: Mutex<State>
    let budget: MemoryBudget

    /// - Parameters:
    ///   - budget: of all imports together.
    ///   - machine: memory there is, or the cgroup's limit.
    package init(budget: ByteCount, machine: ByteCount) {
        let first = State(budget: budget.bytes, machine: machine.bytes)
        state = Mutex(first)
        self.budget = MemoryBudget(limit: ByteCount(first.shared))
    }

    /// One more pool of so many.
    func expect(decoders: Int) { change { $0.decoders += decoders } }

    /// A new configuration.
    package func set(budget: ByteCount) { change { $0.budget = budget.bytes } }

    /// Fewer at a time while others wait for memory; what is in flight keeps what it has.
    package func set(pressure: Pressure) { change { $0.pressure = pressure } }

    /// What decodes in flight may take together, and what they have taken.
    package var shared: ByteCount { budget.limit }
    package var taken: ByteCount { budget.taken }

    var kept: UInt64 { UInt64(state.withLock { $0.kept }) }
    var most: ByteCount { ByteCount(state.withLock { $0.most }) }

    private func change(_ body: (inout State) -> Void) {
        let shared = state.withLock { state in
            body(&state)
            return state.shared
        }
        if budget.limit.bytes != shared { budget.limit = ByteCount(shared) }
    }
}
