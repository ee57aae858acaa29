internal import Files
internal import Glibc
internal import PhotoModel

/// Runs another program to its end, without a shell, and takes what it prints.
enum Tool {
    struct Outcome: Sendable {
        /// The exit status, or 128 and the signal's number.
        var status: Int32
        /// Of both streams; the first 256 KiB.
        var output: String
    }

    enum Failure: Error {
        case notStarted(Errno)
        /// It was ended, as far as it could be.
        case tooLong
    }

    /// What is asked for takes milliseconds; more than this is an answer of its own.
    static let limit = Duration.seconds(5)

    /// - Parameter program: an absolute path.
    static func run(_ program: Path, _ words: [String], limit: Duration = limit) throws(Failure) -> Outcome {
        let output: Descriptor
        do throws(Errno) { output = try memoryFile("photospool-doctor") } catch { throw .notStarted(error) }
        let process = try start(program, words, output: output.rawValue)
        guard let status = wait(for: process, until: ContinuousClock.now + limit) else {
            end(process)
            throw .tooLong
        }
        let signal = status & 0x7F
        do throws(Errno) {
            let bytes = try output.readAll(limit: 1 << 18)
            return Outcome(
                status: signal == 0 ? (status >> 8) & 0xFF : 128 + signal,
                output: String(decoding: bytes, as: UTF8.self))
        } catch { throw .notStarted(error) }
    }

    private static func start(_ program: Path, _ words: [String], output: Int32) throws(Failure) -> pid_t {
        var actions = unsafe posix_spawn_file_actions_t()
        var attributes = posix_spawnattr_t()
        guard unsafe posix_spawn_file_actions_init(&actions) == 0 else { throw .notStarted(.noMemory) }
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        guard unsafe posix_spawnattr_init(&attributes) == 0 else { throw .notStarted(.noMemory) }
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        unsafe posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        unsafe posix_spawn_file_actions_adddup2(&actions, output, 1)
        unsafe posix_spawn_file_actions_adddup2(&actions, output, 2)
        // A group of its own, so that what it starts is ended with it; and every signal as it was at first.
        var signals = sigset_t()
        unsafe sigfillset(&signals)
        unsafe posix_spawnattr_setsigdefault(&attributes, &signals)
        unsafe sigemptyset(&signals)
        unsafe posix_spawnattr_setsigmask(&attributes, &signals)
        let flags = POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK
        unsafe posix_spawnattr_setflags(&attributes, Int16(flags))
        let environment = [
            "PATH=/usr/bin:/bin:/usr/sbin:/sbin", "LC_ALL=C.UTF-8", "SYSTEMD_COLORS=0", "SYSTEMD_PAGER=",
            "SWIFT_BACKTRACE=enable=no",
        ]
        var process: pid_t = 0
        let name = program.shown
        var arguments = unsafe ([name] + words).map { unsafe strdup($0) } + [nil]
        var variables = unsafe environment.map { unsafe strdup($0) } + [nil]
        defer {
            while let word = unsafe arguments.popLast() { unsafe free(word) }
            while let variable = unsafe variables.popLast() { unsafe free(variable) }
        }
        let code = unsafe program.withCString {
            unsafe posix_spawn(&process, $0, &actions, &attributes, arguments, variables)
        }
        guard code == 0 else { throw .notStarted(Errno(rawValue: code)) }
        return process
    }

    /// The status of waitpid(2); nil when time is up.
    private static func wait(for process: pid_t, until deadline: ContinuousClock.Instant) -> Int32? {
        var status: Int32 = 0
        while true {
            let found = unsafe waitpid(process, &status, WNOHANG)
            if found == process { return status }
            if found < 0, errno != EINTR { return nil }
            if ContinuousClock.now > deadline { return nil }
            usleep(2000)
        }
    }

    /// One that hangs in the kernel, at a share that is gone, stays there; it is not waited for.
    private static func end(_ process: pid_t) {
        kill(-process, SIGKILL)
        _ = wait(for: process, until: ContinuousClock.now + .milliseconds(200))
    }

    /// The first of the usual places that has the program.
    static func find(_ name: String) -> Path? {
        ["/usr/bin", "/bin", "/usr/sbin", "/sbin", "/usr/local/bin"].lazy.map { Path($0) / name }.first { path in
            unsafe path.withCString { unsafe access($0, X_OK) } == 0
        }
    }
}

/// A small file of the kernel's or the system's; nil when it cannot be read, which the caller has to say.
func smallFile(_ path: String) -> String? {
    let number = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard number >= 0 else { return nil }
    do throws(Errno) {
        return String(decoding: try Descriptor(adopting: number).readAll(limit: 1 << 20), as: UTF8.self)
    } catch {
        return nil
    }
}
