import PhotoModel
import Store

/// Why the mirror is left alone for a while: each time that the next try fails as well, for twice as long.
struct MirrorOutage {
    /// nil when it is the library or the state that cannot be used, which others tell of.
    let problem: Problem?
    let gap: Duration
    var nextTry: Duration
    /// The original at which it failed, and how often in a row.
    private let place: Store.ResourcePlace?
    private let failures: Int

    static let firstGap = Duration.seconds(2)
    static let longestGap = Duration.seconds(60)
    /// A mirror that is not there costs nothing to look for.
    static let longestAbsence = Duration.seconds(10)
    /// An original at which it failed so often may itself be what is wrong.
    static let mostFailures = 2

    /// - Parameter hasAdvanced: whether the mirror got something since the outage before.
    init(
        _ problem: Problem?, at place: Store.ResourcePlace?, after before: MirrorOutage?, hasAdvanced: Bool,
        now: Duration
    ) {
        self.problem = problem
        self.place = place
        let isAbsent = problem.map { [.libraryOffline, .marker, .locked].contains($0.code) } ?? true
        // Another original than the one that was passed over.
        let isFurther = place != nil && before?.stumblingBlock != nil && place != before?.place
        let wanted = hasAdvanced || isFurther ? nil : before.map { $0.gap * 2 }
        gap = min(wanted ?? Self.firstGap, isAbsent ? Self.longestAbsence : Self.longestGap)
        nextTry = now + gap
        failures = place != nil && place == before?.place ? (before?.failures ?? 0) + 1 : 1
    }

    func isDue(at now: Duration) -> Bool { now >= nextTry }

    var stumblingBlock: Store.ResourcePlace? { failures >= Self.mostFailures ? place : nil }
}
