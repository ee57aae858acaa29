package import PhotoModel

/// `GET /v1/status`.
package struct StatusBody: Codable, Hashable, Sendable {
    package var version: String
    /// starting, running, paused, degraded or stopping.
    package var state: String
    package var reasons: [ErrorBody]
    /// Whole seconds.
    package var uptime: Int64
    package var queue: QueueBody
    /// Whether everything that was there has been dealt with.
    package var idle: Bool
    package var importing: [ImportingBody]
    /// The batch that is being worked on, or the last one still open.
    @OrNull package var batch: BatchProgressBody?
    package var library: LibraryBody
    /// null when none is configured.
    @OrNull package var mirror: MirrorBody?
    package var drops: [DropBody]
    package var rates: RatesBody

    private enum CodingKeys: String, CodingKey {
        case version, state, reasons
        case uptime = "uptime_s"
        case queue, idle, importing, batch, library, mirror, drops, rates
    }

    package init(
        version: String, state: DaemonState, reasons: [Problem], uptime: Duration, queue: QueueCounts, idle: Bool,
        importing: [InFlightImport], batch: Batch?, library: LibraryBody, mirror: MirrorBody? = nil,
        drops: [DropHealth],
        rates: RatesBody
    ) {
        self.version = version
        self.state = state.rawValue
        self.reasons = reasons.map(ErrorBody.init)
        self.uptime = uptime.components.seconds
        self.queue = QueueBody(queue)
        self.idle = idle
        self.importing = importing.map(ImportingBody.init)
        self.batch = batch.map(BatchProgressBody.init)
        self.library = library
        self.mirror = mirror
        self.drops = drops.map(DropBody.init)
        self.rates = rates
    }
}

package struct QueueBody: Codable, Hashable, Sendable {
    package var queued: Int
    package var importing: Int
    package var imported: Int
    package var duplicate: Int
    package var failed: Int
    package var cancelled: Int
    package var vanished: Int
    package var skipped: Int
    package var retrying: Int

    package init(_ counts: QueueCounts) {
        queued = counts.queued
        importing = counts.importing
        imported = counts.imported
        duplicate = counts.duplicate
        failed = counts.failed
        cancelled = counts.cancelled
        vanished = counts.vanished
        skipped = counts.skipped
        retrying = counts.retrying
    }
}

/// An import under way: in the status, and as the event `progress`.
package struct ImportingBody: Codable, Hashable, Sendable {
    package var jobID: Int64
    package var batchID: Int64
    /// copying, previewing or committing.
    package var phase: String
    package var path: String
    package var pathBytes: String?
    package var bytesDone: Int64
    package var bytesTotal: Int64

    private enum CodingKeys: String, CodingKey {
        case jobID = "job_id"
        case batchID = "batch_id"
        case phase, path
        case pathBytes = "path_bytes"
        case bytesDone = "bytes_done"
        case bytesTotal = "bytes_total"
    }

    package init(_ flight: InFlightImport) {
        let path = PathText(flight.path)
        jobID = flight.job
        batchID = flight.batch
        phase = flight.phase.rawValue
        self.path = path.text
        pathBytes = path.base64
        bytesDone = flight.bytesDone
        bytesTotal = flight.bytesTotal
    }
}

package struct BatchProgressBody: Codable, Hashable, Sendable {
    package var id: Int64
    package var done: Int
    package var total: Int
    package var failed: Int

    package init(_ batch: Batch) {
        id = batch.id
        done = batch.done
        total = batch.total
        failed = batch.failed
    }
}

package struct LibraryBody: Codable, Hashable, Sendable {
    package var path: String
    package var pathBytes: String?
    /// What the daemon may still write; null when the library is not there.
    @OrNull package var freeBytes: Int64?

    private enum CodingKeys: String, CodingKey {
        case path
        case pathBytes = "path_bytes"
        case freeBytes = "free_bytes"
    }

    package init(path: Path, freeBytes: Int64?) {
        let text = PathText(path)
        self.path = text.text
        pathBytes = text.base64
        self.freeBytes = freeBytes
    }
}

package struct MirrorBody: Codable, Hashable, Sendable {
    package var path: String
    package var pathBytes: String?
    /// What the daemon may still write; null when the mirror is not there.
    @OrNull package var freeBytes: Int64?
    /// Files that are not on it yet, or not gone from it.
    package var behind: Int64

    private enum CodingKeys: String, CodingKey {
        case path
        case pathBytes = "path_bytes"
        case freeBytes = "free_bytes"
        case behind
    }

    package init(path: Path, freeBytes: Int64?, behind: Int64) {
        let text = PathText(path)
        self.path = text.text
        pathBytes = text.base64
        self.freeBytes = freeBytes
        self.behind = behind
    }
}

package struct DropBody: Codable, Hashable, Sendable {
    package var name: String
    package var path: String
    package var pathBytes: String?
    /// inotify, poll or mixed.
    package var mode: String
    /// ok, waiting or degraded.
    package var health: String
    package var watches: Int
    /// Folders read again every poll_interval; nil from an older service.
    package var polledFolders: Int?
    /// How often something was read again because events were lost, or a folder was; nil from an older service.
    package var rescans: Int?
    package var candidates: Int
    /// Files that wait only for somebody else, as an orphan sidecar does.
    package var waitingForOthers: Int
    package var reasons: [ErrorBody]

    private enum CodingKeys: String, CodingKey {
        case name, path
        case pathBytes = "path_bytes"
        case mode, health, watches
        case polledFolders = "polled_folders"
        case rescans, candidates
        case waitingForOthers = "waiting_for_others"
        case reasons
    }

    package init(_ drop: DropHealth) {
        let path = PathText(drop.path)
        name = drop.name
        self.path = path.text
        pathBytes = path.base64
        mode = drop.mode
        health = drop.health.rawValue
        watches = drop.watches
        polledFolders = drop.polled
        rescans = drop.rescans
        candidates = drop.candidates
        waitingForOthers = drop.waitingForOthers
        reasons = drop.reasons.map(ErrorBody.init)
    }
}

/// What got done per second lately; 0 when nothing is being done.
package struct RatesBody: Codable, Hashable, Sendable {
    package var filesPerSecond: Double
    package var bytesPerSecond: Double

    private enum CodingKeys: String, CodingKey {
        case filesPerSecond = "files_per_s"
        case bytesPerSecond = "bytes_per_s"
    }

    package init(filesPerSecond: Double, bytesPerSecond: Double) {
        self.filesPerSecond = filesPerSecond
        self.bytesPerSecond = bytesPerSecond
    }
}
