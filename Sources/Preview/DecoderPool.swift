import DecoderWire
package import Files
import Glibc
package import PhotoModel
import Workers

/// The only way from the daemon to anything that parses a photo.
///
/// A file that hangs, ends or takes over a decoder costs its own job at most the deadline. The calls block; they belong
/// on a thread that may, and each holds one of `size` decoders while it runs.
package final class DecoderPool: Sendable {
    private let decoders: DecoderKeeper
    private let asker: DecoderAsker
    /// For movies, which have a program of their own: the same pool once more.
    private let movies: DecoderPool?
    private let localOffset: @Sendable (Int64) -> Int

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
        decoders = DecoderKeeper(program: program, size: size, kept: { memory?.kept }, log: log)
        asker = DecoderAsker(decoders: decoders, deadline: deadline, memory: memory, log: log)
        memory?.expect(decoders: size)
        self.movies = movies.map {
            DecoderPool(program: $0, size: size, deadline: deadline, memory: memory, log: log)
        }
    }

    /// What is wrong with the decoder as such; nil while it works or nothing is known yet.
    package var problem: Problem? { decoders.problem }
    package var isAvailable: Bool { problem == nil }

    /// What the last decoders said they are; nil before the first one ran. That of movies counts while it is there.
    package var decoderVersion: String? {
        guard let own = decoders.version else { return nil }
        guard let movies, movies.decoders.isInstalled, let other = movies.decoderVersion else { return own }
        return own + ", movies " + other
    }

    /// Whether a decoder can be started; blocks while one is. After a failure it is tried again at most every three seconds.
    package func probe() -> Bool {
        switch decoders.probe() {
        case .busy: return isAvailable
        case .fails: return false
        case .works:
            if let movies, movies.decoders.isInstalled { _ = movies.probe() }
            return true
        }
    }

    /// Ends all decoders; calls under way throw `.cancelled` soon. Final.
    package func stop() {
        decoders.stop()
        movies?.stop()
    }

    /// What the file is and what it says about itself.
    ///
    /// - Parameter name: of the source, for the sentences only.
    /// - Throws: `E_DECODE_TIMEOUT`, `E_DECODER_CRASH`, `E_DECODER_MISSING`, `E_MEMORY`, or what the decoder said.
    package func inspect(
        _ file: borrowing Descriptor, size: Int64, name: Path, isCancelled: () -> Bool
    ) throws(DecoderFailure) -> Inspection {
        let content = try asker.ask(
            DecoderQuestion(work: .inspect, file: file.rawValue, size: size, name: name) {
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
        guard let movies, movies.decoders.isInstalled else {
            throw .problem(.noMovieDecoder(name, "which is not installed"))
        }
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
        var question = DecoderQuestion(work: work, file: file.rawValue, size: size, name: name) {
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
        let content = try asker.ask(question, setWaiting, isCancelled)
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
