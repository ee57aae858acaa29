import Dispatch
package import PhotoModel
import Synchronization

/// Memory that work in flight may take together. What does not fit now waits; what could never fit runs alone, since a
/// photo is refused for its content, not for its size.
///
/// First come, first served: a large picture is not passed over for ever by small ones. Whoever waits blocks his thread.
package final class MemoryBudget: Sendable {
    private final class Waiting: Sendable {
        let bytes: Int64
        let isAdmitted = DispatchSemaphore(value: 0)
        init(_ bytes: Int64) { self.bytes = bytes }
    }

    private struct State {
        var limit: Int64
        var taken: Int64 = 0
        var waiting: [Waiting] = []

        mutating func admit() {
            while let first = waiting.first, taken == 0 || first.bytes <= limit - taken {
                taken += first.bytes
                first.isAdmitted.signal()
                waiting.removeFirst()
            }
        }
    }

    /// A part of the budget; it goes back when this ends.
    package struct Share: ~Copyable, Sendable {
        private let budget: MemoryBudget
        package let bytes: Int64

        fileprivate init(_ budget: MemoryBudget, _ bytes: Int64) {
            self.budget = budget
            self.bytes = bytes
        }

        deinit { budget.giveBack(bytes) }
    }

    private let state: Mutex<State>

    package init(limit: ByteCount) { state = Mutex(State(limit: limit.bytes)) }

    /// Under pressure less, later more again. What is in flight keeps what it has.
    package var limit: ByteCount {
        get { ByteCount(state.withLock { $0.limit }) }
        set {
            state.withLock { state in
                state.limit = newValue.bytes
                state.admit()
            }
        }
    }

    /// What the work in flight has taken.
    package var taken: ByteCount { ByteCount(state.withLock { $0.taken }) }

    /// How many wait.
    package var waiting: Int { state.withLock { $0.waiting.count } }

    /// Blocks until `estimate` bytes are the caller's. Whoever holds a share asks for no other.
    ///
    /// - Parameter isCancelled: asked every tenth of a second.
    /// - Returns: nil when it was cancelled.
    package func take(_ estimate: ByteCount, isCancelled: () -> Bool) -> Share? {
        let one = Waiting(max(0, estimate.bytes))
        state.withLock { state in
            state.waiting.append(one)
            state.admit()
        }
        while one.isAdmitted.wait(timeout: .now() + .milliseconds(100)) == .timedOut {
            guard isCancelled() else { continue }
            let isGone = state.withLock { state in
                guard let place = state.waiting.firstIndex(where: { $0 === one }) else { return false }
                state.waiting.remove(at: place)
                state.admit()  // it may have stood in front of one that fits
                return true
            }
            if isGone { return nil }
        }
        return Share(self, one.bytes)
    }

    private func giveBack(_ bytes: Int64) {
        state.withLock { state in
            state.taken -= bytes
            state.admit()
        }
    }
}
