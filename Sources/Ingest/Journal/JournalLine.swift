package import PhotoModel

/// One line of the library's journal. Fields are added, none is renamed; a reader passes over those it does not know.
package struct JournalLine: Codable, Sendable {
    /// Where the files of a commit came from: what the queue knew of them.
    package struct Source: Codable, Sendable {
        package var drop: String
        /// Whether somebody named them by hand, so that they are kept whatever the drop says.
        package var isManual: Bool
        package var files: [SettledFile]
    }

    package var id: Int64
    package var time: String
    /// `commit`, `move`, `delete`…
    package var what: String
    package var job: Job.ID?
    package var path: Path?
    package var to: Path?
    package var sha256: SHA256Digest?
    package var stamp: FileStamp?
    package var intent: CommitIntent?
    package var source: Source?
    /// Of a line about an asset that is there already.
    package var asset: Asset?
}

extension JournalLine {
    /// What a commit is about to do.
    static func commit(_ intent: CommitIntent, of job: Job, id: Int64, at time: Timestamp) -> JournalLine {
        JournalLine(
            id: id, time: time.rfc3339, what: "commit", job: job.id, sha256: intent.moves.last?.sha256, intent: intent,
            source: Source(drop: job.drop, isManual: job.isManual, files: job.files))
    }

    /// Something that is about to be done to an asset.
    package static func about(_ asset: Asset, what: String, id: Int64, at time: Timestamp) -> JournalLine {
        JournalLine(id: id, time: time.rfc3339, what: what, asset: asset)
    }

    /// A source that is about to be put back where it came from.
    package static func returning(
        _ path: Path, to target: Path, job: Job.ID, id: Int64, at time: Timestamp
    ) -> JournalLine {
        JournalLine(id: id, time: time.rfc3339, what: "return", job: job, path: path, to: target)
    }
}
