package enum JobState: String, Codable, Sendable, CaseIterable {
    case queued, copying, previewing, committing
    case imported, failed, duplicate, vanished, skipped, cancelled

    /// Whether an import holds the job right now.
    package var isInFlight: Bool { self == .copying || self == .previewing || self == .committing }
    /// Whether nothing more happens to the job by itself.
    package var isTerminal: Bool { self != .queued && !isInFlight }
}

/// What becomes of the source after commit.
package enum Disposition: String, Codable, Sendable { case keep, move, delete }

package enum DispositionState: String, Codable, Sendable { case keep, pending, moved, deleted, kept }

/// Which file a name leads to, and which version of its content: what decides "the same" and "changed".
package struct FileStamp: Hashable, Sendable, Codable {
    package var device: UInt64
    package var inode: UInt64
    /// Bytes.
    package var size: Int64
    /// Last modification, nanoseconds since 1970; st_mtim of stat(2).
    package var mtime: Int64

    package init(device: UInt64, inode: UInt64, size: Int64, mtime: Int64) {
        self.device = device
        self.inode = inode
        self.size = size
        self.mtime = mtime
    }
}

/// Names a filesystem across mounts as well as statfs(2)'s f_fsid can, as 16 hexadecimal digits. Of a card these are only
/// its slot's, and what tells one medium from the next follows behind a `-`: once it was taken out, the whole never comes
/// back.
package typealias FilesystemID = String

/// Whether two filesystems are the same, or media that were put into the same slot one after the other. Then the earlier
/// one is gone for good, under that name: also when the card comes back, it has another, and everything on it is found
/// anew.
package func isSameSlot(_ one: FilesystemID, _ other: FilesystemID) -> Bool {
    one.prefix { $0 != "-" } == other.prefix { $0 != "-" }
}

/// A file that has completely arrived.
package struct SettledFile: Hashable, Sendable, Codable {
    /// Absolute.
    package var path: Path
    package var role: Role
    package var filesystem: FilesystemID
    package var stamp: FileStamp

    package init(path: Path, role: Role, filesystem: FilesystemID, stamp: FileStamp) {
        self.path = path
        self.role = role
        self.filesystem = filesystem
        self.stamp = stamp
    }
}

/// Files of one shot that travel together, all settled. Never empty; the leading photo comes first.
package struct SettledGroup: Hashable, Sendable {
    package var drop: String
    package var files: [SettledFile]
    /// When not nil the group is known to end without an import: `E_UNSUPPORTED`, `E_FILTERED` (skipped), `E_EMPTY`,
    /// `E_ORPHAN` (failed). It gets a job row all the same, so that nothing is passed over in silence.
    package var verdict: Problem?

    package init(drop: String, files: [SettledFile], verdict: Problem? = nil) {
        self.drop = drop
        self.files = files
        self.verdict = verdict
    }
}

/// One group's durable place in the queue.
package struct Job: Sendable, Identifiable {
    package typealias ID = Int64
    package var id: ID
    package var state: JobState
    package var drop: String
    package var batch: Batch.ID
    package var sequence: Int64
    package var attempts: Int
    package var crashes: Int
    package var files: [SettledFile]
    package var problem: Problem?
    package var disposition: DispositionState
    package var dispositionProblem: Problem?
    package var notBefore: Timestamp?
    package var asset: Asset.ID?
    package var createdAt: Timestamp
    package var finishedAt: Timestamp?
    /// Queued by hand: the source is kept whatever the drop says.
    package var isManual: Bool

    package init(
        id: ID, state: JobState, drop: String, batch: Batch.ID, sequence: Int64, attempts: Int, crashes: Int,
        files: [SettledFile], problem: Problem?, disposition: DispositionState, dispositionProblem: Problem?,
        notBefore: Timestamp?, asset: Asset.ID?, createdAt: Timestamp, finishedAt: Timestamp?, isManual: Bool
    ) {
        self.id = id
        self.state = state
        self.drop = drop
        self.batch = batch
        self.sequence = sequence
        self.attempts = attempts
        self.crashes = crashes
        self.files = files
        self.problem = problem
        self.disposition = disposition
        self.dispositionProblem = dispositionProblem
        self.notBefore = notBefore
        self.asset = asset
        self.createdAt = createdAt
        self.finishedAt = finishedAt
        self.isManual = isManual
    }
}

/// Jobs that arrived together: one card dump.
package struct Batch: Sendable, Identifiable {
    package typealias ID = Int64
    package var id: ID
    package var drop: String
    package var createdAt: Timestamp
    /// When it stopped taking new jobs; nil while it still does.
    package var closedAt: Timestamp?
    package var total: Int
    /// Jobs in a terminal state, failed ones included.
    package var done: Int
    package var failed: Int

    package init(
        id: ID, drop: String, createdAt: Timestamp, closedAt: Timestamp?, total: Int, done: Int, failed: Int
    ) {
        self.id = id
        self.drop = drop
        self.createdAt = createdAt
        self.closedAt = closedAt
        self.total = total
        self.done = done
        self.failed = failed
    }
}
