import Synchronization

/// Lets one at a time pass for each key: two imports of the same bytes must not both find them unknown.
///
/// All keys of a request are given at once or none, so nobody waits while he holds some, and there is no deadlock.
/// First come, first served among those that want the same key, so there is no starvation either. Whoever holds keys of one
/// gate gives them back before asking that gate for more. Of several gates keys may be held together, if all who do so ask
/// the gates in the same order.
package final class Gate<Key: Hashable & Sendable>: Sendable {
    private struct Waiting {
        let keys: Set<Key>
        let continuation: CheckedContinuation<Void, Never>
    }

    private struct State {
        var held: Set<Key> = []
        var waiting: [Waiting] = []

        /// Whoever can pass now, in the order of coming; what an earlier one waits for is kept for him.
        mutating func admit() -> [CheckedContinuation<Void, Never>] {
            var admitted: [CheckedContinuation<Void, Never>] = []
            var kept: Set<Key> = []
            waiting.removeAll { one in
                guard held.isDisjoint(with: one.keys), kept.isDisjoint(with: one.keys) else {
                    kept.formUnion(one.keys)
                    return false
                }
                held.formUnion(one.keys)
                admitted.append(one.continuation)
                return true
            }
            return admitted
        }
    }

    private let state = Mutex(State())

    package init() {}

    /// Returns once all of `keys` are the caller's. Not cut short by cancellation: those who hold them come to an end.
    package func acquire(_ keys: some Sequence<Key>) async {
        let keys = Set(keys)
        await withCheckedContinuation { continuation in
            let admitted = state.withLock { state in
                state.waiting.append(Waiting(keys: keys, continuation: continuation))
                return state.admit()
            }
            for one in admitted { one.resume() }
        }
    }

    /// How many requests have to wait.
    package var waiting: Int { state.withLock { $0.waiting.count } }

    /// Gives back what ``acquire(_:)`` gave.
    package func release(_ keys: some Sequence<Key>) {
        let keys = Set(keys)
        let admitted = state.withLock { state in
            precondition(keys.isSubset(of: state.held), "a key was given back that nobody holds")
            state.held.subtract(keys)
            return state.admit()
        }
        for one in admitted { one.resume() }
    }

    /// Holds all of `keys` while `body` runs.
    package func holding<Result: Sendable, Failure: Error>(
        _ keys: Set<Key>, _ body: () async throws(Failure) -> Result
    ) async throws(Failure) -> Result {
        await acquire(keys)
        defer { release(keys) }
        return try await body()
    }
}
