import Glibc
import Service

@main struct Main {
    static func main() async {
        // Here, on the main thread and before there is another, so that all inherit it.
        SignalRoom.blockAll()
        exit(await Program.run(CommandLine.arguments))
    }
}
