internal import ControlAPI
internal import PhotoModel

/// A ``WatchModel`` as lines: bars for a terminal, one line for a log.
struct WatchView {
    let model: WatchModel
    let style: Style
    let width: Int
    /// Why there is no service right now; nil while there is.
    var lost: String?

    var lines: [String] {
        if let lost { return [style(.warning, "\(style.ring) \(lost)"), style(.faint, hint)] }
        guard let status = model.status else { return [] }
        var lines = [headline(status)]
        lines += batch(status)
        lines += flights
        for reason in status.reasons.prefix(3) {
            lines.append(
                style(.warning, "! \(SafeText.of(reason.title))") + style(.faint, " \(SafeText.of(reason.code))"))
            lines.append("  \(style.arrow) \(SafeText.of(reason.recovery))")
        }
        lines.append(style(.faint, hint))
        return lines
    }

    private var hint: String { "Ctrl-C leaves; the service goes on." }

    /// `23 of 80 · 2 failed · copying IMG_0023.HEIC 1.2 of 3.4 MiB`, for a line every now and then.
    var summary: String {
        if let lost { return lost }
        guard let status = model.status else { return "" }
        var parts: [String] = []
        if let batch = model.batch, batch.done < batch.total {
            parts.append(StatusView.progress(done: batch.done, total: batch.total, failed: batch.failed, style))
        }
        for flight in ordered.prefix(2) {
            parts.append(
                "\(SafeText.of(flight.phase)) \(SafeText.of(Path(flight.path).name)) "
                    + Amounts.bytes(flight.bytesDone, of: flight.bytesTotal))
        }
        if parts.isEmpty { parts = [SafeText.of(status.state)] + counts(status) }
        return parts.joined(separator: style.separator)
    }

    private var ordered: [ImportingBody] { model.flights.values.sorted { $0.jobID < $1.jobID } }

    private func headline(_ status: StatusBody) -> String {
        let meaning = Style.meaning(of: status.state)
        let state = status.idle && status.state == "running" ? "idle, waiting for photos" : SafeText.of(status.state)
        var parts = [style(meaning, "\(style.dot) \(state)")] + counts(status)
        if let free = status.library.freeBytes { parts.append("\(Amounts.bytes(free)) free") }
        return fitting(parts, separator: style.separator, in: room)
    }

    /// The most telling first: a narrow terminal shows only those.
    private func counts(_ status: StatusBody) -> [String] {
        var parts: [String] = []
        if status.queue.failed > 0 { parts.append(style(.bad, "\(Amounts.grouped(status.queue.failed)) failed")) }
        let waiting = status.queue.queued - status.queue.retrying
        if waiting > 0 { parts.append("\(Amounts.grouped(waiting)) waiting") }
        if status.queue.retrying > 0 { parts.append("\(Amounts.grouped(status.queue.retrying)) to be tried again") }
        let arriving = status.drops.reduce(0) { $0 + $1.candidates }
        if arriving > 0 { parts.append("\(Amounts.grouped(arriving)) arriving") }
        parts.append("\(Amounts.grouped(status.queue.imported)) imported")
        return parts
    }

    private func batch(_ status: StatusBody) -> [String] {
        guard let batch = model.batch, batch.total > 0, batch.done < batch.total else { return [] }
        var parts = [StatusView.progress(done: batch.done, total: batch.total, failed: batch.failed, style)]
        let rates = status.rates
        if rates.filesPerSecond > 0.01 {
            let seconds = Int64((Double(batch.total - batch.done) / rates.filesPerSecond).rounded(.up))
            if seconds > 2 { parts.append("about \(Amounts.duration(seconds)) left") }
        }
        if rates.bytesPerSecond >= 1 { parts.append("\(Amounts.bytes(Int64(rates.bytesPerSecond)))/s") }
        let bar = Bar(style: style, width: max(8, min(40, room - 60)))
        let text = fitting(parts, separator: style.separator, in: room - bar.width - 6)
        return ["  " + bar.drawn(Int64(batch.done), of: Int64(batch.total)) + "  " + text]
    }

    private var flights: [String] {
        let shown = ordered.prefix(8)
        let names = shown.map { SafeText.of(Path($0.path).name) }
        let barWidth = max(6, min(16, room - 60))
        let nameWidth = min(max(14, room - barWidth - 38), names.map { columns(of: $0) }.max() ?? 0)
        return zip(shown, names).map { flight, name in
            "    " + StatusView.flight(flight, name: name, nameWidth: nameWidth, style, barWidth: barWidth)
        }
    }

    private var room: Int { max(20, width - 1) }
}
