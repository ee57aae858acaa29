/// Help as text, from the command table.
struct Help {
    let style: Style
    let width: Int

    /// `photospool --help`
    func overview() -> [String] {
        var lines = [
            "Look after photo imports: what arrives in the drop folders, is copied, checked and catalogued.", "",
            style(.strong, "Usage:") + " photospool [OPTION...] COMMAND [...]",
        ]
        for group in CommandTable.groups {
            lines += ["", style(.strong, group.title + ":")]
            lines += pairs(group.commands.map { (usage(of: $0), $0.summary) })
        }
        lines += ["", style(.strong, "Options, for every command:")]
        lines += pairs(CommandTable.everywhere.map { ($0.shown, $0.summary) })
        lines += [
            "", style(.strong, "Exit status:"),
            "  0 done · 1 failed · 3 stopped (status) · 64 usage · 69 service not reachable · 77 not permitted",
            "  78 configuration · 130 interrupted",
            "", "'photospool COMMAND --help' tells more about a command; so does photospool(1).",
        ]
        return style.hasUnicode ? lines : lines.map { $0.split(separator: "·").joined(separator: "-") }
    }

    /// `photospool COMMAND --help`
    func command(_ path: [Command]) -> [String] {
        guard let command = path.last else { return overview() }
        let name = (["photospool"] + path.map(\.name)).joined(separator: " ")
        let operands = command.children.isEmpty ? command.operands.map { " " + $0.shown }.joined() : " COMMAND"
        var lines = [
            capitalised(command.summary) + ".", "", style(.strong, "Usage:") + " \(name) [OPTION...]\(operands)",
        ]
        for paragraph in command.details { lines += [""] + wrapped(paragraph, indent: 0) }
        if !command.children.isEmpty {
            lines += ["", style(.strong, "Commands:")] + pairs(command.children.map { (usage(of: $0), $0.summary) })
        }
        if !command.options.isEmpty {
            lines += ["", style(.strong, "Options:")] + pairs(command.options.map { ($0.shown, $0.summary) })
        }
        lines += ["", style(.strong, "Options, for every command:")]
        lines += pairs(CommandTable.everywhere.map { ($0.shown, $0.summary) })
        if !command.examples.isEmpty {
            lines += ["", style(.strong, "Examples:")]
            lines += command.examples.flatMap { ["  " + style(.active, $0.line), "      " + $0.meaning] }
        }
        return lines
    }

    private func usage(of command: Command) -> String {
        let rest = command.children.isEmpty ? command.operands.map(\.shown) : ["COMMAND"]
        return ([command.name] + rest).joined(separator: " ")
    }

    private func pairs(_ pairs: [(String, String)]) -> [String] {
        let left = min(30, pairs.map { columns(of: $0.0) }.max() ?? 0)
        return pairs.flatMap { name, meaning in
            let text = wrapped(meaning, indent: left + 4)
            let first = text.first.map { String($0.drop { $0 == " " }) } ?? ""
            return ["  " + padded(name, to: left) + "  " + first] + text.dropFirst()
        }
    }

    private func wrapped(_ text: String, indent: Int) -> [String] {
        photospool.wrapped(text, to: width, indent: indent)
    }

    private func capitalised(_ text: String) -> String { text.prefix(1).uppercased() + text.dropFirst() }
}

extension Console {
    func printHelp(for path: [Command]) {
        let width = output.isTerminal ? min(100, terminalSize(output.number).columns) : 100
        for line in Help(style: style, width: width).command(path) { print(line) }
    }
}
