import FakeService
import Testing

/// What the overview lists is what every other place has to know.
private func commandNames() throws -> [String] {
    try Program.run(["--help"]).output.split(separator: "\n").compactMap { line in
        guard line.hasPrefix("  "), let name = line.dropFirst(2).split(separator: " ").first,
            name.allSatisfy({ $0.isLowercase }), line.dropFirst(2).first != " "
        else { return nil }
        return String(name)
    }
}

@Suite("The command line") struct UsageTests {
    static let commands = [
        "status", "watch", "jobs", "job", "batches", "batch", "assets", "show", "export", "import", "retry", "cancel",
        "pause",
        "resume", "rescan", "reload", "verify", "manifest", "backup", "rebuild", "adopt", "previews", "sweep", "undo",
        "delete", "forget",
        "operations", "init", "doctor", "config", "template", "completions", "help",
    ]

    @Test func `lists every command in the overview`() throws {
        #expect(try commandNames() == Self.commands)
    }

    @Test(arguments: commands + ["config check", "config show", "config cat"])
    func `explains each command on standard output`(command: String) throws {
        let words = command.split(separator: " ").map(String.init)
        let help = try Program.run(words + ["--help"])
        #expect(help.status == 0)
        #expect(help.errors.isEmpty)
        #expect(help.output.contains("Usage: photospool \(command)"))
        for option in ["--socket", "--json", "--color", "--no-progress", "--quiet", "--help", "--version"] {
            #expect(help.output.contains(option))
        }
        #expect(try Program.run(["help"] + words).output == help.output)
        #expect(try Program.run(words + ["-h"]).output == help.output)
    }

    @Test(arguments: [
        ([], "Say what to do"),
        (["statsu"], "Did you mean 'status'?"),
        (["config", "chekc"], "Did you mean 'check'?"),
        (["config"], "needs one of: check, show, cat"),
        (["jobs", "--sate", "failed"], "Did you mean '--state'?"),
        (["jobs", "--state", "faild"], "Did you mean 'failed'?"),
        (["jobs", "--state"], "--state needs a value"),
        (["jobs", "--limit", "0"], "1 or more"),
        (["jobs", "--limit=many"], "not 'many'"),
        (["jobs", "extra"], "takes no operands"),
        (["job"], "needs ID"),
        (["job", "1", "2"], "one word too many"),
        (["job", "x"], "not an id"),
        (["job", "--", "-1"], "not an id"),
        (["status", "--json=yes"], "takes no value"),
        (["status", "-x"], "no option '-x'"),
        (["retry"], "or --all"),
        (["retry", "1", "--all"], "not both"),
        (["cancel", "--batch", "x"], "not an id"),
        (["assets", "--from", "yesterday"], "takes a date"),
        (["import"], "needs PATH..."),
        (["template", "{stem}{ext}"], "needs FILE..."),
        (["template", "{stm}{ext}", "x.jpg"], "unknown token {stm}, at character 1; did you mean `{stem}`?"),
        (["completions", "tcsh"], "bash, zsh and fish"),
        (["--color", "sometimes", "status"], "auto, always, never"),
        (["status\u{1B}[31m"], "There is no command"),
    ])
    func `refuses what it does not understand with 64 and one hint`(words: [String], message: String) throws {
        let result = try Program.run(words, socket: "/nonexistent/s")
        #expect(result.status == 64)
        #expect(result.output.isEmpty)
        let lines = result.errors.split(separator: "\n")
        #expect(lines.count == 2)
        #expect(lines.first?.hasPrefix("photospool: ") == true)
        #expect(result.errors.contains(message), "\(result.errors)")
        #expect(lines.last?.hasPrefix("Try 'photospool") == true)
        #expect(!result.errors.contains("\u{1B}"))
    }

    @Test func `takes options before, after and between operands, and letters in one word`() throws {
        let service = try FakeService { _ in .json("{\"items\":[],\"next\":null}") }
        defer { service.stop() }
        for words in [
            ["--json", "jobs", "--limit=5"], ["jobs", "--limit", "5", "--json"], ["-q", "--json", "jobs", "--limit=5"],
        ] {
            let result = try Program.run(words, socket: service.socket)
            #expect(result.status == 0)
            #expect(result.output == "{\"items\":[],\"next\":null}\n")
        }
        #expect(service.requests.map(\.target) == Array(repeating: "/v1/jobs?limit=5", count: 3))
    }

    @Test func `prints its version`() throws {
        let plain = try Program.run(["--version"])
        #expect(plain.output.split(separator: " ").first == "photospool")
        #expect(plain.output.split(separator: "\n").count == 1)
        let json = try Program.run(["--version", "--json"])
        #expect(json.output.contains("\"libcurl\":\""))
        #expect(json.output.hasPrefix("{"))
    }
}

@Suite("The man page") struct ManPageTests {
    @Test func `names every command and every option of the help`() throws {
        let root = #filePath.split(separator: "/").dropLast(3).map { "/" + $0 }.joined()
        let page = try contents(of: root + "/docs/man/photospool.1.scd").replacing("\\", with: "")
        var commands = try commandNames().map { [$0] }
        commands += ["check", "show", "cat"].map { ["config", $0] }
        for command in commands where command != ["config"] {
            #expect(page.contains("*\(command.joined(separator: " "))*"), "\(command)")
            let help = try Program.run(command + ["--help"]).output
            for option in help.split(whereSeparator: { " ,=\n".contains($0) }) where option.hasPrefix("--") {
                guard option.dropFirst(2).allSatisfy({ $0.isLowercase || $0 == "-" }) else { continue }
                #expect(page.contains("*\(option)*"), "\(option) of \(command)")
            }
        }
    }
}

@Suite("The completions") struct CompletionTests {
    @Test(arguments: ["bash", "zsh", "fish"])
    func `know every command and every option of the help`(shell: String) throws {
        let script = try Program.run(["completions", shell])
        #expect(script.status == 0)
        for name in try commandNames() {
            #expect(script.output.contains(name), "\(shell) does not know \(name)")
            var words = [[name]]
            if name == "config" { words = ["check", "show", "cat"].map { [name, $0] } }
            for command in words {
                let help = try Program.run(command + ["--help"]).output
                for option in help.split(whereSeparator: { " ,=\n".contains($0) }) where option.hasPrefix("--") {
                    let word = shell == "fish" ? "-l \(option.dropFirst(2))" : String(option)
                    guard option.dropFirst(2).allSatisfy({ $0.isLowercase || $0 == "-" }) else { continue }
                    #expect(script.output.contains(word), "\(shell) does not know \(option) of \(command)")
                }
            }
        }
    }

    /// Bash itself, asked what it would offer.
    @Test(arguments: [
        ("photospool st", "status"),
        ("photospool --json config ch", "check"),
        ("photospool jobs --state fai", "failed"),
        ("photospool --socket /x jobs --li", "--limit"),
        ("photospool completions z", "zsh"),
        ("photospool help wat", "watch"),
        ("photospool status --co", "--color"),
    ])
    func `work in bash`(line: String, offer: String) throws {
        let folder = try makeTemporaryFolder()
        defer { removeTree(folder) }
        let script = try Program.run(["completions", "bash"]).output
        let words = line.split(separator: " ").map { "'\($0)'" }.joined(separator: " ")
        let ask = """
            \(script)
            COMP_WORDS=(\(words)); COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
            _photospool; printf '%s\\n' "${COMPREPLY[@]}"
            """
        try write(ask, to: folder + "/ask.bash")
        let reply = try capture("/bin/bash", [folder + "/ask.bash"])
        #expect(reply.split(separator: "\n").map(String.init) == [offer])
    }
}
