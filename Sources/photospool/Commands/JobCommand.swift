internal import ControlAPI
internal import HTTPClient
internal import PhotoModel

extension Command {
    static let job = Command(
        name: "job",
        summary: "show one job: its files, what became of them, and why",
        operands: [Operand(name: "ID")],
        examples: [.init("photospool job 118", "the numbers are in 'photospool jobs'")]
    ) { invocation throws(Failure) in
        let id = try invocation.id(invocation.operands[0].shown)
        var daemon = try invocation.daemon()
        let bytes = try daemon.call(HTTPRequest(.get, "/v1/jobs/\(id)"))
        let console = invocation.console
        if invocation.wantsJSON {
            console.print(json: bytes)
            return .ok
        }
        for line in lines(of: try Daemon.decode(JobBody.self, bytes), console) { console.print(line) }
        return .ok
    }

    private static func lines(of job: JobBody, _ console: Console) -> [String] {
        let style = console.style
        let meaning = Style.meaning(of: job.state)
        let now = Timestamp.now
        var sheet = Sheet(style(meaning, style.dot) + " job \(job.id) - " + style(meaning, SafeText.of(job.state)))
        sheet.add(
            "Files", job.files.map { "\(SafeText.of($0.path)) (\(SafeText.of($0.role)), \(Amounts.bytes($0.size)))" })
        sheet.add("Drop", SafeText.of(job.drop))
        sheet.add("Batch", "\(job.batchID)\(style.separator)number \(job.sequence)")
        sheet.add("Attempts", String(job.attempts))
        sheet.add("Arrived", Amounts.moment(job.createdAt, now: now))
        if let finished = job.finishedAt { sheet.add("Finished", Amounts.moment(finished, now: now)) }
        if let next = job.notBefore { sheet.add("Next try", Amounts.moment(next, now: now)) }
        if let asset = job.assetID {
            sheet.add("Asset", SafeText.of(asset) + style(.faint, "  photospool show \(SafeText.of(asset))"))
        }
        sheet.add("Source", source(of: job, style))
        if let error = job.error {
            sheet.lines += StatusView.reason(error, "", style, width: console.width)
            if job.state == "failed" { sheet.lines.append("  \(style.arrow) photospool retry \(job.id)") }
        }
        return sheet.lines
    }

    private static func source(of job: JobBody, _ style: Style) -> String {
        let words =
            switch job.disposition.state {
            case "keep": "kept where it is"
            case "pending": "to be moved or deleted"
            case "moved": "moved away after the import"
            case "deleted": "deleted after the import"
            case "kept": style(.warning, "kept, although it was to be moved or deleted")
            default: SafeText.of(job.disposition.state)
            }
        return words + (job.disposition.detail.map { ": " + SafeText.of($0) } ?? "")
    }
}
