internal import ControlAPI
internal import HTTPClient
internal import PhotoModel

extension Command {
    static let batch = Command(
        name: "batch",
        summary: "show one batch and what became of each of its jobs",
        operands: [Operand(name: "ID")],
        options: [.limit],
        examples: [.init("photospool batch 12", "the numbers are in 'photospool batches'")]
    ) { invocation throws(Failure) in
        let id = try invocation.id(invocation.operands[0].shown)
        let limit = try invocation.limit()
        var daemon = try invocation.daemon()
        var batch = try page(id, limit, nil, &daemon)
        while let next = batch.jobs.next, batch.jobs.items.count < limit {
            let more = try page(id, limit - batch.jobs.items.count, next, &daemon)
            if more.jobs.items.isEmpty { break }
            batch.jobs.items += more.jobs.items
            batch.jobs.next = more.jobs.next
        }
        let console = invocation.console
        if invocation.wantsJSON {
            console.print(json: try Daemon.encode(batch))
            return .ok
        }
        let (style, body) = (console.style, batch.batch)
        var sheet = Sheet("\(style(.strong, "batch \(body.id)")) - \(origin(of: body))")
        sheet.add(
            "Progress",
            Bar(style: style, width: 24).drawn(Int64(body.done), of: Int64(body.total)) + "  "
                + StatusView.progress(done: body.done, total: body.total, failed: body.failed, style))
        sheet.add("Arrived", Amounts.moment(body.createdAt, now: .now))
        sheet.add("Complete", body.closedAt.map { Amounts.moment($0, now: .now) } ?? "not yet, it still takes new jobs")
        for line in sheet.lines { console.print(line) }
        if !batch.jobs.items.isEmpty {
            console.print()
            console.print(jobTable(batch.jobs.items, ofOneBatch: true))
        }
        console.tellMore(batch.jobs.next != nil, shown: batch.jobs.items.count, of: "jobs")
        return .ok
    }

    private static func page(
        _ id: Int64, _ limit: Int, _ cursor: String?, _ daemon: inout Daemon
    ) throws(Failure) -> BatchDetailBody {
        try daemon.get(
            BatchDetailBody.self,
            HTTPRequest.target("/v1/batches/\(id)", query: [("limit", String(min(200, limit))), ("after", cursor)]))
    }
}
