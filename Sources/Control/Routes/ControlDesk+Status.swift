import ControlAPI
import HTTP
import PhotoModel
import Store

/// How the daemon is.
extension ControlDesk {
    func status(_ request: Request) throws(Problem) -> Reply {
        _ = try Query(request, allowing: [])
        let view = door.view
        // Drop folders before the queue: a file that settles in between is then counted twice, and never not at all.
        let drops = view.drops()
        let now = door.now()
        var reasons = view.reasons()
        var counts = QueueCounts()
        var batch: Batch?
        var isCounted = true
        do throws(Problem) {
            counts = try door.store.counts(at: now)
            batch = try door.store.currentBatch(at: now)
        } catch {
            // Whoever asks how things are gets an answer most of all when they are bad.
            isCounted = false
            if !reasons.contains(error) { reasons.append(error) }
        }
        let library = view.library()
        let mirror = view.mirror()
        let rates = view.rates()
        return .json(
            StatusBody(
                version: view.version, state: isCounted ? view.state() : .degraded,
                reasons: reasons + (mirror?.reasons ?? []),
                uptime: view.uptime(), queue: counts,
                idle: isCounted && Self.isIdle(counts, drops) && !(mirror?.isAtWork ?? false),
                importing: view.inFlight(),
                batch: batch, library: LibraryBody(path: library.path, freeBytes: library.freeBytes),
                mirror: mirror.map { MirrorBody(path: $0.path, freeBytes: $0.freeBytes, behind: $0.behind) },
                drops: drops,
                rates: RatesBody(filesPerSecond: rates.files, bytesPerSecond: rates.bytes)))
    }

    /// Whether everything that was there has been dealt with; what waits for a later retry, a missing drop folder, or
    /// a photo to go with a sidecar does not count.
    static func isIdle(_ counts: QueueCounts, _ drops: [DropHealth]) -> Bool {
        counts.importing == 0 && counts.queued - counts.retrying <= 0 && counts.retryingSoon == 0
            && drops.allSatisfy {
                $0.isSilent || ($0.candidates == 0 && ($0.hasFinishedFirstScan || $0.health == .waiting))
            }
    }

    /// The process answers.
    func health(_ request: Request) -> Reply { Self.plain(200, "ok\n") }

    /// It has begun its work and has not begun to stop; paused is ready, for somebody wanted it so. While an outage keeps
    /// it from importing it is not.
    func readiness(_ request: Request) -> Reply {
        switch door.view.state() {
        case .running, .degraded, .paused:
            door.view.reasons().contains { $0.code.isOutage } ? Self.plain(503, "outage\n") : Self.plain(200, "ready\n")
        case .starting: Self.plain(503, "starting\n")
        case .stopping: Self.plain(503, "stopping\n")
        }
    }

    private static func plain(_ status: Int, _ text: String) -> Reply {
        Reply(
            status: status, headers: [("Content-Type", "text/plain"), ("Cache-Control", "no-store")],
            body: .bytes(Array(text.utf8)))
    }
}
