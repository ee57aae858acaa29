import DecoderWire
import Dispatch
import Files
import Glibc
import PhotoModel
import Synchronization

/// Starts the decoders of one program, keeps those that are idle, replaces them when they are worn, and says when there
/// are none to be had. At most so many are at work as there are turns.
final class DecoderKeeper: Sendable {
    /// A decoder is replaced after so many requests, so that a slow leak of some library stays small.
    static let requestsPerDecoder = 200
    /// Or when it keeps more than this, or its part of the budget: its memory after a request is what no photo needs any
    /// more.
    static let residentLimit: UInt64 = 256 << 20
    /// How long a new decoder may take until it says that its sandbox stands. It loads libraries; on a busy card reader
    /// with a cold disk that takes seconds.
    static let startLimit = Duration.seconds(20)
    /// A missing decoder is looked for again after this.
    static let probeInterval = Duration.seconds(3)

    private struct State {
        var idle: [DecoderProcess] = []
        var isStopped = false
        var problem: Problem?
        var lastFailure: Duration?
        var version: String?
    }

    private let program: Path
    private let kept: @Sendable () -> UInt64?
    private let log: Log
    private let state = Mutex(State())
    private let turns: DispatchSemaphore
    private let spawner = Spawner()

    /// - Parameters:
    ///   - program: absolute path.
    ///   - size: decoders at work at the same time, 1 or more.
    ///   - kept: bytes that an idle one may keep; nil for ``residentLimit``.
    init(program: Path, size: Int, kept: @escaping @Sendable () -> UInt64?, log: @escaping Log) {
        self.program = program
        self.kept = kept
        self.log = log
        turns = DispatchSemaphore(value: max(1, size))
    }

    /// What is wrong with the decoder as such; nil while it works or nothing is known yet.
    var problem: Problem? { state.withLock { $0.problem } }
    /// What the last one said it is; nil before the first one ran.
    var version: String? { state.withLock { $0.version } }
    var isInstalled: Bool { unsafe program.withCString { unsafe access($0, X_OK) } == 0 }
    var isStopped: Bool { state.withLock { $0.isStopped } }

    /// Waits until fewer than `size` are at work.
    /// - Returns: false when it was cancelled or all is stopped; else ``endTurn()`` has to follow.
    func takeTurn(unless isCancelled: () -> Bool) -> Bool {
        while turns.wait(timeout: .now() + .milliseconds(100)) == .timedOut {
            if isCancelled() || isStopped { return false }
        }
        return true
    }

    func endTurn() { turns.signal() }

    enum Trial { case works, fails, busy }

    /// Whether one can be started, or is there. No free turn: decoders are at work, so there are some.
    func probe() -> Trial {
        guard turns.wait(timeout: .now()) == .success else { return .busy }
        defer { endTurn() }
        do throws(DecoderFailure) {
            giveBack(try take(isCancelled: { false }))
            return .works
        } catch {
            return .fails  // `problem` says why
        }
    }

    /// Ends all that are idle; those at work end with their requests. Final.
    func stop() {
        let idle = state.withLock { state in
            state.isStopped = true
            defer { state.idle = [] }
            return state.idle
        }
        for decoder in idle { decoder.reap() }
        spawner.stop()
    }

    /// An idle decoder that still lives, else a new one. The caller has a turn.
    func take(fresh: Bool = false, isCancelled: () -> Bool) throws(DecoderFailure) -> DecoderProcess {
        while !fresh, let decoder = state.withLock({ $0.idle.popLast() }) {
            // Readable while idle means: it has ended, or speaks unasked. Neither is the next file's fault.
            let speaks = (try? decoder.channel.waitReadable(milliseconds: 0)) ?? true  // a failed poll: as good as dead
            if !speaks { return decoder }
            decoder.reap()
        }
        let now = SystemClock.monotonic()
        let known = state.withLock { state in
            state.lastFailure.map { now - $0 < Self.probeInterval } ?? false ? state.problem : nil
        }
        if let known { throw .problem(known) }
        do throws(DecoderFailure) {
            let decoder = try start(isCancelled: isCancelled)
            let wasMissing = state.withLock { state in
                defer {
                    state.problem = nil
                    state.lastFailure = nil
                }
                return state.problem != nil
            }
            if wasMissing { log(LogLine(.info, "The decoder works again.", [("PATH", SafeText.of(program))])) }
            return decoder
        } catch .problem(let problem) where problem.code == .decoderMissing {
            let isNew = state.withLock { state in
                defer {
                    state.problem = problem
                    state.lastFailure = SystemClock.monotonic()
                }
                return state.problem != problem
            }
            if isNew { log(LogLine(.error, problem)) }
            throw .problem(problem)
        }
    }

    private func start(isCancelled: () -> Bool) throws(DecoderFailure) -> DecoderProcess {
        if isStopped || isCancelled() { throw .cancelled }
        let decoder: DecoderProcess
        do throws(Errno) {
            decoder = try spawner.start(program)
        } catch .noMemory, .wouldBlock, .tooManyOpenFiles, .tooManyOpenFilesInSystem {
            throw .problem(.decoderResources(.noMemory))
        } catch {
            throw .problem(.noDecoder(program, error.description))
        }
        let why: String  // empty: cancelled
        do throws(WireFault) {
            let end = SystemClock.monotonic() + Self.startLimit
            switch try decoder.receive(until: end, isCancelled: { isCancelled() || isStopped }) {
            case .message(let reply):
                switch reply.content {
                case .ready(let version):
                    state.withLock { $0.version = version }
                    return decoder
                case .refused(let reason): why = reason
                case .inspection, .preview, .failure: why = "it answered before it was asked"
                }
            case .timedOut: why = "it did not start within \(Self.startLimit.components.seconds) s"
            case .cancelled: why = ""
            }
        } catch .closed {
            let ending = decoder.reap()
            let words = decoder.lastWords
            why = ending.description + (words.isEmpty ? "" : " and said: " + words)
        } catch {
            why = "it sent \(error.description)"
        }
        decoder.reap()
        throw why.isEmpty ? .cancelled : .problem(.noDecoder(program, why))
    }

    /// For the next request, unless it is due to be replaced.
    func giveBack(_ decoder: DecoderProcess) {
        let isWorn =
            decoder.countRequest() >= Self.requestsPerDecoder
            || decoder.residentBytes > kept() ?? Self.residentLimit
        let isKept =
            !isWorn
            && state.withLock { state in
                guard !state.isStopped else { return false }
                state.idle.append(decoder)
                return true
            }
        if !isKept { decoder.reap() }
    }
}
