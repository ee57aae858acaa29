package import PhotoModel
import Synchronization

/// Memory that work in flight may take together. What does not fit now waits; what could never fit runs alone, since a
/// photo is refused for its content, not for its size.
///
/// First come, first served: a large picture is not passed over for ever by small ones.
package final class MemoryBudget: Sendable {
    private struct Waiting {
        let bytes: Int64
        let continuation: CheckedContinuation<Void, Never>
    }

    private struct State {
        var limit: Int64
        var taken: Int64 = 0
        var waiting: [Waiting] = []

        mutating func admit() -> [CheckedContinuation<Void, Never>] {
            var admitted: [CheckedContinuation<Void, Never>] = []
            while let first = waiting.first, taken == 0 || first.bytes <= limit - taken {
                taken += first.bytes
                admitted.append(first.continuation)
                waiting.removeFirst()
            }
            return admitted
        }
    }

    private let state: Mutex<State>

    package init(limit: ByteCount) { state = Mutex(State(limit: limit.bytes)) }

    /// Under pressure less, later more again. What is in flight keeps what it has.
    package func setLimit(_ limit: ByteCount) {
        let admitted = state.withLock { state in
            state.limit = limit.bytes
            return state.admit()
        }
        for one in admitted { one.resume() }
    }

    /// What the work in flight has taken.
    package var taken: ByteCount { ByteCount(state.withLock { $0.taken }) }

    /// Waits for `estimate` bytes, holds them while `body` runs, and gives them back. Not to be nested.
    package func holding<Result: Sendable, Failure: Error>(
        _ estimate: ByteCount, _ body: () async throws(Failure) -> Result
    ) async throws(Failure) -> Result {
        let bytes = max(0, estimate.bytes)
        await withCheckedContinuation { continuation in
            let admitted = state.withLock { state in
                state.waiting.append(Waiting(bytes: bytes, continuation: continuation))
                return state.admit()
            }
            for one in admitted { one.resume() }
        }
        defer { giveBack(bytes) }
        return try await body()
    }

    private func giveBack(_ bytes: Int64) {
        let admitted = state.withLock { state in
            state.taken -= bytes
            return state.admit()
        }
        for one in admitted { one.resume() }
    }
}
