import PhotoModel

/// The one line that `systemctl status` shows: `Importing 23 of 80 · IMG_0023.HEIC · 2 failed`.
enum StatusLine {
    static func text(
        state: DaemonState, reasons: [Problem], counts: QueueCounts, batch: Batch?, inFlight: [InFlightImport],
        settling: Int
    ) -> String {
        var parts: [String] = []
        switch state {
        case .starting: parts.append("Starting")
        case .stopping: parts.append("Stopping")
        case .paused: parts.append("Paused · \(counts.queued) queued")
        case .running, .degraded:
            if let current = inFlight.first {
                if let batch, batch.total > 0 {
                    parts.append("Importing \(min(batch.done + 1, batch.total)) of \(batch.total)")
                } else {
                    parts.append("Importing")
                }
                parts.append(SafeText.of(current.path.name))
            } else if counts.queued > counts.retrying {
                parts.append("\(counts.queued) queued")
            } else if settling > 0 {
                parts.append("Waiting for \(settling) file\(settling == 1 ? "" : "s") to arrive completely")
            } else {
                parts.append("Idle · \(counts.imported) imported")
            }
        }
        if counts.failed > 0 { parts.append("\(counts.failed) failed") }
        if counts.retrying > 0 { parts.append("\(counts.retrying) to be tried again") }
        if let reason = reasons.first { parts.append("\(reason.code.rawValue): \(SafeText.of(reason.whatHappened))") }
        return parts.joined(separator: " · ")
    }
}
