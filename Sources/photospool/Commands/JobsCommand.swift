internal import ControlAPI
internal import PhotoModel

extension Command {
    static let jobs = Command(
        name: "jobs",
        summary: "list jobs, newest first",
        options: [
            Option(
                "state", value: "STATE", "only jobs in this state",
                completion: .words(JobState.allCases.map(\.rawValue))),
            Option("drop", value: "NAME", "only jobs from this drop folder"),
            Option("batch", value: "ID", "only jobs of this batch"),
            .limit,
        ],
        examples: [
            .init("photospool jobs --state failed", "what needs a look"),
            .init("photospool jobs --batch 12 --limit 500", "everything that came with one card"),
        ]
    ) { invocation throws(Failure) in
        let state = try invocation.choice("state", of: JobState.allCases.map(\.rawValue))
        let batch = try invocation.number("batch", least: 1)
        let limit = try invocation.limit()
        var daemon = try invocation.daemon()
        let list = try daemon.list(
            JobBody.self, "/v1/jobs",
            query: [("state", state), ("drop", invocation.text("drop")), ("batch", batch.map(String.init))],
            limit: limit)
        if invocation.wantsJSON {
            invocation.console.print(json: try Daemon.encode(list))
        } else if list.items.isEmpty {
            invocation.console.explain("There are no such jobs.")
        } else {
            invocation.console.print(jobTable(list.items))
            invocation.console.tellMore(list.next != nil, shown: list.items.count, of: "jobs")
        }
        return .ok
    }

    /// Without the batch when it is the same for all.
    static func jobTable(_ jobs: [JobBody], ofOneBatch: Bool = false) -> Table {
        var columns: [Table.Column] = [
            .init(title: "JOB", isRight: true), .init(title: "STATE"), .init(title: "FILE", isFlexible: true),
            .init(title: "SIZE", isRight: true), .init(title: "DROP"), .init(title: "BATCH", isRight: true),
            .init(title: "WHEN"), .init(title: "WHY"),
        ]
        if ofOneBatch { columns.remove(at: 5) }
        var table = Table(columns)
        let now = Timestamp.now
        for job in jobs {
            let size = job.files.reduce(Int64(0)) { $0 + $1.size }
            let when = job.finishedAt ?? job.notBefore ?? job.createdAt
            var row: [Table.Cell] = [
                .init(String(job.id)), .init(SafeText.of(job.state), Style.meaning(of: job.state)),
                .init(files(of: job)), .init(Amounts.bytes(size)), .init(SafeText.of(job.drop)),
                .init(String(job.batchID)), .init(Amounts.moment(when, now: now)),
                .init(SafeText.of(job.error?.code ?? job.disposition.code ?? ""), .faint),
            ]
            if ofOneBatch { row.remove(at: 5) }
            table.rows.append(row)
        }
        return table
    }

    /// `IMG_0001.HEIC +2`: the photo, and how many files travel with it.
    static func files(of job: JobBody) -> String {
        guard let first = job.files.first else { return "" }
        let name = SafeText.of(Path(first.path).name)
        return job.files.count == 1 ? name : "\(name) +\(job.files.count - 1)"
    }
}

extension Option {
    static let limit = Option("limit", value: "N", "at most so many, 50 when not given")
}

extension Invocation {
    func limit() throws(Failure) -> Int { try number("limit", least: 1) ?? 50 }
}

extension Console {
    /// Something for a person only, beside the data.
    func explain(_ line: String) { if !isQuiet { note(errorStyle(.faint, line)) } }

    func tellMore(_ isMore: Bool, shown: Int, of what: String) {
        if isMore { explain("These are the first \(Amounts.grouped(shown)) \(what); --limit N shows more.") }
    }
}
