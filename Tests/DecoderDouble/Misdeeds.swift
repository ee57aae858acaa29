import DecoderWire
import Files
import Glibc
import PhotoModel

struct Misdeeds: ~Copyable {
    private let channel = DecoderChannel(adopting: Descriptor(adopting: Wire.channelNumber))

    func refuse() -> Int32 {
        send(DecoderReply(id: 0, content: .refused("landlock is not there")).encoded())
        return 78
    }

    func serve() -> Int32 {
        send(DecoderReply(id: 0, content: .ready(version: "double \(getpid())")).encoded())
        do {
            while true { try answer() }
        } catch {
            return 0
        }
    }

    private func send(_ bytes: [UInt8], descriptors: [Int32] = []) {
        try? channel.send(bytes, descriptors: descriptors)  // the test sees that nothing came
    }

    private func answer() throws {
        var message = try channel.receive(upTo: 2)
        let request = try DecoderRequest(decoding: message.bytes)
        guard let input = message.takeFirst() else { return }
        let words = String(decoding: try input.readAll(limit: 4096), as: UTF8.self).split(separator: " ")
        let deed = words.first.map(String.init) ?? ""
        if deed == "once" || deed == "stopped" {
            // The first decoder that meets the file makes the marker and dies or stands still; the second finds it and
            // answers.
            let marker = unsafe open(String(words[1]), O_CREAT | O_EXCL | O_WRONLY, 0o600)
            if marker >= 0 { kill(getpid(), deed == "once" ? SIGSEGV : SIGSTOP) }
        }
        switch deed {
        case "hang": while true { pause() }
        case "spin": while true {}
        case "segfault": kill(getpid(), SIGSEGV)
        case "exit": exit(3)
        case "talk":
            _ = unsafe write(STDERR_FILENO, "Fatal error: \u{1B}[31mred\n", 23)
            exit(4)
        case "close":
            _ = close(Wire.channelNumber)
            while true { pause() }
        case "hungry", "starving":
            // As many MiB as the second word says. Without them it says so, as our decoders do, or ends, as libraries do.
            let wanted = (Int(words[1]) ?? 0) << 20
            let memory = unsafe mmap(nil, wanted, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
            if unsafe memory == MAP_FAILED {
                if deed == "starving" { abort() }
                send(DecoderReply(id: request.id, content: .failure(.memory, detail: "no memory")).encoded())
            } else if let result = message.takeSecond() {
                unsafe munmap(memory, wanted)
                try preview(deed, request, result)
            }
        case "nonsense": send([1, 2, 3, 4, 5])
        case "long": send([UInt8](repeating: 7, count: Wire.messageLimit + 1))
        case "wrong-id": send(DecoderReply(id: request.id + 1, content: .inspection(Inspection())).encoded())
        case "descriptors":
            send(DecoderReply(id: request.id, content: .inspection(Inspection())).encoded(), descriptors: [0, 0])
        case "many-descriptors":
            send(DecoderReply(id: request.id, content: .inspection(Inspection())).encoded(), descriptors: [0, 0, 0, 0])
        case "corrupt":
            send(DecoderReply(id: request.id, content: .failure(.corrupt, detail: "no\u{7}thing")).encoded())
        case "other-kind": send(DecoderReply(id: request.id, content: .ready(version: "again")).encoded())
        default:
            if let result = message.takeSecond() {
                try preview(deed, request, result)
            } else {
                var inspection = Inspection(mediaType: .jpeg)
                inspection.facts.model = "double \(getpid())"
                send(DecoderReply(id: request.id, content: .inspection(inspection)).encoded())
            }
        }
    }

    private func preview(_ deed: String, _ request: DecoderRequest, _ result: borrowing Descriptor) throws {
        var size = PixelSize(width: 30, height: 20)
        // SOI, a frame header of 30 x 20, EOI: as much as is looked at.
        var jpeg: [UInt8] = [0xFF, 0xD8, 0xFF, 0xC0, 0, 11, 8, 0, 20, 0, 30, 1, 1, 0x11, 0, 0xFF, 0xD9]
        switch deed {
        case "no-end": jpeg.removeLast(2)
        case "no-jpeg": jpeg = Array("GIF89a, not a JPEG".utf8)
        case "other-pixels": size.width = 31
        case "comment": jpeg.insert(contentsOf: [0xFF, 0xFE, 0, 4, 0x68, 0x69], at: 2)
        case "location": jpeg.insert(contentsOf: [0xFF, 0xE1, 0, 4, 0x68, 0x69], at: 2)
        case "huge-size": size = PixelSize(width: 5000, height: 20)
        default: break
        }
        try result.write(jpeg)
        if deed == "mapped" {
            _ = unsafe mmap(nil, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, result.rawValue, 0)
        }
        let count = Int64(jpeg.count) + (deed == "other-length" ? 1 : 0)
        send(
            DecoderReply(
                id: request.id, content: .preview([.init(size: size, byteCount: count)], isPartial: false, warning: nil)
            ).encoded())
    }
}
