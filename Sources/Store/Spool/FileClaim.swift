import PhotoModel
import SQLite

/// Which job answers for a file. At most one job answers for one version (drop, filesystem, path, size, mtime); its
/// row in `job_file` is current. A row that is not current is history.
///
/// A job without a verdict takes files over from ended ones:
/// - the same version from a job that only held a verdict (`E_ORPHAN`, `E_EMPTY`, `E_UNSUPPORTED`, `E_FILTERED`). That
///   job becomes `skipped` and keeps its words: nothing failed in the end.
/// - everything of a failed job one of whose files now has another version, so that a corrupt JPEG copied anew travels
///   with its RAW again. That job becomes `vanished`, `E_SOURCE_VANISHED`: the content it was for is gone. A retry of
///   it could only fail.
///
/// Queued and running jobs are left alone: their import notices the change and goes back to candidate. One that is not
/// to be claimed before a time may be claimed at once, so that it notices now.
enum FileClaim {
    static let ownerOfVersion = """
        SELECT job_id FROM job_file
        WHERE drop_name = ? AND filesystem = ? AND path = ? AND size = ? AND mtime_ns = ? AND is_current = 1
        """

    static func owner(
        _ drop: String, _ filesystem: FilesystemID, _ path: Path, size: Int64, mtime: Int64,
        on connection: borrowing Connection
    ) throws(Problem) -> Job.ID? {
        try connection.number(
            ownerOfVersion, [.text(drop), .text(filesystem), .blob(path.bytes), .integer(size), .integer(mtime)])
    }

    /// The files of `group` that no job answers for any more, once it has taken over what it may.
    static func take(
        _ group: SettledGroup, on connection: borrowing Connection, at now: Timestamp
    ) throws(Problem) -> [SettledFile] {
        for file in group.files {
            for other in try others(of: file, in: group.drop, on: connection) {
                try other.giveWay(to: file, verdict: group.verdict, on: connection, at: now)
            }
        }
        var free: [SettledFile] = []
        for file in group.files {
            let owner = try owner(
                group.drop, file.filesystem, file.path, size: file.stamp.size, mtime: file.stamp.mtime, on: connection)
            if owner == nil && !free.contains(where: { $0.path == file.path }) { free.append(file) }
        }
        return free
    }

    /// The file becomes free for the next job that finds it.
    static func release(_ job: Job.ID, on connection: borrowing Connection) throws(Problem) {
        try connection.change("UPDATE job_file SET is_current = 0 WHERE job_id = ?", [.integer(job)])
    }

    /// Whether a job ended before its content counted. What was tried, and what came of it, stands.
    static func isOnlyVerdict(_ state: JobState, _ code: Problem.Code?) -> Bool {
        guard state == .failed || state == .skipped else { return false }
        return switch code {
        case .orphan, .empty, .unsupported, .filtered: true
        default: false
        }
    }

    private static func others(
        of file: SettledFile, in drop: String, on connection: borrowing Connection
    ) throws(Problem) -> [Other] {
        try connection.all(
            """
            SELECT job.id, job.state, job.problem_code, job_file.size, job_file.mtime_ns
            FROM job_file JOIN job ON job.id = job_file.job_id
            WHERE job_file.drop_name = ? AND job_file.filesystem = ? AND job_file.path = ? AND job_file.is_current = 1
            """, [.text(drop), .text(file.filesystem), .blob(file.path.bytes)]
        ) { row throws(SQLiteError) in
            Other(
                job: try row.integer(0), state: try row.word(1), code: try row.optionalWord(2),
                size: try row.integer(3), mtime: try row.integer(4))
        }
    }

    /// A job that answers for some version of a path.
    private struct Other {
        let job: Job.ID
        let state: JobState
        let code: Problem.Code?
        let size: Int64
        let mtime: Int64

        func giveWay(
            to file: SettledFile, verdict: Problem?, on connection: borrowing Connection, at now: Timestamp
        ) throws(Problem) {
            if size == file.stamp.size && mtime == file.stamp.mtime {
                guard verdict == nil, hasOnlyVerdict else { return }
                try FileClaim.release(job, on: connection)
                try connection.change("UPDATE job SET state = 'skipped' WHERE id = ?", [.integer(job)])
            } else if state == .failed {
                try FileClaim.release(job, on: connection)
                let problem = Problem(
                    .sourceVanished,
                    "\(SafeText.of(file.path.name)) was replaced by another version, which has a job of its own.",
                    todo: "Nothing; the new version is imported in place of this one.")
                try connection.change(
                    """
                    UPDATE job SET state = 'vanished', finished_at = ?, problem_code = ?, problem_title = ?,
                        problem_recovery = ? WHERE id = ?
                    """, [.integer(now.nanoseconds)] + JobRow.values(problem) + [.integer(job)])
            } else if state == .queued {
                try connection.change("UPDATE job SET not_before = NULL WHERE id = ?", [.integer(job)])
            }
        }

        private var hasOnlyVerdict: Bool {
            FileClaim.isOnlyVerdict(state, code)
        }
    }
}
