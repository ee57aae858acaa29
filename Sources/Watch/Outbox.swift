import PhotoModel

/// Settled groups that are not in the queue yet. Nothing leaves it but into the queue.
struct Outbox {
    private(set) var groups: [SettledGroup] = []
    /// Why the last attempt failed; nil after one that did not.
    private(set) var problem: Problem?
    /// Not before this; meaningful after a failure.
    private(set) var nextTry = Moment(nanoseconds: 0)
    private var gap = Duration.zero

    var isEmpty: Bool { groups.isEmpty }
    var isFailing: Bool { problem != nil }

    mutating func add(_ group: SettledGroup) { groups.append(group) }

    func fileCount(of drop: String) -> Int {
        groups.reduce(0) { $0 + ($1.drop == drop ? $1.files.count : 0) }
    }

    /// Offers everything, in transactions of at most `tuning.batch` groups, in the order in which it settled.
    ///
    /// - Returns: whether something went into the queue.
    mutating func deliver(to door: Watcher.Door, at now: Moment, by tuning: WatchTuning) -> Bool {
        guard !groups.isEmpty, !isFailing || now >= nextTry else { return false }
        var hasDelivered = false
        while !groups.isEmpty {
            let portion = Array(groups.prefix(tuning.batch))
            do throws(Problem) {
                try door.enqueue(portion)
            } catch {
                fail(with: error, at: now, door, tuning)
                return hasDelivered
            }
            groups.removeFirst(portion.count)
            hasDelivered = true
            if isFailing { door.log(LogLine(.info, "Files are put into the queue again.")) }
            problem = nil
            gap = .zero
        }
        return hasDelivered
    }

    private mutating func fail(with problem: Problem, at now: Moment, _ door: Watcher.Door, _ tuning: WatchTuning) {
        // Said once for each cause, not for each attempt.
        if self.problem?.code != problem.code { door.log(LogLine(.error, problem, [("GROUPS", String(groups.count))])) }
        self.problem = problem
        gap = gap == .zero ? tuning.firstRetry : min(gap * 2, tuning.longestRetry)
        nextTry = now + gap
    }
}
