package import PhotoModel
import SQLite

/// What the queue is to know again of the files that a commit came from.
package struct RebuiltSource: Sendable {
    package var drop: String
    package var isManual: Bool
    package var files: [SettledFile]
    package var disposition: DispositionState

    package init(drop: String, isManual: Bool, files: [SettledFile], disposition: DispositionState) {
        self.drop = drop
        self.isManual = isManual
        self.files = files
        self.disposition = disposition
    }
}

/// Makes the jobs of what is rebuilt, so that sources that were kept are known again and late members find their shot.
///
/// The watcher has seen the sources before: with a new state it queues all that it finds. A job that waits for nothing but
/// what was imported has ended, then. Every other job stays as it is: what is imported twice is recognised by its bytes.
struct RebuiltJobs {
    let batchTime: Timestamp
    private var batches: [String: Batch.ID] = [:]

    init(batchTime: Timestamp) { self.batchTime = batchTime }

    mutating func know(
        _ source: RebuiltSource, of rebuilt: Store.Rebuilt, on connection: borrowing Connection
    ) throws(Problem) {
        let owners = try owners(of: source, on: connection)
        if owners.isEmpty {
            return try insert(source, as: .imported, asset: rebuilt.asset.id, at: rebuilt.at, on: connection)
        }
        for job in owners { try end(job, source, of: rebuilt, on: connection) }
    }

    private func end(
        _ id: Job.ID, _ source: RebuiltSource, of rebuilt: Store.Rebuilt, on connection: borrowing Connection
    ) throws(Problem) {
        // One whose asset was taken out, and that was tried again, is `cancelled` by now.
        guard let job = try JobRow.find(id, on: connection), job.state == .queued || job.state == .cancelled
        else { return }
        let known = Set(source.files.map { Version($0) })
        guard job.files.allSatisfy({ known.contains(Version($0)) }) else { return }
        try connection.change(
            """
            UPDATE job SET state = 'imported', asset_id = ?, disposition = ?, finished_at = ?, crash_count = 0,
                not_before = NULL, waits_for = NULL, problem_code = NULL, problem_title = NULL, problem_recovery = NULL
            WHERE id = ?
            """,
            [
                .text(rebuilt.asset.id), .text(source.disposition.rawValue), .integer(rebuilt.at.nanoseconds),
                .integer(id),
            ])
    }

    /// What a file is known again by.
    private struct Version: Hashable {
        let filesystem: FilesystemID
        let path: Path
        let size: Int64
        let mtime: Int64

        init(_ file: SettledFile) {
            filesystem = file.filesystem
            path = file.path
            size = file.stamp.size
            mtime = file.stamp.mtime
        }
    }

    /// The sources of an asset that was taken out: they stay known, so that no rescan brings them back.
    /// - Parameter isStale: whether nothing is under way, whatever the state believes.
    mutating func cancel(
        _ sources: [RebuiltSource], at time: Timestamp, isStale: Bool, on connection: borrowing Connection
    ) throws(Problem) {
        let known = Set(sources.flatMap(\.files).map { Version($0) })
        for source in sources {
            let owners = try owners(of: source, on: connection)
            if owners.isEmpty { try insert(source, as: .cancelled, asset: nil, at: time, on: connection) }
            for id in owners {
                guard let job = try JobRow.find(id, on: connection),
                    // In a state that is sound it was queued since, by somebody who wants it again.
                    isStale, job.state == .queued || job.state.isInFlight,
                    job.files.allSatisfy({ known.contains(Version($0)) })
                else { continue }
                try connection.change(
                    """
                    UPDATE job SET state = 'cancelled', finished_at = ?, crash_count = 0, not_before = NULL,
                        waits_for = NULL, import_id = NULL, intent = NULL, journal_id = NULL
                    WHERE id = ?
                    """, [.integer(time.nanoseconds), .integer(id)])
                try Journal.closeOpen(job: id, outcome: "rebuilt", on: connection)
            }
        }
    }

    private func owners(
        of source: RebuiltSource, on connection: borrowing Connection
    ) throws(Problem) -> Set<Job.ID> {
        var owners: Set<Job.ID> = []
        for file in source.files {
            let owner = try FileClaim.owner(
                source.drop, file.filesystem, file.path, size: file.stamp.size, mtime: file.stamp.mtime, on: connection)
            if let owner { owners.insert(owner) }
        }
        return owners
    }

    private mutating func insert(
        _ source: RebuiltSource, as state: JobState, asset: Asset.ID?, at time: Timestamp,
        on connection: borrowing Connection
    ) throws(Problem) {
        guard let lead = source.files.first else { return }
        let batch = try batch(of: source.drop, on: connection)
        let time = Value.integer(time.nanoseconds)
        try connection.change(
            """
            INSERT INTO job (state, drop_name, batch_id, order_key, sequence, is_manual, attempts, disposition, asset_id,
                created_at, finished_at)
            VALUES (?, ?, ?, ?, (SELECT last_sequence + 1 FROM batch WHERE id = ?), ?, 1, ?, ?, ?, ?)
            """,
            [
                .text(state.rawValue), .text(source.drop), .integer(batch), .blob(NaturalOrder.key(of: lead.path)),
                .integer(batch),
                .integer(source.isManual ? 1 : 0), .text(source.disposition.rawValue), .text(asset), time, time,
            ])
        let job = connection.lastInsertedRow
        try connection.change("UPDATE batch SET last_sequence = last_sequence + 1 WHERE id = ?", [.integer(batch)])
        for (position, file) in source.files.enumerated() {
            try Store.insert(file, of: job, at: position, drop: source.drop, on: connection)
        }
    }

    /// One for each drop and rebuild, closed from the start: nothing of it is still to come.
    private mutating func batch(of drop: String, on connection: borrowing Connection) throws(Problem) -> Batch.ID {
        if let known = batches[drop] { return known }
        let found = try connection.number(
            "SELECT id FROM batch WHERE drop_name = ? AND is_manual = 1 AND created_at = ? ORDER BY id LIMIT 1",
            [.text(drop), .integer(batchTime.nanoseconds)])
        let batch: Batch.ID
        if let found {
            batch = found
        } else {
            batch = try BatchDesk.make(drop, isManual: true, at: batchTime, on: connection)
            try connection.change(
                "UPDATE batch SET closed_at = ? WHERE id = ?", [.integer(batchTime.nanoseconds), .integer(batch)])
        }
        batches[drop] = batch
        return batch
    }
}
