import Files
import Glibc
import PhotoModel
import Service

/// What ServiceTests run as a process of its own, because it dies, takes signals, or reads the environment.
@main enum ServiceProbe {
    static func main() {
        let arguments = CommandLine.arguments.dropFirst()
        do {
            try act(arguments.first ?? "", Array(arguments.dropFirst()))
        } catch {
            say("failed: \(error)")
            exit(2)
        }
    }

    private static func act(_ name: String, _ arguments: [String]) throws {
        switch name {
        case "crash":
            let mark = try CrashMark(at: Path(arguments[0]))
            try mark.arm()
            crash(arguments[1])
        case "notify":
            let manager = ServiceManager()
            say("watchdog \(ServiceManager.watchdogInterval.map { "\($0)" } ?? "off")")
            manager.ready(status: "Waiting.")
            manager.status("Importing evil\nSTOPPING=1")
            manager.reloading()
            manager.ready()
            manager.stopping(status: "Done.")
        case "signals":
            SignalRoom.blockAll()
            SignalRoom.listen { order in
                say("\(order)")
                if order == .stop { exit(0) }
            }
            say("listening")
            while true { pause() }
        case "sockets":
            let sockets = try SocketActivation()
            // The test put a listening socket there by this number.
            say("control \(number(sockets.take(named: "control")))")
            say("again \(number(sockets.take(named: "control")))")
            say("announced \(unsafe getenv("LISTEN_FDS") == nil ? "no" : "yes")")
        case "log":
            let journal = Journal(level: .info, sink: .standardError())
            journal.add(LogLine(.warning, "A file\nwas odd.", [("CODE", "E_CORRUPT"), ("PATH", "/a b/\u{1B}c")]))
            journal.add(LogLine(.debug, "Not shown."))
        default:
            say("unknown \(name)")
            exit(64)
        }
    }

    private static func number(_ socket: consuming Descriptor?) -> Int32 {
        guard let socket else { return -1 }
        return socket.rawValue
    }

    private static func crash(_ way: String) {
        switch way {
        case "trap": preconditionFailure("on purpose")
        case "abort": abort()
        case "null":
            let nowhere = unsafe UnsafeMutablePointer<Int>(bitPattern: 16)
            unsafe nowhere?.pointee = 1
        case "overflow": say("\(endless(1))")
        case "kill": kill(getpid(), SIGKILL)
        default: exit(0)
        }
    }

    private static func endless(_ depth: Int) -> Int { depth == 0 ? 0 : endless(depth + 1) + depth }

    private static func say(_ line: String) {
        let bytes = Array((line + "\n").utf8)
        _ = unsafe bytes.withUnsafeBytes { unsafe write(STDOUT_FILENO, $0.baseAddress, $0.count) }
    }
}
