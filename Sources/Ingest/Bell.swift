import Synchronization

/// Lets tasks sleep until something may have changed. A ring wakes all that wait; one that comes between a look and the
/// wait is not lost, because the wait says which ring it has seen.
package final class Bell: Sendable {
    private struct State {
        var rings: UInt64 = 0
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    package init() {}

    package var count: UInt64 { state.withLock { $0.rings } }

    package func ring() {
        let waiting = state.withLock { state in
            state.rings += 1
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    /// Returns at the first ring after `seen`, at once when there was one already.
    package func wait(after seen: UInt64) async {
        await withCheckedContinuation { continuation in
            let hasRung = state.withLock { state in
                if state.rings == seen { state.waiting.append(continuation) }
                return state.rings != seen
            }
            if hasRung { continuation.resume() }
        }
    }
}
