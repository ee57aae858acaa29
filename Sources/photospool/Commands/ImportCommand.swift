internal import ControlAPI
internal import Glibc
internal import HTTPClient
internal import PhotoModel

extension Command {
    static let importing = Command(
        name: "import",
        summary: "queue files or folders by hand",
        operands: [Operand(name: "PATH", count: .many, completion: .files)],
        options: [Option("dry-run", letter: "n", "say what would become of each file, and change nothing")],
        details: [
            "The paths have to lie below a drop folder or one of control.import_roots. The sources are always kept,"
                + " whatever the drop folder says.",
            "With --dry-run each file is a line: the name it would get, what it is a duplicate of, that it is known"
                + " already, refused and why, or which pattern of `ignore` passes it over. Pictures are not decoded for that.",
            "Exits with 1 when a path was refused; the others are queued all the same.",
        ],
        examples: [
            .init("photospool import --dry-run /srv/drop/card/DCIM", "what would happen"),
            .init("photospool import /srv/drop/card/DCIM && photospool watch --until-idle", "and wait for it"),
        ]
    ) { invocation throws(Failure) in
        let paths = invocation.operands.map(absolute)
        var daemon = try invocation.daemon()
        let isDryRun = invocation.has("dry-run")
        let bytes = try daemon.post(
            "/v1/import", ImportRequest(paths: paths, dryRun: isDryRun),
            // Photos are read before it is answered.
            deadline: isDryRun ? .seconds(24 * 3600) : Connection.usualDeadline)
        let body = try Daemon.decode(ImportBody.self, bytes)
        let console = invocation.console
        if invocation.wantsJSON { console.print(json: bytes) } else { describe(body, console) }
        // A dry run answers for all of them.
        let isRefused = body.groups.contains { $0.error != nil }
        return body.refused.isEmpty && !isRefused ? .ok : .failed
    }

    private static func describe(_ body: ImportBody, _ console: Console) {
        let style = console.style
        for line in body.groups.flatMap(ForecastText(style: style).lines(of:)) { console.print(line) }
        for name in body.ignored {
            let rule = name.pattern.map { "by the pattern \(SafeText.of($0))" } ?? ForecastText.rule(name.rule)
            console.print("\(style(.faint, "."))  \(SafeText.of(name.path))  \(style(.faint, "ignored \(rule)"))")
        }
        let known = body.known > 0 ? " \(Amounts.count(body.known, "file")) known already." : ""
        if body.dryRun {
            let refused = body.groups.count { $0.error != nil }
            let new = body.groups.count { shot in
                shot.error == nil && shot.files.contains { $0.outcome == "import" }
            }
            let duplicates = max(0, body.queued - new - refused)
            console.say(
                "\(Amounts.count(new, "shot")) would be imported, \(Amounts.count(duplicates, "duplicate")),"
                    + " \(refused) refused.\(known)")
        } else {
            let batch = body.batchID.map { " as batch \($0)" } ?? ""
            console.say("\(Amounts.count(body.queued, "shot")) queued\(batch).\(known)")
        }
        let errors = console.errorStyle
        for refused in body.refused {
            let (path, detail) = (SafeText.of(refused.path), SafeText.of(refused.error.detail))
            let said = detail.contains(path) ? detail : "\(path): \(detail)"
            let code = errors(.faint, "(\(SafeText.of(refused.error.code)))")
            console.note("\(errors(.bad, "photospool:")) \(said) \(code)")
            if !refused.error.recovery.isEmpty { console.note(SafeText.of(refused.error.recovery)) }
        }
    }

    /// From the root, with the folders' links resolved as the shell's user sees them; the last component stays as it
    /// is, for the service never follows a link there.
    static func absolute(_ path: Path) -> Path {
        let name = path.name
        if [Path("."), Path(".."), Path("")].contains(name) { return resolved(path) ?? path }
        let parent = path.parent
        guard let folder = resolved(parent.isEmpty ? Path(".") : parent) else {
            return path.isAbsolute ? path : here / path
        }
        return folder / name
    }

    private static var here: Path { resolved(Path(".")) ?? Path("/") }

    private static func resolved(_ path: Path) -> Path? {
        unsafe path.withCString { name in
            guard let found = unsafe realpath(name, nil) else { return nil }
            defer { unsafe free(found) }
            return unsafe Path(bytes: UnsafeRawBufferPointer(start: found, count: strlen(found)))
        }
    }
}
