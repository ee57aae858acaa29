/// Lets a thread of ours sleep until somebody rings. A ring while it is awake is not lost: the next wait returns at once.
package final class Doorbell: Sendable {
    private let hasRung = Monitor(false)

    package init() {}

    package func ring() { hasRung.withLock { $0 = true } }

    package func wait() {
        _ = hasRung.wait { hasRung -> Bool? in
            guard hasRung else { return nil }
            hasRung = false
            return true
        }
    }
}
