import Glibc

/// Sandbox first, then decode; see `Sandbox.swift`. Started by the daemon only, with the channel as descriptor 3.
@main struct Main {
    static func main() {
        let arguments = CommandLine.arguments.dropFirst()
        switch arguments.first {
        case nil: exit(DecoderService.hasChannel ? DecoderService.run() : refuse())
        case "--version": exit(printVersion())
        case "--formats" where arguments.count == 1: exit(printFormats())
        case "--self-test" where arguments.count == 1: exit(SelfTest.run())
        case "--attempt" where arguments.count == 2: exit(SelfTest.attempt(arguments.last ?? ""))
        default: exit(refuse())
        }
    }
}
