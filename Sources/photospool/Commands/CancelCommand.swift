extension Command {
    static let cancel = Command(
        name: "cancel",
        summary: "cancel jobs that are not done yet",
        operands: [Operand(name: "ID", count: .any)],
        options: [Option("batch", value: "ID", "every job of this batch that is not done yet")],
        details: [
            "An import under way is rolled back and leaves nothing in the library. What was imported before stays, and"
                + " no source is touched."
        ],
        examples: [
            .init("photospool cancel 120", "one job"),
            .init("photospool cancel --batch 12", "the rest of a card"),
        ]
    ) { invocation throws(Failure) in
        let ids = try invocation.ids()
        let batch = invocation.text("batch")
        guard (batch != nil) != !ids.isEmpty else {
            throw .usage("Name the jobs to cancel, or --batch ID; not both.", see: invocation.names)
        }
        var daemon: Daemon
        if let batch {
            let id = try invocation.id(batch)
            daemon = try invocation.daemon()
            return try eachOf([id], invocation, &daemon) { id in
                "/v1/batches/\(id)/cancel"
            } said: { id in
                "Batch \(id) is cancelled."
            }
        }
        daemon = try invocation.daemon()
        return try eachOf(ids, invocation, &daemon) { id in
            "/v1/jobs/\(id)/cancel"
        } said: { id in
            "Job \(id) is cancelled."
        }
    }
}
