internal import PhotoModel

extension Command {
    static let completions = Command(
        name: "completions",
        summary: "print the completions for a shell",
        operands: [Operand(name: "SHELL", completion: .words(["bash", "zsh", "fish"]))],
        examples: [
            .init("photospool completions bash > ~/.local/share/bash-completion/completions/photospool", "bash"),
            .init("photospool completions zsh > ~/.zfunc/_photospool", "zsh, with ~/.zfunc in fpath"),
            .init("photospool completions fish > ~/.config/fish/completions/photospool.fish", "fish"),
        ]
    ) { invocation throws(Failure) in
        let shell = invocation.operands[0].shown
        let script =
            switch shell {
            case "bash": Completions.bash
            case "zsh": Completions.zsh
            case "fish": Completions.fish
            default:
                throw Failure.usage(
                    "There are completions for bash, zsh and fish, not for '\(SafeText.of(shell))'.",
                    see: invocation.names)
            }
        for line in script { invocation.console.print(line) }
        return .ok
    }
}
