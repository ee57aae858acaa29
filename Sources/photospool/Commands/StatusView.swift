internal import ControlAPI
internal import PhotoModel

/// The status as a person reads it, in the manner of systemctl(1).
struct StatusView {
    let status: StatusBody
    let style: Style
    /// Columns of the terminal; `Int.max` for a pipe or a file, where nothing is cut.
    let width: Int

    init(_ status: StatusBody, style: Style, width: Int) {
        self.status = status
        self.style = style
        self.width = width
    }

    var lines: [String] {
        var lines = [headline]
        lines.append(labelled("Library", library))
        if let mirror = status.mirror { lines.append(labelled("Mirror", self.mirror(mirror))) }
        lines.append(labelled("Queue", queue))
        lines.append(labelled("Done", done))
        if let batch = status.batch { lines.append(labelled("Batch", Self.batch(batch, style, barWidth: 24))) }
        lines += imports
        lines += drops
        lines = lines.map { clipped($0, to: width) }
        lines += reasons
        if status.queue.failed > 0 { lines += ["", style(.faint, "See what failed: photospool jobs --state failed")] }
        return lines
    }

    private var headline: String {
        let meaning = Style.meaning(of: status.state)
        let idle = status.idle && status.state == "running" ? ", idle" : ""
        return style(meaning, style.dot) + " photospool \(SafeText.of(status.version)) - "
            + style(meaning, SafeText.of(status.state)) + idle + ", up \(Amounts.duration(status.uptime))"
    }

    private var library: String {
        let free = status.library.freeBytes.map { Amounts.bytes($0) + " free" } ?? style(.warning, "not there")
        return SafeText.of(status.library.path) + style.separator + free
    }

    private func mirror(_ mirror: MirrorBody) -> String {
        let free = mirror.freeBytes.map { Amounts.bytes($0) + " free" } ?? style(.warning, "not there")
        let behind =
            mirror.behind == 0 ? "up to date" : style(.warning, Amounts.count(Int(mirror.behind), "file") + " behind")
        return SafeText.of(mirror.path) + style.separator + free + style.separator + behind
    }

    private var queue: String {
        let queue = status.queue
        var parts: [String] = []
        if queue.queued > queue.retrying { parts.append("\(Amounts.grouped(queue.queued - queue.retrying)) waiting") }
        if queue.importing > 0 { parts.append(style(.active, "\(queue.importing) importing")) }
        if queue.retrying > 0 { parts.append(style(.warning, "\(queue.retrying) to be tried again")) }
        if parts.isEmpty { return "empty" }
        let rates = status.rates
        if rates.filesPerSecond > 0.05 { parts.append("\(Amounts.short(rates.filesPerSecond)) files/s") }
        if rates.bytesPerSecond >= 1 { parts.append("\(Amounts.bytes(Int64(rates.bytesPerSecond)))/s") }
        return parts.joined(separator: style.separator)
    }

    private var done: String {
        let queue = status.queue
        var parts = ["\(Amounts.grouped(queue.imported)) imported"]
        for (count, word) in [
            (queue.duplicate, queue.duplicate == 1 ? "duplicate" : "duplicates"), (queue.skipped, "skipped"),
            (queue.vanished, "vanished"),
            (queue.cancelled, "cancelled"),
        ] where count > 0 { parts.append("\(Amounts.grouped(count)) \(word)") }
        if queue.failed > 0 { parts.append(style(.bad, "\(Amounts.grouped(queue.failed)) failed")) }
        return parts.joined(separator: style.separator)
    }

    /// `12 ━━━━╌╌╌ 23 of 80 · 2 failed`
    static func batch(_ batch: BatchProgressBody, _ style: Style, barWidth: Int) -> String {
        "\(batch.id)  " + Bar(style: style, width: barWidth).drawn(Int64(batch.done), of: Int64(batch.total)) + "  "
            + progress(done: batch.done, total: batch.total, failed: batch.failed, style)
    }

    /// `23 of 80 · 2 failed`
    static func progress(done: Int, total: Int, failed: Int, _ style: Style) -> String {
        "\(Amounts.grouped(done)) of \(Amounts.grouped(total))"
            + (failed > 0 ? style.separator + style(.bad, "\(Amounts.grouped(failed)) failed") : "")
    }

    private var imports: [String] {
        let names = status.importing.map { SafeText.of(Path($0.path).name) }
        let nameWidth = min(32, names.map { columns(of: $0) }.max() ?? 0)
        return zip(status.importing, names).enumerated().map { position, pair in
            labelled(
                position == 0 ? "Importing" : "",
                Self.flight(pair.0, name: pair.1, nameWidth: nameWidth, style, barWidth: 16))
        }
    }

    /// `IMG_0023.HEIC  copying     ━━━━╌╌╌╌  1.2 of 3.4 MiB`
    static func flight(_ flight: ImportingBody, name: String, nameWidth: Int, _ style: Style, barWidth: Int) -> String {
        padded(shortened(name, to: nameWidth, ellipsis: style.ellipsis), to: nameWidth) + "  "
            + style(.active, padded(SafeText.of(flight.phase), to: 10)) + "  "
            + Bar(style: style, width: barWidth).drawn(flight.bytesDone, of: flight.bytesTotal) + "  "
            + Amounts.bytes(flight.bytesDone, of: flight.bytesTotal)
    }

    private var drops: [String] {
        let nameWidth = status.drops.map { columns(of: SafeText.of($0.name)) }.max() ?? 0
        let pathWidth = min(40, status.drops.map { columns(of: SafeText.of($0.path)) }.max() ?? 0)
        if status.drops.isEmpty {
            return [labelled("Drops", style(.warning, "none; add a [[drop]] to the configuration"))]
        }
        return status.drops.enumerated().map { position, drop in
            let path = shortened(SafeText.of(drop.path), to: pathWidth, ellipsis: style.ellipsis)
            return labelled(
                position == 0 ? "Drops" : "",
                style(Style.meaning(of: drop.health), style.dot) + " " + padded(SafeText.of(drop.name), to: nameWidth)
                    + "  " + padded(path, to: pathWidth) + "  " + detail(of: drop))
        }
    }

    private func detail(of drop: DropBody) -> String {
        if drop.health == "waiting" { return style(.warning, "waiting until it is there") }
        var parts = [
            drop.mode == "inotify" ? Amounts.count(drop.watches, "folder") + " watched" : SafeText.of(drop.mode)
        ]
        if drop.candidates > 0 { parts.append(style(.active, "\(Amounts.grouped(drop.candidates)) arriving")) }
        if drop.waitingForOthers > 0 { parts.append("\(Amounts.grouped(drop.waitingForOthers)) without their photo") }
        if drop.health != "ok" { parts.append(style(.warning, SafeText.of(drop.health))) }
        return parts.joined(separator: style.separator)
    }

    private var reasons: [String] {
        let all =
            status.reasons.map { ("", $0) } + status.drops.flatMap { drop in drop.reasons.map { (drop.name, $0) } }
        var seen: [ErrorBody] = []
        return all.flatMap { drop, reason -> [String] in
            if seen.contains(reason) { return [] }
            seen.append(reason)
            return Self.reason(reason, drop.isEmpty ? "" : "\(SafeText.of(drop)): ", style, width: width)
        }
    }

    /// A problem: what it is, what happened, what to do.
    static func reason(_ reason: ErrorBody, _ prefix: String, _ style: Style, width: Int) -> [String] {
        let meaning: Style.Meaning = reason.code.hasPrefix("W_") ? .warning : .bad
        let title = style(meaning, "! " + prefix + SafeText.of(reason.title))
        let advice = wrapped(SafeText.of(reason.recovery), to: width, indent: 4).enumerated().map { position, line in
            position == 0 ? "  \(style.arrow) " + line.drop { $0 == " " } : line
        }
        return ["", title + " " + style(.faint, SafeText.of(reason.code))]
            + wrapped(SafeText.of(reason.detail), to: width, indent: 2) + advice
    }

    private func labelled(_ label: String, _ text: String) -> String {
        padded(label.isEmpty ? "" : label + ":", to: 11, right: true) + " " + text
    }
}
