import DecoderWire
import Dispatch
package import Files
import Glibc
package import PhotoModel
import Synchronization
import Workers

/// Starts, feeds and kills the decoder processes: the only way from the daemon to anything that parses a photo.
///
/// A file that hangs, ends or takes over a decoder costs its own job at most the deadline. The calls block; they belong
/// on a thread that may, and each holds one of `size` decoders while it runs.
package final class DecoderPool: Sendable {
    /// A decoder is replaced after so many requests, so that a slow leak of some library stays small.
    static let requestsPerDecoder = 200
    /// Or when it keeps more than this, or its part of the budget: its memory after a request is what no photo needs any
    /// more.
    static let residentLimit: UInt64 = 256 << 20
    /// Address space beyond what a decode is expected to take: stacks, and pages that are not touched.
    static let slack: Int64 = 64 << 20
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

    let program: Path
    let deadline: Duration
    let log: Log
    private let state = Mutex(State())
    private let slots: DispatchSemaphore
    private let spawner = Spawner()
    /// For movies, which have a program of their own: the same pool once more.
    private let movies: DecoderPool?
    private let localOffset: @Sendable (Int64) -> Int
    /// Of all decoders of the daemon together; nil where nobody counts.
    private let memory: DecoderMemory?

    /// - Parameters:
    ///   - program: absolute path of photospool-decoder.
    ///   - movies: of photospool-decoder-av, which need not be there.
    ///   - localOffset: of the zone where movies that tell only UTC were taken: seconds east at a time since 1970.
    ///   - size: decoders at work at the same time, 1 or more.
    ///   - deadline: for one request.
    ///   - memory: what all pools share.
    package init(
        program: Path, movies: Path? = nil, size: Int, deadline: Duration, memory: DecoderMemory? = nil,
        localOffset: @escaping @Sendable (Int64) -> Int = { SystemClock.localOffset(at: Timestamp(seconds: $0)) },
        log: @escaping Log
    ) {
        self.localOffset = localOffset
        self.program = program
        self.deadline = deadline
        self.log = log
        slots = DispatchSemaphore(value: max(1, size))
        self.memory = memory
        memory?.expect(decoders: size)
        self.movies = movies.map {
            DecoderPool(program: $0, size: size, deadline: deadline, memory: memory, log: log)
        }
    }

    /// What is wrong with the decoder as such; nil while it works or nothing is known yet.
    package var problem: Problem? { state.withLock { $0.problem } }
    package var isAvailable: Bool { problem == nil }

    /// What the last decoders said they are; nil before the first one ran. That of movies counts while it is there.
    package var decoderVersion: String? {
        guard let own = state.withLock({ $0.version }) else { return nil }
        guard let movies, movies.isInstalled, let other = movies.decoderVersion else { return own }
        return own + ", movies " + other
    }

    private var isInstalled: Bool { unsafe program.withCString { unsafe access($0, X_OK) } == 0 }

    var isStopped: Bool { state.withLock { $0.isStopped } }

    /// Whether a decoder can be started; blocks while one is. After a failure it is tried again at most every three seconds.
    package func probe() -> Bool {
        // No free slot: decoders are at work, so there are some.
        guard slots.wait(timeout: .now()) == .success else { return isAvailable }
        defer { slots.signal() }
        do throws(DecoderFailure) {
            giveBack(try take(isCancelled: { false }))
            if let movies, movies.isInstalled { _ = movies.probe() }
            return true
        } catch {
            return false  // `problem` says why
        }
    }

    /// Ends all decoders; calls under way throw `.cancelled` soon. Final.
    package func stop() {
        let idle = state.withLock { state in
            state.isStopped = true
            defer { state.idle = [] }
            return state.idle
        }
        for decoder in idle { decoder.reap() }
        spawner.stop()
        movies?.stop()
    }

    /// What the file is and what it says about itself.
    ///
    /// - Parameter name: of the source, for the sentences only.
    /// - Throws: `E_DECODE_TIMEOUT`, `E_DECODER_CRASH`, `E_DECODER_MISSING`, `E_MEMORY`, or what the decoder said.
    package func inspect(
        _ file: borrowing Descriptor, size: Int64, name: Path, isCancelled: () -> Bool
    ) throws(DecoderFailure) -> Inspection {
        let content = try ask(
            Question(work: .inspect, file: file.rawValue, size: size, name: name) {
                if case .inspection = $0 { nil } else { "an answer of another kind" }
            }, { _ in }, isCancelled)
        guard case .inspection(var inspection) = content else { preconditionFailure("checked by `ask`") }
        for index in inspection.dates.indices {
            inspection.dates[index] = inspection.dates[index].local(offset: localOffset)
        }
        return inspection
    }

    /// An upright JPEG of the file. Waits until its memory is there; one that needs more than the whole budget has it alone.
    ///
    /// - Parameter setWaiting: told when it begins to wait for memory and for a decoder, and when it has both.
    /// - Throws: as ``inspect(_:size:name:isCancelled:)``, and `E_CORRUPT`, `E_TRUNCATED`, `E_UNSUPPORTED`, `E_TOO_LARGE`,
    ///   `E_ENCODE`. A movie without a decoder for movies is `E_UNSUPPORTED`: photos are imported all the same.
    package func preview(
        _ file: borrowing Descriptor, size: Int64, inspection: Inspection, spec: PreviewSpec, name: Path,
        setWaiting: (Bool) -> Void = { _ in }, isCancelled: () -> Bool
    ) throws(DecoderFailure) -> DecodedPreview {
        guard inspection.mediaType.isVideo else {
            return try picture(
                file, size: size, inspection: inspection, spec: spec, name: name, setWaiting: setWaiting,
                isCancelled: isCancelled)
        }
        guard let movies, movies.isInstalled else { throw .problem(.noMovieDecoder(name, "which is not installed")) }
        do throws(DecoderFailure) {
            return try movies.picture(
                file, size: size, inspection: inspection, spec: spec, name: name, setWaiting: setWaiting,
                isCancelled: isCancelled)
        } catch .problem(let problem) where problem.code == .decoderMissing {
            throw .problem(.noMovieDecoder(name, "which does not start"))
        }
    }

    private func picture(
        _ file: borrowing Descriptor, size: Int64, inspection: Inspection, spec: PreviewSpec, name: Path,
        setWaiting: (Bool) -> Void = { _ in }, isCancelled: () -> Bool
    ) throws(DecoderFailure) -> DecodedPreview {
        let work = DecoderRequest.Work.preview(
            type: inspection.mediaType, orientation: inspection.facts.orientation, spec: spec)
        // A second decoder must not find, nor append to, what the first one left: each gets a result file of its own.
        let result = ResultFile()
        var question = Question(work: work, file: file.rawValue, size: size, name: name) {
            guard case .preview(let parts, _, _) = $0 else { return "an answer of another kind" }
            let most = [spec.maxSize] + spec.renditions.map(\.maxSize)
            guard parts.count == most.count else { return "another number of pictures" }
            for (part, side) in zip(parts, most) where max(part.size.width, part.size.height) > side {
                return "a preview that is too large"
            }
            return result.fault(parts, of: spec.export?.format)
        }
        question.result = result
        question.need = DecodeEstimate.bytes(of: inspection, fileSize: question.size, spec: spec)
        let content = try ask(question, setWaiting, isCancelled)
        guard case .preview(let told, let isPartial, let warning) = content, let bytes = result.take()
        else { preconditionFailure("checked by `ask`") }
        var parts: [DecodedPreview.Part] = []
        for one in told {
            let offset = parts.last.map { $0.offset + $0.byteCount } ?? 0
            parts.append(DecodedPreview.Part(offset: offset, byteCount: one.byteCount, size: one.size))
        }
        return DecodedPreview(
            bytes: bytes, preview: parts[0], renditions: Array(parts.dropFirst()), isPartial: isPartial,
            warning: warning)
    }
}

extension DecoderPool {
    /// What a decoder is asked, and by what its answer is measured.
    private struct Question {
        let work: DecoderRequest.Work
        let file: Int32
        let size: Int64
        let name: Path
        /// What is wrong with an answer; nil for nothing.
        let fault: (DecoderReply.Content) -> String?
        var result: ResultFile?
        /// Memory; nil for what every decoder has.
        var need: ByteCount?
    }

    private enum Trial: Error {
        case failed(DecoderFailure)
        /// It may have been for want of memory; how a decoder ended over it, if one did.
        case wantsMore(ending: String?)
    }

    /// One request, with the memory that its header promises to be enough for; and when it was not, with four times as much.
    private func ask(
        _ question: Question, _ setWaiting: (Bool) -> Void, _ isCancelled: () -> Bool
    ) throws(DecoderFailure) -> DecoderReply.Content {
        guard let memory, let need = question.need else {
            return try asked { () throws(Trial) in try serve(question, growth: nil, setWaiting, isCancelled) }
        }
        let most = memory.most
        guard need <= most else { throw .problem(.needsTooMuchMemory(question.name, need, most: most)) }
        var ending: String?
        do throws(Trial) {
            return try serve(question, growth: need, mayWantMore: true, setWaiting, isCancelled)
        } catch {
            switch error {
            case .failed(let failure): throw failure
            case .wantsMore(let how): ending = how
            }
        }
        log(
            LogLine(
                .debug, "A picture was not decoded with the memory that its header promises to be enough.",
                [("PATH", SafeText.of(question.name)), ("BYTES", String(need.bytes))]))
        return try asked { () throws(Trial) in
            // Not all there is: files that end decoders for other reasons would each bring everybody to a stop.
            let more = min(most, max(ByteCount(4 * need.bytes), .mebi(512)))
            return try serve(question, growth: more, firstFailure: ending, setWaiting, isCancelled)
        }
    }

    private func asked(
        _ body: () throws(Trial) -> DecoderReply.Content
    ) throws(DecoderFailure) -> DecoderReply.Content {
        do throws(Trial) { return try body() } catch {
            switch error {
            case .failed(let failure): throw failure
            case .wantsMore: throw .cancelled  // said only where it may be
            }
        }
    }

    /// To an idle decoder, or a new one; and once more, always to a new one, if that ends or lies.
    ///
    /// Memory first, then a decoder: who waits for memory keeps no decoder from those who have theirs.
    private func serve(
        _ question: Question, growth: ByteCount?, mayWantMore: Bool = false, firstFailure: String? = nil,
        _ setWaiting: (Bool) -> Void, _ isCancelled: () -> Bool
    ) throws(Trial) -> DecoderReply.Content {
        setWaiting(true)
        var share: MemoryBudget.Share?
        if let memory, let growth {
            share = memory.budget.take(growth) { isCancelled() || isStopped }
            if share == nil { throw .failed(.cancelled) }
        }
        while slots.wait(timeout: .now() + .milliseconds(100)) == .timedOut {
            if isCancelled() || isStopped { throw .failed(.cancelled) }
        }
        defer { slots.signal() }
        setWaiting(false)
        var firstFailure = firstFailure
        while true {
            let answer: Answer
            do throws(DecoderFailure) {
                answer = try attempt(question, growth, isFresh: firstFailure != nil, isCancelled)
            } catch {
                throw .failed(error)
            }
            switch answer {
            case .content(let content): return content
            case .outOfMemory(let detail):
                if mayWantMore { throw .wantsMore(ending: nil) }
                // Its memory is limited, ours is not at its end: the picture is too large for it.
                throw .failed(.problem(.decoding(question.name, .tooLarge, detail)))
            case .failure(let how):
                if firstFailure != nil { throw .failed(.problem(.decoderCrash(question.name, how))) }
                // A library that gets no memory may end the process.
                if mayWantMore { throw .wantsMore(ending: how) }
                firstFailure = how
            }
        }
    }

    private enum Answer {
        case content(DecoderReply.Content)
        case outOfMemory(String)
        /// The decoder ended, or lied: it is gone, and the file may be to blame.
        case failure(String)
    }

    /// The caller holds a slot.
    private func attempt(
        _ question: Question, _ growth: ByteCount?, isFresh: Bool, _ isCancelled: () -> Bool
    ) throws(DecoderFailure) -> Answer {
        let decoder = try take(fresh: isFresh, isCancelled: isCancelled)
        let request = DecoderRequest(id: decoder.nextID, size: question.size, work: question.work)
        var descriptors = [question.file]
        if let result = question.result { descriptors.append(try result.renew()) }
        decoder.limitProcessorTime(seconds: UInt64(max(1, deadline.components.seconds)) * 2 + 2)
        decoder.limitMemory(growth: growth.map { ByteCount($0.bytes + DecoderPool.slack) })
        let outcome = exchange(
            decoder, request, descriptors: descriptors, until: SystemClock.monotonic() + deadline,
            isCancelled: isCancelled)
        let failure: String
        switch outcome {
        case .reply(.failure(.memory, let detail)):
            giveBack(decoder)
            return .outOfMemory(detail)
        case .reply(.failure(let code, let detail)):
            giveBack(decoder)
            throw .problem(.decoding(question.name, code, detail))
        case .reply(let content):
            guard let lie = question.fault(content) else {
                giveBack(decoder)
                return .content(content)
            }
            decoder.reap()
            failure = "it sent \(lie)"
        case .timedOut: throw .problem(.decodeTimeout(question.name, deadline))
        case .wasStopped: failure = "somebody stopped it"
        case .cancelled: throw .cancelled
        case .nonsense(let what): failure = "it sent \(what)"
        case .died(let ending):
            // The kernel's second net; the first is the deadline.
            if ending.signal == SIGXCPU { throw .problem(.decodeTimeout(question.name, deadline)) }
            failure = ending.description
        }
        log(
            LogLine(
                .warning, "A decoder failed and was replaced.",
                [("PATH", SafeText.of(question.name)), ("REASON", failure), ("DECODER_SAID", decoder.lastWords)]))
        return .failure(failure)
    }

    /// An idle decoder that still lives, else a new one. The caller holds a slot.
    private func take(fresh: Bool = false, isCancelled: () -> Bool) throws(DecoderFailure) -> DecoderProcess {
        while !fresh, let decoder = state.withLock({ $0.idle.popLast() }) {
            // Readable while idle means: it has ended, or speaks unasked. Neither is the next file's fault.
            let speaks = (try? decoder.channel.waitReadable(milliseconds: 0)) ?? true  // a failed poll: as good as dead
            if !speaks { return decoder }
            decoder.reap()
        }
        let now = SystemClock.monotonic()
        let known = state.withLock { state in
            state.lastFailure.map { now - $0 < DecoderPool.probeInterval } ?? false ? state.problem : nil
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
            let end = SystemClock.monotonic() + DecoderPool.startLimit
            switch try receive(decoder, until: end, isCancelled: isCancelled) {
            case .message(let reply):
                switch reply.content {
                case .ready(let version):
                    state.withLock { $0.version = version }
                    return decoder
                case .refused(let reason): why = reason
                case .inspection, .preview, .failure: why = "it answered before it was asked"
                }
            case .timedOut: why = "it did not start within \(DecoderPool.startLimit.components.seconds) s"
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
    private func giveBack(_ decoder: DecoderProcess) {
        let isWorn =
            decoder.countRequest() >= DecoderPool.requestsPerDecoder
            || decoder.residentBytes > memory?.kept ?? DecoderPool.residentLimit
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
