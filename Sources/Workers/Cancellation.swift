import Synchronization

/// Tells work that blocks, on whatever thread, that it is no longer wanted. It is looked at between steps; a commit or
/// a rollback does not look.
package final class Cancellation: Sendable {
    package enum Reason: UInt8, Sendable, CaseIterable {
        /// A person gave the job or its batch up.
        case requested = 1
        /// The daemon stops: the job is given back, the attempt does not count.
        case stopping = 2
        /// It took longer than it may.
        case deadline = 3
        /// What it works for is no longer what it was: a newer import, a changed source, a drop taken away.
        case superseded = 4
    }

    private let state = Atomic<UInt8>(0)

    package init() {}

    /// The first reason stays.
    package func cancel(_ reason: Reason) {
        _ = state.compareExchange(expected: 0, desired: reason.rawValue, ordering: .acquiringAndReleasing)
    }

    package var reason: Reason? { Reason(rawValue: state.load(ordering: .acquiring)) }

    package var isCancelled: Bool { state.load(ordering: .acquiring) != 0 }
}
