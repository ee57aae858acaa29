package import PhotoModel
import Synchronization

/// Why work waits: a person paused it, or something that every job needs is away.
///
/// Each outage has a time for its next probe. One that comes back soon after it was thought over waits twice as long
/// for the next, up to a minute, so that a quota or a flapping disk does not make the daemon spin.
package final class Outages: Sendable {
    struct Outage {
        var problem: Problem
        var gap: Duration
        var nextProbe: Duration
        var isOver = false
        var endedAt = Duration.zero
    }

    private struct State {
        var isPaused = false
        var outages: [Problem.Code: Outage] = [:]
    }

    static let firstGap = Duration.seconds(2)
    static let longestGap = Duration.seconds(60)

    private let state: Mutex<State>
    private let monotonic: @Sendable () -> Duration

    package init(isPaused: Bool, monotonic: @escaping @Sendable () -> Duration) {
        state = Mutex(State(isPaused: isPaused))
        self.monotonic = monotonic
    }

    package var isPaused: Bool { state.withLock { $0.isPaused } }

    /// Why nothing new is claimed, besides a person's pause.
    package var reasons: [Problem] {
        state.withLock { $0.outages.values.filter { !$0.isOver }.map(\.problem) }
            .sorted { $0.code.rawValue < $1.code.rawValue }
    }

    package var mayWork: Bool {
        state.withLock { state in !state.isPaused && state.outages.values.allSatisfy(\.isOver) }
    }

    package func setPaused(_ paused: Bool) { state.withLock { $0.isPaused = paused } }

    /// Notes that `problem` keeps everything from working.
    ///
    /// - Returns: whether this is news, and so worth a line in the log.
    @discardableResult package func begin(_ problem: Problem) -> Bool {
        let now = monotonic()
        return state.withLock { state in
            let before = state.outages[problem.code]
            var gap = Self.firstGap
            if let before, before.isOver, now - before.endedAt < before.gap + .seconds(10) {
                gap = min(before.gap * 2, Self.longestGap)
            }
            if let before, !before.isOver {
                // Met again: the latest cause is told, and the probe stays where it was, or it might never come.
                state.outages[problem.code]?.problem = problem
                return false
            }
            state.outages[problem.code] = Outage(problem: problem, gap: gap, nextProbe: now + gap)
            return true
        }
    }

    /// The outages whose time for a probe has come; the next probe of each is put off by its gap.
    func due() -> [Problem] {
        let now = monotonic()
        return state.withLock { state in
            var due: [Problem] = []
            for (code, outage) in state.outages where !outage.isOver && outage.nextProbe <= now {
                due.append(outage.problem)
                state.outages[code]?.nextProbe = now + outage.gap
            }
            return due
        }
    }

    /// Notes that it is over.
    package func end(_ code: Problem.Code) {
        let now = monotonic()
        state.withLock { state in
            state.outages[code]?.isOver = true
            state.outages[code]?.endedAt = now
        }
    }
}
