import DecoderWire
import Files
import Glibc
import PhotoModel
import Workers

/// What a decoder is asked, and by what its answer is measured.
struct DecoderQuestion {
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

/// Asks decoders, and holds them to time and memory. Not believed is a decoder that ends or lies; a file is blamed when a
/// fresh one does so too.
struct DecoderAsker: Sendable {
    /// Address space beyond what a decode is expected to take: stacks, and pages that are not touched.
    static let slack: Int64 = 64 << 20

    let decoders: DecoderKeeper
    /// For one request.
    let deadline: Duration
    /// Of all decoders of the daemon together; nil where nobody counts.
    let memory: DecoderMemory?
    let log: Log

    private enum Trial: Error {
        case failed(DecoderFailure)
        /// It may have been for want of memory; how a decoder ended over it, if one did.
        case wantsMore(ending: String?)
    }

    /// One request, with the memory that its header promises to be enough for; and when it was not, with four times as much.
    func ask(
        _ question: DecoderQuestion, _ setWaiting: (Bool) -> Void, _ isCancelled: () -> Bool
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
        _ question: DecoderQuestion, growth: ByteCount?, mayWantMore: Bool = false, firstFailure: String? = nil,
        _ setWaiting: (Bool) -> Void, _ isCancelled: () -> Bool
    ) throws(Trial) -> DecoderReply.Content {
        setWaiting(true)
        var share: MemoryBudget.Share?
        if let memory, let growth {
            share = memory.budget.take(growth) { isCancelled() || decoders.isStopped }
            if share == nil { throw .failed(.cancelled) }
        }
        guard decoders.takeTurn(unless: isCancelled) else { throw .failed(.cancelled) }
        defer { decoders.endTurn() }
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
                let given = growth ?? ByteCount(DecoderMemory.ofSandbox)
                throw .failed(
                    .problem(
                        .tookTooMuchMemory(
                            question.name, given: given, isAll: memory.map { given >= $0.most } ?? true, detail)))
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

    /// The caller has a turn.
    private func attempt(
        _ question: DecoderQuestion, _ growth: ByteCount?, isFresh: Bool, _ isCancelled: () -> Bool
    ) throws(DecoderFailure) -> Answer {
        let decoder = try decoders.take(fresh: isFresh, isCancelled: isCancelled)
        let request = DecoderRequest(id: decoder.nextID, size: question.size, work: question.work)
        var descriptors = [question.file]
        if let result = question.result { descriptors.append(try result.renew()) }
        decoder.limitProcessorTime(seconds: UInt64(max(1, deadline.components.seconds)) * 2 + 2)
        decoder.limitMemory(growth: growth.map { ByteCount($0.bytes + Self.slack) })
        let outcome = decoder.exchange(
            request, descriptors: descriptors, until: SystemClock.monotonic() + deadline,
            isCancelled: { isCancelled() || decoders.isStopped })
        let failure: String
        switch outcome {
        case .reply(.failure(.memory, let detail)):
            decoders.giveBack(decoder)
            return .outOfMemory(detail)
        case .reply(.failure(let code, let detail)):
            decoders.giveBack(decoder)
            throw .problem(.decoding(question.name, code, detail))
        case .reply(let content):
            guard let lie = question.fault(content) else {
                decoders.giveBack(decoder)
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
}
