import CLinux
import Codecs
import DecoderWire
import Files
import Glibc
import Metadata
import PhotoModel

/// The life of a decoder: load, lock itself in, then one request after the other until the daemon closes the channel.
enum DecoderService {
    /// Whether somebody has started us who means to talk.
    static var hasChannel: Bool { fcntl(Wire.channelNumber, F_GETFD) >= 0 }

    /// - Returns: the exit status.
    static func run(_ program: HostedDecoder) -> Int32 {
        // Were the daemon gone before PDEATHSIG is set, the channel says so: the first receive finds it closed.
        let channel = DecoderChannel(adopting: Descriptor(adopting: Wire.channelNumber))
        _ = cl_volunteer_for_oom(500)  // a hint only; without it the kernel chooses by size, which is often the same
        let work: any DecoderWork
        do {
            // It loads what it loads from files now, since afterwards nothing can be opened.
            work = try program.load()
            try Sandbox.enter()
        } catch {
            let detail = (error as? SandboxFailure)?.detail ?? (error as? CodecFailure)?.detail ?? "unknown"
            say("\(program.name) refuses to work: \(detail)", to: STDERR_FILENO)
            let reply = DecoderReply(id: 0, content: .refused("it could not be locked in: " + detail))
            try? channel.send(reply.encoded())  // on stderr it was said already
            return 78
        }
        do throws(WireFault) {
            try channel.send(DecoderReply(id: 0, content: .ready(version: program.fullVersion)).encoded())
            while true { try serve(channel, work) }
        } catch .closed {
            return 0
        } catch {
            say("\(program.name): \(error.description)", to: STDERR_FILENO)
            return 76
        }
    }

    private static func serve(
        _ channel: borrowing DecoderChannel, _ work: any DecoderWork
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
                by: work, input.rawValue, request.size, type, orientation, spec, into: result)
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
        by work: any DecoderWork, _ input: Int32, _ size: Int64, _ type: MediaType, _ orientation: Int,
        _ spec: PreviewSpec, into result: borrowing Descriptor
    ) -> DecoderReply.Content {
        guard size > 0 else { return .failure(.empty, detail: "the file holds no bytes") }
        do throws(CodecFailure) {
            let preview = try work.preview(of: input, size: size, type: type, orientation: orientation, spec: spec)
            let all = [(jpeg: preview.jpeg, size: preview.size)] + preview.renditions
            for (jpeg, _) in all { try write(jpeg, to: result) }
            return .preview(
                all.map { DecoderReply.Part(size: $0.size, byteCount: Int64($0.jpeg.count)) },
                isPartial: preview.isPartial, warning: preview.warning)
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
}

/// As many bytes as there are, up to the size of `buffer`: fewer at the end of the file or on an error.
package func readFully(_ file: Int32, into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) -> Int {
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
