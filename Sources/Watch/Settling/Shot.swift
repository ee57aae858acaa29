import PhotoModel

/// Files of one folder and one stem that have been seen and not handed over.
final class Shot {
    enum State: UInt8 {
        /// Found, not looked at again yet.
        case fresh
        case settling
        /// Settled sidecars without their photo: looked at again when it comes, or when they have waited long enough.
        case waiting
        /// Reported as orphans; kept so that they go along when the photo comes.
        case orphaned
        /// Handed over, or gone.
        case over

        /// Whether it comes up by itself.
        var isTimed: Bool { self == .fresh || self == .settling || self == .waiting }
    }

    struct Member {
        let name: Path
        var settling: Settling
        /// A listing found it although an event should have told of it, and none has yet.
        var isUntold = false
    }

    let folder: FolderNode
    let stem: Path
    var members: [Member]
    /// Changed by ``DropWatch`` only, which counts.
    var state = State.fresh
    /// Failed looks in a row.
    var failures: UInt8 = 0
    /// When to look at it again.
    var due: Moment
    /// Where its entry in ``Deadlines`` stands.
    var scheduled = Moment.never

    init(_ stem: Path, in folder: FolderNode, first: Member, due: Moment) {
        self.stem = stem
        self.folder = folder
        members = [first]
        self.due = due
    }

    /// The last change of any member: the wait for further members starts there.
    var lastChange: Moment { members.map(\.settling.quietSince).max() ?? due }
}
