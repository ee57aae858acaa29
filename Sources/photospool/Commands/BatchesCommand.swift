internal import ControlAPI
internal import PhotoModel

extension Command {
    static let batches = Command(
        name: "batches",
        summary: "list batches, newest first, with their progress",
        options: [.limit]
    ) { invocation throws(Failure) in
        let limit = try invocation.limit()
        var daemon = try invocation.daemon()
        let list = try daemon.list(BatchBody.self, "/v1/batches", query: [], limit: limit)
        let console = invocation.console
        if invocation.wantsJSON {
            console.print(json: try Daemon.encode(list))
        } else if list.items.isEmpty {
            console.explain("Nothing has arrived yet.")
        } else {
            console.print(table(list.items, console.style))
            console.tellMore(list.next != nil, shown: list.items.count, of: "batches")
        }
        return .ok
    }

    private static func table(_ batches: [BatchBody], _ style: Style) -> Table {
        var table = Table([
            .init(title: "BATCH", isRight: true), .init(title: "FROM", isFlexible: true), .init(title: "ARRIVED"),
            .init(title: "PROGRESS"), .init(title: "DONE", isRight: true), .init(title: "FAILED", isRight: true),
        ])
        let now = Timestamp.now
        let bar = Bar(style: Style(hasColour: false, hasUnicode: style.hasUnicode), width: 12)
        for batch in batches {
            table.rows.append([
                .init(String(batch.id)), .init(origin(of: batch)), .init(Amounts.moment(batch.createdAt, now: now)),
                .init(
                    bar.drawn(Int64(batch.done), of: Int64(batch.total)), batch.done == batch.total ? .good : .active),
                .init("\(Amounts.grouped(batch.done)) of \(Amounts.grouped(batch.total))"),
                .init(Amounts.grouped(batch.failed), batch.failed > 0 ? .bad : .faint),
            ])
        }
        return table
    }

    static func origin(of batch: BatchBody) -> String { batch.drop.isEmpty ? "by hand" : SafeText.of(batch.drop) }
}
