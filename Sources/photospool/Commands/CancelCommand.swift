internal import ControlAPI
internal import PhotoModel

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
        let batchID = try batch.map { text throws(Failure) in try invocation.id(text) }
        var daemon = try invocation.daemon()
        if let batchID {
            return try eachOf([batchID], invocation, &daemon) { id in
                "/v1/batches/\(id)/cancel"
            } said: { id, bytes throws(Failure) in
                let batch = try Daemon.decode(BatchBody.self, bytes)
                return batch.done == batch.total
                    ? "Batch \(id) is cancelled."
                    : "Batch \(id) is being cancelled; imports under way are rolled back first."
            }
        }
        return try eachOf(ids, invocation, &daemon) { id in
            "/v1/jobs/\(id)/cancel"
        } said: { id, bytes throws(Failure) in
            try Daemon.decode(JobBody.self, bytes).state == JobState.cancelled.rawValue
                ? "Job \(id) is cancelled." : "Job \(id) is being cancelled; its import is rolled back first."
        }
    }
}
