import CHEIF
import CLinux
import Codecs
import DecoderWire
import Files
import Glibc
import Metadata
import PhotoModel

/// The life of a decoder: load, lock itself in, then one request after the other until the daemon closes the channel.
enum DecoderService {
    /// A file larger than this is not taken into memory to be decoded; inspecting one reads only parts.
    static let fileLimit: Int64 = 1 << 30
    /// With the libraries that say theirs: another one may decode what this one could not.
    static var version: String { "\(Release.version) (\(StillDecoder.libraryVersions))" }

    /// Whether somebody has started us who means to talk.
    static var hasChannel: Bool { fcntl(Wire.channelNumber, F_GETFD) >= 0 }

    /// - Returns: the exit status.
    static func run() -> Int32 {
        // Were the daemon gone before PDEATHSIG is set, the channel says so: the first receive finds it closed.
        let channel = DecoderChannel(adopting: Descriptor(adopting: Wire.channelNumber))
        _ = cl_volunteer_for_oom(500)  // a hint only; without it the kernel chooses by size, which is often the same
        let decoder: StillDecoder
        do {
            // Both load what they load from files now, since afterwards nothing can be opened.
            unsafe _ = heif_init(nil)
            decoder = try StillDecoder()
            try Sandbox.enter()
        } catch {
            let detail = (error as? SandboxFailure)?.detail ?? (error as? CodecFailure)?.detail ?? "unknown"
            say("photospool-decoder refuses to work: \(detail)", to: STDERR_FILENO)
            let reply = DecoderReply(id: 0, content: .refused("it could not be locked in: " + detail))
            try? channel.send(reply.encoded())  // on stderr it was said already
            return 78
        }
        do throws(WireFault) {
            try channel.send(DecoderReply(id: 0, content: .ready(version: version)).encoded())
            let memory = PlaneBuffer()
            while true { try serve(channel, decoder, memory) }
        } catch .closed {
            return 0
        } catch {
            say("photospool-decoder: \(error.description)", to: STDERR_FILENO)
            return 76
        }
    }

    /// - Parameter memory: for the file, one after the other.
    private static func serve(
        _ channel: borrowing DecoderChannel, _ decoder: StillDecoder, _ memory: PlaneBuffer
    ) throws(WireFault) {
        var message = try channel.receive(upTo: 2)
        let request = try DecoderRequest(decoding: message.bytes)
        guard let input = message.takeFirst() else { throw .descriptors }
        let content: DecoderReply.Content
        switch request.work {
        case .inspect: content = .inspection(inspect(input.rawValue, size: request.size))
        case .preview(let type, let orientation, let spec):
            guard let result = message.takeSecond() else { throw .descriptors }
            content = preview(
                by: decoder, input.rawValue, size: request.size, in: memory, type: type, orientation: orientation,
                spec: spec, into: result)
            memory.trim(to: StillDecoder.keptBuffer)
        }
        try channel.send(DecoderReply(id: request.id, content: content).encoded())
    }

    private static func inspect(_ input: Int32, size: Int64) -> Inspection {
        Inspector.inspect(
            ByteSource(size: size) { offset, count in
                var bytes = [UInt8](repeating: 0, count: count)
                let filled = unsafe bytes.withUnsafeMutableBytes { unsafe readFully(input, into: $0, at: offset) }
                bytes.removeSubrange(filled...)
                return bytes
            })
    }

    private static func preview(
        by decoder: StillDecoder, _ input: Int32, size: Int64, in memory: PlaneBuffer, type: MediaType,
        orientation: Int, spec: PreviewSpec, into result: borrowing Descriptor
    ) -> DecoderReply.Content {
        guard size > 0 else { return .failure(.empty, detail: "the file holds no bytes") }
        guard size <= fileLimit else {
            return .failure(.tooLarge, detail: "the file has \(size) bytes, more than \(fileLimit) cannot be decoded")
        }
        let buffer: UnsafeMutableRawBufferPointer
        do throws(CodecFailure) {
            unsafe buffer = UnsafeMutableRawBufferPointer(start: try memory.reserve(Int(size)), count: Int(size))
        } catch {
            return .failure(.tooLarge, detail: "the file does not fit into a decoder's memory")
        }
        guard unsafe readFully(input, into: buffer, at: 0) == Int(size) else {
            return .failure(.libraryIO, detail: "the staged copy could not be read to its end")
        }
        do throws(CodecFailure) {
            let preview = try decoder.preview(
                of: unsafe UnsafeRawBufferPointer(buffer).bytes, type: type, orientation: orientation, spec: spec)
            try write(preview.jpeg, to: result)
            return .preview(
                size: preview.size, byteCount: Int64(preview.jpeg.count), isPartial: preview.isPartial,
                warning: preview.warning)
        } catch {
            return .failure(error.code, detail: error.detail)
        }
    }

    private static func write(_ jpeg: [UInt8], to result: borrowing Descriptor) throws(CodecFailure) {
        do throws(Errno) {
            try result.write(jpeg)
        } catch .fileTooLarge {
            throw CodecFailure(.tooLarge, "the preview has more than \(Sandbox.fileLimit) bytes")
        } catch {
            throw CodecFailure(.memory, "the preview could not be handed over: \(error.description)")
        }
    }

    /// As many bytes as there are, up to the size of `buffer`: fewer at the end of the file or on an error.
    private static func readFully(_ file: Int32, into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) -> Int {
        var filled = 0
        while filled < buffer.count {
            let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[filled...])
            let count = unsafe pread(file, rest.baseAddress, rest.count, off_t(offset) + off_t(filled))
            if count < 0, errno == EINTR { continue }
            if count <= 0 { break }
            filled += count
        }
        return filled
    }
}
