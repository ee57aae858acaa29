internal import ControlAPI
internal import PhotoModel

extension Command {
    static let operations = Command(
        name: "operations",
        summary: "list long work, newest first, or cancel one",
        options: [
            .limit,
            Option("cancel", value: "ID", "end this one; what it has done stays done"),
        ]
    ) { invocation throws(Failure) in
        var daemon = try invocation.daemon()
        let console = invocation.console
        if let text = invocation.options["cancel"]?.last {
            guard let id = Int64(text.shown), id > 0 else {
                throw .usage("--cancel needs the number of an operation.", see: invocation.names)
            }
            let bytes = try daemon.post("/v1/operations/\(id)/cancel")
            if invocation.wantsJSON {
                console.print(json: bytes)
            } else {
                console.say("Operation \(id) ends.")
            }
            return .ok
        }
        let limit = try invocation.limit()
        let list = try daemon.list(OperationBody.self, "/v1/operations", query: [], limit: limit)
        if invocation.wantsJSON {
            console.print(json: try Daemon.encode(list))
        } else if list.items.isEmpty {
            console.explain("No operation was ordered yet.")
        } else {
            console.print(table(list.items))
            console.tellMore(list.next != nil, shown: list.items.count, of: "operations")
        }
        return .ok
    }

    private static func table(_ operations: [OperationBody]) -> Table {
        var table = Table([
            .init(title: "OPERATION", isRight: true), .init(title: "KIND"), .init(title: "STATE"),
            .init(title: "DONE", isRight: true), .init(title: "FOUND", isRight: true),
            .init(title: "ORDERED", isFlexible: true),
        ])
        let now = Timestamp.now
        for operation in operations {
            let of = operation.total.map { " of \(Amounts.grouped(Int($0)))" } ?? ""
            table.rows.append([
                .init(String(operation.id)), .init(SafeText.of(operation.kind)),
                .init(SafeText.of(operation.state), Style.meaning(of: operation.state)),
                .init(Amounts.grouped(Int(operation.done)) + of),
                .init(
                    Amounts.grouped(Int(operation.findingsCount)), operation.findingsCount > 0 ? .bad : .faint),
                .init(Amounts.moment(operation.createdAt, now: now)),
            ])
        }
        return table
    }
}
