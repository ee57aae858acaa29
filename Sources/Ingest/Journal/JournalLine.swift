package import PhotoModel

/// One line of the library's journal. Fields are added, none is renamed; a reader passes over those it does not know.
package struct JournalLine: Codable, Sendable {
    /// Where the files of a commit came from: what the queue knew of them.
    package struct Source: Codable, Sendable {
        package var drop: String
        /// Whether somebody named them by hand, so that they are kept whatever the drop says.
        package var isManual: Bool
        package var files: [SettledFile]
        /// What had become of them; only of those that an asset takes along when it is taken out.
        package var disposition: DispositionState?
    }

    package var id: Int64
    package var time: String
    /// `commit`, `move`, `delete`…
    package var what: String
    package var job: Job.ID?
    package var path: Path?
    package var to: Path?
    package var sha256: SHA256Digest?
    /// The file of the library that holds the bytes of `path`.
    package var original: Path?
    package var stamp: FileStamp?
    package var intent: CommitIntent?
    package var source: Source?
    /// Of a line about an asset that is taken out.
    package var asset: Asset?
    /// Of a line about an asset that needs no more than its name.
    package var assetID: Asset.ID?
    /// Where the files of an asset that is taken out came from, those of duplicates among them.
    package var sources: [Source]?
    /// Of a line that takes an asset out: what its tombstones say.
    package var at: Timestamp?
    /// The one that an asset is about to have.
    package var preview: AssetPreview?
}

extension JournalLine {
    /// What a commit is about to do.
    static func commit(_ intent: CommitIntent, of job: Job, id: Int64, at time: Timestamp) -> JournalLine {
        JournalLine(
            id: id, time: time.rfc3339, what: "commit", job: job.id, sha256: intent.moves.last?.sha256, intent: intent,
            source: Source(drop: job.drop, isManual: job.isManual, files: job.files))
    }

    /// An asset is about to be taken out.
    /// - Parameter jobs: that brought it, or found that it was there.
    package static func removal(
        of asset: Asset, what: String, jobs: [Job], id: Int64, at time: Timestamp
    ) -> JournalLine {
        let sources = jobs.filter { $0.state == .imported || $0.state == .duplicate }.map {
            Source(
                drop: $0.drop, isManual: $0.isManual, files: $0.files,
                disposition: $0.disposition == .pending ? .kept : $0.disposition)
        }
        return JournalLine(id: id, time: time.rfc3339, what: what, asset: asset, sources: sources, at: time)
    }

    /// The tombstones of an asset are about to go.
    package static func forgetting(_ asset: Asset.ID, id: Int64, at time: Timestamp) -> JournalLine {
        JournalLine(id: id, time: time.rfc3339, what: "forget", assetID: asset)
    }

    /// An asset is about to get a preview, or to learn why it has none.
    package static func preview(
        _ preview: AssetPreview, of asset: Asset.ID, id: Int64, at time: Timestamp
    ) -> JournalLine {
        JournalLine(id: id, time: time.rfc3339, what: "preview", assetID: asset, preview: preview)
    }

    /// Something of our own that nobody needs is about to be removed.
    package static func sweeping(_ path: Path, id: Int64, at time: Timestamp) -> JournalLine {
        JournalLine(id: id, time: time.rfc3339, what: "sweep", path: path)
    }

    /// A source that is about to be put back where it came from.
    package static func returning(
        _ path: Path, to target: Path, job: Job.ID, id: Int64, at time: Timestamp
    ) -> JournalLine {
        JournalLine(id: id, time: time.rfc3339, what: "return", job: job, path: path, to: target)
    }
}
