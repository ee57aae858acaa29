internal import ControlAPI
internal import Glibc
internal import HTTPClient
internal import PhotoModel

/// From the words of a command line to an exit status.
enum Shell {
    /// - Parameter words: without the program's name.
    static func run(_ words: [Path]) -> Int32 {
        unsafe setlocale(LC_CTYPE, "C.UTF-8")  // for strerror and the like; what is shown is decided by Console
        var parser = ArgumentParser(words, table: CommandTable.commands)
        var console = Console()
        let status: ExitStatus
        do throws(Failure) {
            try parser.parse()
            console = try configured(console, parser)
            status = try dispatch(parser, console)
        } catch {
            status = error.status
            report(error, console, asJSON: parser.options["json"] != nil)
        }
        console.flush()
        return status.rawValue
    }

    private static func dispatch(_ parser: ArgumentParser, _ console: Console) throws(Failure) -> ExitStatus {
        if parser.options["help"] != nil {
            console.printHelp(for: parser.path)
            return .ok
        }
        if parser.options["version"] != nil {
            try printVersion(console, asJSON: parser.options["json"] != nil)
            return .ok
        }
        guard let command = parser.path.last else {
            throw .usage("Say what to do: for example 'photospool status'.")
        }
        try parser.check()
        return try command.run(
            Invocation(path: parser.path, options: parser.options, operands: parser.operands, console: console))
    }

    private static func configured(_ console: Console, _ parser: ArgumentParser) throws(Failure) -> Console {
        let invocation = Invocation(path: parser.path, options: parser.options, console: console)
        let choice = try invocation.choice("color", of: Console.Colour.allCases.map(\.rawValue))
        return console.with(
            colour: choice.flatMap(Console.Colour.init) ?? .auto, isQuiet: invocation.has("quiet"),
            hasProgress: !invocation.has("no-progress"))
    }

    private static func printVersion(_ console: Console, asJSON: Bool) throws(Failure) {
        if asJSON {
            console.print(json: try Daemon.encode(["version": Release.version, "libcurl": libcurlVersion()]))
        } else {
            console.print("photospool \(Release.version)")
        }
    }

    /// One sentence and one hint for a person, one object for a program; always on standard error.
    static func report(_ failure: Failure, _ console: Console, asJSON: Bool) {
        if asJSON, let bytes = try? JSON.encode(FailureBody(failure)) {  // cannot fail: plain strings and numbers
            console.note(String(decoding: JSONText.safe(bytes), as: UTF8.self))
            return
        }
        let style = console.errorStyle
        let code = failure.code.map { " " + style(.faint, "(\(SafeText.of($0)))") } ?? ""
        let shownCode = failure.status == .usage ? "" : code
        console.note(style(.bad, "photospool:") + " " + SafeText.of(failure.detail) + shownCode)
        for part in failure.parts {
            let code = part.code == failure.code ? "" : " " + style(.faint, "(\(SafeText.of(part.code)))")
            console.note("  - \(SafeText.of(part.detail))\(code)")
            if !part.recovery.isEmpty { console.note("    " + SafeText.of(part.recovery)) }
        }
        if !failure.recovery.isEmpty { console.note(SafeText.of(failure.recovery)) }
    }
}
