import CLinux
import Files
import Glibc

/// Does what a taken-over decoder would do, each in a fresh process behind the same sandbox, and tells what stopped it.
/// `photospool doctor` and the tests run it: `--self-test`.
enum SelfTest {
    private static let attempts: [(name: String, how: @Sendable (_ file: Int32) -> Int32)] = [
        ("exec", { _ in unsafe execve("/bin/sh", [nil], [nil]) == 0 ? 0 : errno }),
        ("open", { _ in unsafe open("/etc/passwd", O_RDONLY) >= 0 ? 0 : errno }),
        ("socket", { _ in socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0) >= 0 ? 0 : errno }),
        ("fork", { _ in cl_try_fork() }),
        ("ptrace", { _ in cl_try_ptrace(getppid()) }),
        ("kill", { _ in kill(getppid(), SIGCONT) == 0 ? 0 : errno }),
        ("execute-memory", { _ in cl_try_memory_execution() }),
        ("write-too-much", writeTooMuch),
    ]
    /// Of an attempt that was let through; an errno value stands for the refusal, so that it is none of them.
    private static let letThrough: Int32 = 200
    private static let noSandbox: Int32 = 201

    /// - Returns: 0 when every attempt was refused.
    static func run() -> Int32 {
        var isTight = true
        for attempt in attempts {
            let outcome = outcome(of: attempt.name)
            say("\(attempt.name): \(outcome.text)")
            isTight = isTight && outcome.isRefused
        }
        say(isTight ? "The sandbox holds." : "The sandbox does not hold.")
        return isTight ? 0 : 1
    }

    private static func outcome(of name: String) -> (text: String, isRefused: Bool) {
        var pid: pid_t = -1
        let arguments = "decoder\0--attempt\0\(name)\0"
        let failure = unsafe cl_spawn("/proc/self/exe", arguments, "SWIFT_BACKTRACE=enable=no\0", 0, 2, &pid)
        guard failure == 0 else { return ("could not be tried: \(Errno(rawValue: failure).description)", false) }
        var status: Int32 = 0
        while unsafe waitpid(pid, &status, 0) < 0, errno == EINTR {}
        let signal = status & 0x7f
        guard signal == 0 else {
            return signal == SIGSYS ? ("killed (SIGSYS)", true) : ("ended by signal \(signal)", false)
        }
        switch status >> 8 & 0xff {
        case letThrough: return ("let through", false)
        case noSandbox: return ("could not be tried: no sandbox", false)
        case let code: return ("refused: \(Errno(rawValue: code).description)", true)
        }
    }

    /// In the process that the sandbox is for.
    static func attempt(_ name: String) -> Int32 {
        guard let attempt = attempts.first(where: { $0.name == name }) else { return 64 }
        do {
            let file = try memoryFile("self-test")
            try Sandbox.enter()
            let refusal = attempt.how(file.rawValue)
            return refusal == 0 ? letThrough : refusal
        } catch {
            say("The sandbox could not be entered: \(error)", to: STDERR_FILENO)
            return noSandbox
        }
    }

    /// Past the limit on what a finished preview may be.
    private static func writeTooMuch(_ file: Int32) -> Int32 {
        unsafe pwrite(file, [0], 1, off_t(Sandbox.fileLimit)) == 1 ? 0 : errno
    }
}
