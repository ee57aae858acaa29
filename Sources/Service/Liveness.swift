internal import Files
internal import Synchronization

/// Whether every part of the daemon that should move does: what the watchdog asks before a ping.
package final class Liveness: Sendable {
    /// Something that counts up as it works.
    package struct Mark: Sendable {
        let name: String
        let value: @Sendable () -> UInt64?

        /// - Parameter value: any number that changes with progress; nil while there is nothing to do.
        package init(_ name: String, value: @escaping @Sendable () -> UInt64?) {
            self.name = name
            self.value = value
        }
    }

    private struct Seen {
        var value: UInt64?
        var since: Duration
    }

    private let marks: [Mark]
    private let patience: Duration
    private let now: @Sendable () -> Duration
    private let seen = Mutex<[Seen]>([])

    /// - Parameter patience: how long a mark may stand still before its part counts as stuck.
    package convenience init(_ marks: [Mark], patience: Duration) {
        self.init(marks, patience: patience, now: { SystemClock.monotonic() })
    }

    init(_ marks: [Mark], patience: Duration, now: @escaping @Sendable () -> Duration) {
        self.marks = marks
        self.patience = patience
        self.now = now
    }

    /// The names of the parts that stand still although they have work; empty when all is well.
    package func stuck() -> [String] {
        let values = marks.map { $0.value() }
        let time = now()
        return seen.withLock { seen in
            if seen.isEmpty { seen = values.map { Seen(value: $0, since: time) } }
            var names: [String] = []
            for (position, value) in values.enumerated() {
                if value == nil || value != seen[position].value {
                    seen[position] = Seen(value: value, since: time)
                } else if time - seen[position].since > patience {
                    names.append(marks[position].name)
                }
            }
            return names
        }
    }
}
