import PhotoModel

/// The numbers the watcher works by that no configuration changes; a test shortens them.
struct WatchTuning: Sendable {
    var isOnce = false
    /// Settle time where nobody can say whether a file is still open for writing.
    var unknownSettle = Duration.seconds(10)
    /// How long a file may stay empty.
    var emptyWait = Duration.seconds(30)
    /// How long a sidecar waits for its photo.
    var orphanWait = Duration.seconds(60)
    /// How often an absent drop folder is looked for. A mount is noticed at once by itself.
    var rootGap = Duration.seconds(2)
    /// How often it is made sure that the path still leads to the folder that is watched: a link may have been turned.
    var rootCheck = Duration.seconds(10)
    /// First and longest gap before groups that could not be queued are offered again.
    var firstRetry = Duration.seconds(1)
    var longestRetry = Duration.seconds(60)
    /// How long one drop's scan, or the looking at files that are due, goes on before events are drained again. The
    /// kernel's queue holds 16384 events, and one process makes at most some 40 a millisecond.
    var slice = Duration.milliseconds(20)
    /// Groups handed over in one transaction at most.
    var batch = 500
    /// While so many files were found and not looked at again yet, some 500 bytes each, scanning waits, and what events
    /// tell of is left to the next listing of its folder.
    var scanAhead = 16_384
    /// How long a `once` life waits for a file that does not become quiet before it leaves it for next time.
    var oncePatience = Duration.seconds(60)
    /// How often it is tested that events arrive at all, and how long one may be on its way.
    var selfTestGap = Duration.seconds(300)
    var selfTestPatience = Duration.seconds(5)
    /// A thread without anything to do looks up at least so often.
    var longestWait = Duration.seconds(5)
    /// A share that has not answered for so long is reported.
    var silence = Duration.seconds(30)
    /// How long other threads are waited for at the end.
    var partingWait = Duration.seconds(2)
    /// A test's deaf ear: events of the folders it names are lost.
    var loses: (@Sendable (Path?) -> Bool)?
    /// A test's limit on watches, in place of the kernel's.
    var watchLimit = Int.max

    static var once: WatchTuning {
        var tuning = WatchTuning()
        tuning.isOnce = true
        tuning.emptyWait = .zero
        tuning.orphanWait = .zero
        return tuning
    }

    func groupWait(of drop: DropFolder) -> Duration { isOnce ? .zero : drop.groupWait }

    func rules(for drop: DropFolder) -> Settling.Rules {
        var rules = Settling.Rules(settle: drop.settle)
        rules.unknownSettle = unknownSettle
        rules.emptyWait = emptyWait
        return rules
    }
}
