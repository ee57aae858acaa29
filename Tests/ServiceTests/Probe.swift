import Glibc
import PhotoModel

struct TestSetup: Error {
    var what: String
    var errno: Int32
}

/// A run of `service-probe`, which lies beside the tests.
@safe struct Probe: ~Copyable {
    let pid: pid_t
    private let output: Int32
    private var pending: [UInt8] = []

    /// - Parameters:
    ///   - environment: all of it.
    ///   - socket: is handed over as systemd does it, as number 3 and named `control`.
    init(
        _ arguments: [String], environment: [String: String] = [:], errorToOutput: Bool = false,
        activatedBy socket: Int32? = nil
    ) throws {
        var ends: [Int32] = [-1, -1]
        guard unsafe pipe(&ends) == 0 else { throw TestSetup(what: "pipe", errno: errno) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        unsafe posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO)
        if errorToOutput { unsafe posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO) }
        // The child has to know its own pid beforehand, which only a shell can arrange.
        var program = Self.program
        var words = [program] + arguments
        if let socket {
            unsafe posix_spawn_file_actions_adddup2(&actions, socket, 3)
            program = "/bin/sh"
            words = [program, "-c", "LISTEN_PID=$$ LISTEN_FDS=1 LISTEN_FDNAMES=control exec \"$0\" \"$@\""] + words
        }
        let variables = environment.merging(["SWIFT_BACKTRACE": "enable=no"]) { own, _ in own }
        var argumentPointers = unsafe words.map { unsafe strdup($0) } + [nil]
        var environmentPointers = unsafe variables.map { unsafe strdup("\($0.key)=\($0.value)") } + [nil]
        defer {
            for index in unsafe argumentPointers.indices { unsafe free(argumentPointers[index]) }
            for index in unsafe environmentPointers.indices { unsafe free(environmentPointers[index]) }
        }
        var pid: pid_t = 0
        let code = unsafe posix_spawn(&pid, program, &actions, nil, &argumentPointers, &environmentPointers)
        _ = close(ends[1])
        guard code == 0 else {
            _ = close(ends[0])
            throw TestSetup(what: "start \(program)", errno: code)
        }
        self.pid = pid
        output = ends[0]
    }

    deinit { _ = close(output) }

    /// The next line, without its end; nil when there are no more.
    mutating func line() -> String? {
        while true {
            if let end = pending.firstIndex(of: UInt8(ascii: "\n")) {
                let line = String(decoding: pending[..<end], as: UTF8.self)
                pending.removeSubrange(...end)
                return line
            }
            var buffer = [UInt8](repeating: 0, count: 4096)
            let count = unsafe buffer.withUnsafeMutableBytes { unsafe read(output, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            if count <= 0 { return nil }
            pending += buffer.prefix(count)
        }
    }

    mutating func lines() -> [String] {
        var lines: [String] = []
        while let line = line() { lines.append(line) }
        return lines
    }

    /// Waits for the end: the exit code, or the negative number of the signal.
    func ending() -> Int32 {
        var status: Int32 = 0
        while unsafe waitpid(pid, &status, 0) < 0, errno == EINTR {}
        return status & 0x7F == 0 ? (status >> 8) & 0xFF : -(status & 0x7F)
    }

    func send(_ signal: Int32) { _ = kill(pid, signal) }

    private static var program: String {
        // The runner is somewhere in the toolchain; the bundle it names is built beside the probe.
        let bundle = CommandLine.arguments.first { $0.contains(".xctest") } ?? ""
        return (Path(bundle).parent / "service-probe").shown
    }
}

/// A folder of the test's own, gone afterwards; it holds plain files and sockets only.
func withTemporaryFolder<Result>(_ body: (Path) throws -> Result) throws -> Result {
    var template = Array("/tmp/photospool-service-XXXXXX".utf8CString)
    guard unsafe mkdtemp(&template) != nil else { throw TestSetup(what: "mkdtemp", errno: errno) }
    let folder = Path(bytes: template.dropLast().map { UInt8(bitPattern: $0) })
    defer {
        for name in ["crashed", "notify"] { _ = unsafe (folder / name).withCString { unsafe unlink($0) } }
        _ = unsafe folder.withCString { unsafe rmdir($0) }
    }
    return try body(folder)
}

/// The manager's end of sd_notify(3): a datagram socket at a path.
struct NotifySocket: ~Copyable {
    private let descriptor: Int32

    init(at path: Path) throws {
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
        guard descriptor >= 0 else { throw TestSetup(what: "socket", errno: errno) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: path.bytes) }
        let size = socklen_t(MemoryLayout<sockaddr_un>.size)
        let code = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe bind(descriptor, $0, size) }
        }
        guard code == 0 else { throw TestSetup(what: "bind \(path.shown)", errno: errno) }
    }

    deinit { _ = close(descriptor) }

    /// The next message; waits for it.
    func message() -> String {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = unsafe buffer.withUnsafeMutableBytes { unsafe recv(descriptor, $0.baseAddress, $0.count, 0) }
        return String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
    }
}
