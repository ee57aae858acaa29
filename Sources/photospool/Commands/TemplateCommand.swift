internal import ControlAPI
internal import Files
internal import Ingest
internal import PhotoModel
internal import Preview

extension Command {
    static let template = Command(
        name: "template",
        summary: "show what a naming template would give",
        operands: [Operand(name: "TEXT"), Operand(name: "FILE", count: .many, completion: .files)],
        options: [
            Option("drop", value: "NAME", "what {drop} stands for; `drop` when left out"), .config,
        ],
        details: [
            "The service need not run, and nothing is written. The files are read as the service reads them, by the"
                + " sandboxed decoder; files of one folder and stem are one shot and share their name.",
            "{batch} reads 1, {seq} counts the shots, and {id} is an example. Shots of one name are numbered as in a library"
                + " that holds nothing else. The configuration is asked for import.time_zone and import.deadline only.",
            "Exits with 64 when the template has a fault, and with 1 when a file cannot be read or is no photo.",
        ],
        examples: [
            .init(
                "photospool template '{year}/{model}/{stem}{ext}' DCIM/100CANON/*",
                "before it goes into the configuration")
        ]
    ) { invocation throws(Failure) in
        let text = invocation.operands[0].shown
        let template = try parsed(text, invocation)
        let settings = try settingsOrDefaults(invocation)
        guard let decoder = Installed.programs(nil)["photospool-decoder"] else {
            throw Failure(
                .failed,
                Problem(
                    .decoderMissing, "There is no photospool-decoder, which alone reads what photos say of themselves.")
            )
        }
        let console = invocation.console
        let decoders = DecoderPool(
            program: decoder, size: 1, deadline: settings.importing.deadline, localOffset: zone(settings),
            log: { _ in })  // what it would say stands with the file
        defer { decoders.stop() }
        let trial = TemplateTrial(
            template, drop: invocation.text("drop") ?? "drop", decoders: decoders, now: SystemClock.now(), log: { _ in }
        )
        let named: [TemplateTrial.Named]
        do throws(Problem) {
            named = try trial.run(invocation.operands.dropFirst().map(absolute))
        } catch {
            throw Failure(.failed, error)
        }
        if invocation.wantsJSON {
            console.print(json: try Daemon.encode(TemplateBody(template: text, files: named)))
        } else {
            describe(named, console)
        }
        return named.contains { $0.problem != nil } ? .failed : .ok
    }

    private static func parsed(_ text: String, _ invocation: Invocation) throws(Failure) -> NamingTemplate {
        do throws(NamingTemplate.Fault) {
            return try NamingTemplate(text)
        } catch {
            let hint = error.hint.map { "; \($0)" } ?? ""
            let end = hint.hasSuffix("?") ? "" : "."
            throw .usage(
                "The template \(error.sentence), at character \(error.offset + 1)\(hint)\(end)", see: invocation.names)
        }
    }

    /// Those of the configuration where there is one that this user may read; a faulty one is refused.
    private static func settingsOrDefaults(_ invocation: Invocation) throws(Failure) -> Settings {
        let place = ConfigurationPlace(option: invocation.options["config"]?.last)
        if invocation.has("config") || isReadable(place.main) { return try configuration(invocation).settings }
        return place.defaults
    }

    /// Where movies that tell only UTC were taken.
    private static func zone(_ settings: Settings) -> @Sendable (Int64) -> Int {
        let name = settings.importing.timeZone
        // The name was looked up when the configuration was read; where the database is gone, the machine's counts.
        let rules = name.isEmpty ? nil : try? TimeZoneRules(named: name)
        return { rules?.offset(at: $0) ?? SystemClock.localOffset(at: Timestamp(seconds: $0)) }
    }

    private static func describe(_ named: [TemplateTrial.Named], _ console: Console) {
        for file in named {
            if let path = file.path {
                console.print("\(SafeText.of(file.source)) -> \(SafeText.of(path))")
            } else if let problem = file.problem {
                let errors = console.errorStyle
                let detail = SafeText.of(problem.whatHappened)
                console.note("\(errors(.bad, "photospool:")) \(detail) \(errors(.faint, "(\(problem.code.rawValue))"))")
            }
        }
    }
}

/// `photospool template --json`.
private struct TemplateBody: Encodable {
    struct File: Encodable {
        var path: String
        var pathBytes: String?
        @OrNull var libraryPath: String?
        var libraryPathBytes: String?
        @OrNull var capturedAt: String?
        @OrNull var capturedOffset: String?
        @OrNull var dateSource: String?
        @OrNull var make: String?
        @OrNull var model: String?
        @OrNull var lens: String?
        @OrNull var error: ErrorBody?

        enum CodingKeys: String, CodingKey {
            case path
            case pathBytes = "path_bytes"
            case libraryPath = "library_path"
            case libraryPathBytes = "library_path_bytes"
            case capturedAt = "captured_at"
            case capturedOffset = "captured_offset"
            case dateSource = "date_source"
            case make, model, lens, error
        }

        init(_ file: TemplateTrial.Named) {
            let source = PathText(file.source)
            let target = file.path.map { PathText($0) }
            path = source.text
            pathBytes = source.base64
            libraryPath = target?.text
            libraryPathBytes = target?.base64
            capturedAt = file.facts.capturedAt?.text
            capturedOffset = file.facts.capturedOffset
            dateSource = file.facts.dateSource?.rawValue
            make = file.facts.make
            model = file.facts.model
            lens = file.facts.lens
            error = file.problem.map(ErrorBody.init)
        }
    }

    var template: String
    var files: [File]

    init(template: String, files: [TemplateTrial.Named]) {
        self.template = template
        self.files = files.map(File.init)
    }
}
