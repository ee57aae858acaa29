internal import PhotoModel

extension Command {
    static let help = Command(
        name: "help",
        summary: "show help for a command",
        operands: [Operand(name: "COMMAND", count: .any)]
    ) { invocation throws(Failure) in
        var parser = ArgumentParser(invocation.operands, table: CommandTable.commands)
        try parser.parse()
        invocation.console.printHelp(for: parser.path)
        return .ok
    }
}
