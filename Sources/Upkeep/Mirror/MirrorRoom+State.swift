import PhotoModel
import Store

extension MirrorRoom {
    /// What the thread knows of the mirror.
    struct State {
        /// Where the mirror was when this was last true.
        var path = Path(bytes: [])
        /// Whether it has been opened, or could not be, since the path was configured.
        var hasLooked = false
        var outage: MirrorOutage?
        /// Whether it got something since the last outage.
        var hasAdvanced = false
        var rounds: UInt64 = 0
        var freeBytes: Int64?
        /// The last one of each kind that could not be had.
        var refusals: [Problem.Code: Problem] = [:]
        /// The least of what did not fit.
        var lackingRoom: Int64?
        /// The last one of what cannot leave the mirror, and why.
        var stuckRemoval: Int64 = 0
        var removalProblem: Problem?
        /// A journal file that was left alone.
        var journalProblem: Problem?
        var nextLook = Duration.zero
        var nextRetry = Duration.zero
        var nextJournal = Duration.zero
        var journal: MirrorJournal.Copied = [:]
        /// The last count, where there was very much to count, and when it was made.
        var many: (debts: Store.MirrorDebts, at: Duration)?
        /// When the thread last showed that it goes on.
        var lastSign = Duration.zero
        var isFinishing = false
        var isStopping = false
        var hasEnded = false
    }
}
