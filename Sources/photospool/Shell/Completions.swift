/// Completion scripts from the command table. They are text of their own and ask nobody when they run.
enum Completions {
    /// Every command with the words that lead to it, parents before children.
    private static var all: [(words: [String], command: Command)] {
        CommandTable.commands.flatMap { command in
            [([command.name], command)] + command.children.map { ([command.name, $0.name], $0) }
        }
    }

    private static func names(_ options: [Option]) -> [String] {
        options.flatMap { option in ["--" + option.name] + (option.letter.map { ["-\($0)"] } ?? []) }
    }

    // MARK: bash

    static var bash: [String] {
        var lines = [
            "# photospool(1) completion for bash; made by 'photospool completions bash'", "_photospool() {",
            "    local cur=${COMP_WORDS[COMP_CWORD]} prev= command= word i",
            "    COMPREPLY=()",
            "    ((COMP_CWORD > 0)) && prev=${COMP_WORDS[COMP_CWORD - 1]}",
            "    for ((i = 1; i < COMP_CWORD; i++)); do",
            "        word=${COMP_WORDS[i]}",
            "        case $word in",
            "            \(valued(CommandTable.everywhere).joined(separator: " | "))) ((i++)) ;;",
            "            -*) ;;",
            "            *)",
            "                case \"$command $word\" in",
        ]
        let words = all.map { "\"\($0.words.count == 2 ? $0.words[0] : "") \($0.words[$0.words.count - 1])\"" }
        lines += [
            "                    \(words.joined(separator: " | "))) command=\"${command:+$command }$word\" ;;",
            "                esac",
            "                ;;",
            "        esac",
            "    done",
            "    case $prev in",
        ]
        var seen: Set<String> = []
        for option in CommandTable.everywhere + all.flatMap(\.command.options) where option.value != nil {
            guard seen.insert(option.name).inserted else { continue }
            lines.append(
                "        \(names([option]).joined(separator: " | "))) \(bashReply(option.completion)) return ;;")
        }
        lines += ["    esac", "    local words="]
        lines.append("    case $command in")
        lines.append("        '') words='\(CommandTable.commands.map(\.name).joined(separator: " "))' ;;")
        for (path, command) in all {
            var offered = command.children.map(\.name) + names(command.options)
            if case .words(let choices) = command.operands.first?.completion { offered += choices }
            if command.name == "help" { offered += CommandTable.commands.map(\.name) }
            var line = "        '\(path.joined(separator: " "))') words='\(offered.joined(separator: " "))'"
            switch command.operands.first?.completion {
            case .files: line += "; COMPREPLY=($(compgen -f -- \"$cur\"))"
            case .folders: line += "; COMPREPLY=($(compgen -d -- \"$cur\"))"
            default: break
            }
            lines.append(line + " ;;")
        }
        return lines + [
            "    esac",
            "    words+=' \(names(CommandTable.everywhere).joined(separator: " "))'",
            "    [[ $cur != -* ]] && words=${words//-+([^ ])/}",
            "    COMPREPLY+=($(compgen -W \"$words\" -- \"$cur\"))",
            "}",
            "shopt -s extglob",
            "complete -o filenames -F _photospool photospool",
        ]
    }

    private static func valued(_ options: [Option]) -> [String] { names(options.filter { $0.value != nil }) }

    private static func bashReply(_ completion: Completion) -> String {
        switch completion {
        case .nothing: ""
        case .files: "COMPREPLY=($(compgen -f -- \"$cur\"));"
        case .folders: "COMPREPLY=($(compgen -d -- \"$cur\"));"
        case .words(let words): "COMPREPLY=($(compgen -W '\(words.joined(separator: " "))' -- \"$cur\"));"
        }
    }

    // MARK: zsh

    static var zsh: [String] {
        var lines = ["#compdef photospool", "# made by 'photospool completions zsh'", "_photospool() {"]
        lines += ["    local curcontext=$curcontext state line", "    _arguments -C \\"]
        lines += CommandTable.everywhere.map { "        \(zshOption($0)) \\" }
        lines += ["        '1:command:->command' '*::operand:->operand'", "    case $state in", "    command)"]
        lines += describe("commands", CommandTable.commands, indent: "        ") + ["        ;;", "    operand)"]
        lines += ["        case $line[1] in"]
        for command in CommandTable.commands {
            lines.append("        \(command.name))")
            if command.children.isEmpty {
                lines += zshArguments(command, indent: "            ")
            } else {
                // The first of `words` is the command itself.
                lines += ["            if (( CURRENT == 2 )); then"]
                lines += describe("commands", command.children, indent: "                ")
                lines += ["            else", "                shift words", "                (( CURRENT-- ))"]
                lines += ["                case $words[1] in"]
                for child in command.children {
                    lines.append("                \(child.name))")
                    lines += zshArguments(child, indent: "                    ") + ["                    ;;"]
                }
                lines += ["                esac", "            fi"]
            }
            lines.append("            ;;")
        }
        return lines + ["        esac", "        ;;", "    esac", "}", "_photospool \"$@\""]
    }

    private static func describe(_ tag: String, _ commands: [Command], indent: String) -> [String] {
        var lines = [indent + "local -a \(tag)=("]
        for command in commands { lines.append("\(indent)    '\(command.name):\(zshText(command.summary))'") }
        return lines + [indent + ")", indent + "_describe command \(tag)"]
    }

    private static func zshArguments(_ command: Command, indent: String) -> [String] {
        var words = (command.options + CommandTable.everywhere).map(zshOption)
        for operand in command.operands {
            let count = operand.count == .many || operand.count == .any ? "*" : ""
            let isCommand = command.name == "help"
            let action = isCommand ? Self.words(CommandTable.commands.map(\.name)) : zshAction(operand.completion)
            words.append("'\(count):\(operand.name.lowercased()):\(action)'")
        }
        if command.operands.isEmpty { words.append("'*: :'") }
        var lines = [indent + "_arguments \\"]
        for word in words.dropLast() { lines.append("\(indent)    \(word) \\") }
        lines.append(indent + "    " + (words.last ?? ""))
        return lines
    }

    private static func zshOption(_ option: Option) -> String {
        let value = option.value.map { ":\($0.lowercased()):\(zshAction(option.completion))" } ?? ""
        let text = "[\(zshText(option.summary))]\(value)"
        guard let letter = option.letter else { return "'--\(option.name)\(option.value == nil ? "" : "=")\(text)'" }
        return "'(-\(letter) --\(option.name))'{-\(letter),--\(option.name)}'\(text)'"
    }

    private static func zshAction(_ completion: Completion) -> String {
        switch completion {
        case .nothing: " "
        case .files: "_files"
        case .folders: "_files -/"
        case .words(let choices): words(choices)
        }
    }

    private static func words(_ choices: [String]) -> String { "(\(choices.joined(separator: " ")))" }

    private static func zshText(_ text: String) -> String {
        text.replacing("'", with: "'\\''").replacing("[", with: "\\[").replacing("]", with: "\\]")
            .replacing(":", with: "\\:")
    }

    // MARK: fish

    static var fish: [String] {
        var lines = [
            "# photospool(1) completion for fish; made by 'photospool completions fish'", "complete -c photospool -f",
        ]
        lines += CommandTable.everywhere.map { "complete -c photospool \(fishOption($0))" }
        for command in CommandTable.commands {
            lines.append(
                "complete -c photospool -n __fish_use_subcommand -a \(command.name) -d '\(fishText(command.summary))'")
        }
        for (path, command) in all {
            let condition =
                path.count == 1
                ? "__fish_seen_subcommand_from \(path[0])"
                : "__fish_seen_subcommand_from \(path[0]); and __fish_seen_subcommand_from \(path[1])"
            let start = "complete -c photospool -n '\(condition)'"
            lines += command.options.map { "\(start) \(fishOption($0))" }
            for child in command.children {
                lines.append("\(start) -a \(child.name) -d '\(fishText(child.summary))'")
            }
            if command.name == "help" {
                lines.append("\(start) -a '\(CommandTable.commands.map(\.name).joined(separator: " "))'")
            }
            switch command.operands.first?.completion {
            case .files: lines.append("\(start) -F")
            case .folders: lines.append("\(start) -a '(__fish_complete_directories)'")
            case .words(let choices): lines.append("\(start) -a '\(choices.joined(separator: " "))'")
            case .nothing, nil: break
            }
        }
        return lines
    }

    private static func fishOption(_ option: Option) -> String {
        var text = "-l \(option.name)" + (option.letter.map { " -s \($0)" } ?? "")
        if option.value != nil {
            switch option.completion {
            case .nothing: text += " -x"
            case .files: text += " -r -F"
            case .folders: text += " -x -a '(__fish_complete_directories)'"
            case .words(let choices): text += " -x -a '\(choices.joined(separator: " "))'"
            }
        }
        return text + " -d '\(fishText(option.summary))'"
    }

    private static func fishText(_ text: String) -> String {
        text.replacing("\\", with: "\\\\").replacing("'", with: "\\'")
    }
}
