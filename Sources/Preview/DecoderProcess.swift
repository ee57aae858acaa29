import CLinux
import DecoderWire
import Files
import Glibc
import PhotoModel
import Synchronization

/// One running decoder: its end of the channel and the process, which is killed and reaped at the latest when this goes.
///
/// Used by one thread at a time: the pool hands it out and takes it back.
final class DecoderProcess: Sendable {
    let pid: pid_t
    let channel: DecoderChannel
    /// What it and its libraries print, in a memory file: the daemon's log is not theirs to write to.
    private let errors: Descriptor
    private let served = Atomic<Int>(0)
    private let isReaped = Atomic<Bool>(false)

    /// Starts the program; it is not known to work before its first message says so.
    init(program: Path) throws(Errno) {
        let pair = try DecoderChannel.pair()
        let errors = try memoryFile("photospool-decoder-errors")
        let pid = try DecoderProcess.spawn(program, channel: pair.theirs.rawValue, errors: errors.rawValue)
        self.pid = pid
        self.errors = errors
        channel = pair.intoOurs()
    }

    deinit { reap() }

    /// Exactly this and nothing of the daemon's own: no secrets, no LD_PRELOAD, no tuning.
    /// `SWIFT_BACKTRACE`: a crash handler would want to start a program. `OMP_NUM_THREADS`, `MALLOC_ARENA_MAX`: a thread
    /// or an arena per core would eat the address space that is the memory limit.
    private static let environment = [
        "LC_ALL=C.UTF-8", "SWIFT_BACKTRACE=enable=no", "OMP_NUM_THREADS=1", "MALLOC_ARENA_MAX=1",
    ]

    private static func spawn(_ program: Path, channel: Int32, errors: Int32) throws(Errno) -> pid_t {
        var pid: pid_t = -1
        // Both lists as one text each, its parts ended by NUL: C makes the arrays.
        let environment = environment.map { $0 + "\0" }.joined()
        let failure = unsafe program.withCString { name in
            unsafe cl_spawn(name, "photospool-decoder\0", environment, channel, errors, &pid)
        }
        guard failure == 0 else { throw Errno(rawValue: failure) }
        return pid
    }

    /// How many requests it has answered, this one included.
    func countRequest() -> Int { served.add(1, ordering: .relaxed).newValue }

    /// An id that this decoder has not seen.
    var nextID: UInt64 { UInt64(served.load(ordering: .relaxed)) + 1 }

    var residentBytes: UInt64 { cl_resident_bytes(pid) }

    /// SIGXCPU after so much more work, should the daemon be too busy, or gone, to enforce the deadline itself.
    func limitProcessorTime(seconds: UInt64) { _ = cl_limit_processor_time(pid, seconds) }

    /// It may take so much more memory than it has now; nil for as much as its sandbox allows.
    ///
    /// A failure is that of a process that is gone, which the channel tells.
    func limitMemory(growth: ByteCount?) { _ = cl_limit_growth(pid, growth.map { UInt64(max(0, $0.bytes)) } ?? .max) }

    /// Whether somebody stopped it (SIGSTOP, a debugger): then it is not the file that takes so long.
    var isStopped: Bool { cl_is_stopped(pid) == 1 }

    /// Ends the process if it has not ended, and says how it ended. Waits for the kernel only.
    @discardableResult func reap() -> Ending {
        guard isReaped.exchange(true, ordering: .acquiringAndReleasing) == false else { return Ending(status: -1) }
        return Ending(status: cl_kill_and_reap(pid))
    }

    /// The end of what it printed, one harmless line; empty when it printed nothing.
    var lastWords: String {
        let printed = (try? errors.readAll(limit: 1 << 20)) ?? []  // words for the log only; without them it says less
        let lines = String(decoding: printed.suffix(512), as: UTF8.self).split(separator: "\n")
        return SafeText.of(lines.suffix(3).joined(separator: " | "), limit: 300)
    }
}

/// How a decoder ended: wait(2).
struct Ending: Hashable, Sendable {
    let status: Int32

    var signal: Int32? { status >= 0 && status & 0x7f != 0 ? status & 0x7f : nil }
    var exitCode: Int32? { status >= 0 && status & 0x7f == 0 ? status >> 8 & 0xff : nil }

    var description: String {
        switch (signal, exitCode) {
        case (SIGSYS?, _): "it called something that the sandbox forbids (SIGSYS)"
        case (SIGSEGV?, _): "it touched memory that it does not have (SIGSEGV)"
        case (SIGBUS?, _): "it touched memory that is gone (SIGBUS)"
        case (SIGILL?, _), (SIGTRAP?, _): "it stopped at an inner contradiction (SIGILL)"
        case (SIGABRT?, _): "it gave up (SIGABRT)"
        case (SIGFPE?, _): "it divided by zero (SIGFPE)"
        case (SIGXCPU?, _): "it used up its processor time (SIGXCPU)"
        case (SIGXFSZ?, _): "it wrote too much (SIGXFSZ)"
        case (SIGKILL?, _): "it was killed (SIGKILL), perhaps for want of memory"
        case (let signal?, _): "it was ended by signal \(signal)"
        case (_, let code?): "it ended by itself with status \(code)"
        default: "it ended"
        }
    }
}
