package import PhotoModel
import SQLite

extension Store {
    /// Whether this version of the file already has a job, in whatever state. One look-up in one index; sees everything
    /// that ``enqueue(_:isManual:batch:at:)`` has returned from.
    package func isKnown(
        drop: String, filesystem: FilesystemID, path: Path, size: Int64, mtime: Int64
    ) throws(Problem) -> Bool {
        try atTheDoor { (connection) throws(Problem) in
            try FileClaim.owner(drop, filesystem, path, size: size, mtime: mtime, on: connection) != nil
        }
    }

    /// The same for the files of one folder at once, in their order: a rescan that asks so pays for SQLite's file locks
    /// once and not a million times.
    package func areKnown(
        drop: String, filesystem: FilesystemID, _ files: [(path: Path, size: Int64, mtime: Int64)]
    ) throws(Problem) -> [Bool] {
        try atTheDoor { (connection) throws(Problem) in
            try connection.snapshot(translate: Problem.state) { () throws(Problem) in
                try connection.numbers(FileClaim.ownerOfVersion, times: files.count) { position in
                    let (path, size, mtime) = files[position]
                    return [.text(drop), .text(filesystem), .blob(path.bytes), .integer(size), .integer(mtime)]
                }.map { $0 != nil }
            }
        }
    }

    /// Makes a job of each group, all in one transaction.
    ///
    /// Files that have a job in this version are left out, and a group with none left makes no job; so events may repeat.
    /// A group with a verdict becomes a job that has ended already. A group without one takes over files that only had
    /// such a verdict (an orphan whose photo came, an empty file whose shot came), and files of failed jobs when one of
    /// their files has a new version: see ``FileClaim``.
    /// - Parameters:
    ///   - isManual: the source is kept whatever the drop says.
    ///   - batch: the batch of one `import` call; nil for the open batch of each group's drop.
    /// - Returns: the new jobs in the order they will be imported, drop by drop.
    package func enqueue(
        _ groups: [SettledGroup], isManual: Bool, batch: Batch.ID?, at now: Timestamp
    ) throws(Problem) -> [Job.ID] {
        let ordered = groups.map { (key: NaturalOrder.key(of: $0.files[0].path), group: $0) }.sorted {
            $0.group.drop == $1.group.drop
                ? $0.key.lexicographicallyPrecedes($1.key) : $0.group.drop < $1.group.drop
        }
        return try write { (connection) throws(Problem) in
            var desk = BatchDesk(fixed: batch, isManual: isManual, now: now)
            var ids: [Job.ID] = []
            for (key, group) in ordered {
                let files = try FileClaim.take(group, on: connection, at: now)
                guard !files.isEmpty else { continue }
                let place = try desk.place(for: group.drop, key: key, on: connection)
                ids.append(
                    try Self.insert(
                        files, of: group, key: key, at: place, isManual: isManual, now: now, on: connection))
            }
            try desk.finish(on: connection)
            return ids
        }
    }

    static func insert(
        _ files: [SettledFile], of group: SettledGroup, key: [UInt8], at place: BatchDesk.Place, isManual: Bool,
        handedOver: Timestamp? = nil, now: Timestamp, on connection: borrowing Connection
    ) throws(Problem) -> Job.ID {
        let state = state(for: group.verdict)
        try connection.change(
            """
            INSERT INTO job (state, drop_name, batch_id, order_key, sequence, is_manual, created_at, finished_at,
                problem_code, problem_title, problem_recovery) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            [
                .text(state.rawValue), .text(group.drop), .integer(place.batch), .blob(key), .integer(place.sequence),
                .integer(isManual ? 1 : 0), .integer((handedOver ?? now).nanoseconds),
                state.isTerminal ? .integer(now.nanoseconds) : nil,
            ] + JobRow.values(group.verdict))
        let job = connection.lastInsertedRow
        for (position, file) in files.enumerated() {
            try insert(file, of: job, at: position, drop: group.drop, on: connection)
        }
        return job
    }

    static func insert(
        _ file: SettledFile, of job: Job.ID, at position: Int, drop: String, on connection: borrowing Connection
    ) throws(Problem) {
        try connection.change(
            """
            INSERT INTO job_file (job_id, position, role, drop_name, filesystem, path, size, mtime_ns, device, inode)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            [
                .integer(job), .integer(Int64(position)), .text(file.role.rawValue), .text(drop),
                .text(file.filesystem), .blob(file.path.bytes), .integer(file.stamp.size), .integer(file.stamp.mtime),
                .integer(Int64(bitPattern: file.stamp.device)), .integer(Int64(bitPattern: file.stamp.inode)),
            ])
    }

    private static func state(for verdict: Problem?) -> JobState {
        switch verdict?.code {
        case nil: .queued
        case .unsupported, .filtered: .skipped
        default: .failed  // E_EMPTY, E_ORPHAN: somebody should look
        }
    }
}
