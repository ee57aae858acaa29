import Codecs
import DecoderWire
import Foundation
import HTTPClient
import PhotoModel

@testable import Files
@testable import Metadata
@testable import Preview
@testable import Store

/// Everything of ours that reads what a stranger may have written. A trap ends the process, and so does a promise that is
/// not kept: libFuzzer reports both alike.
enum Parser: String, CaseIterable {
    /// The facts of any file, as the decoder reads them, and that they survive the way to the daemon.
    case facts
    /// What goes along when a picture is exported, and what is taken out of it.
    case carried
    /// An EXIF block alone, as it is written anew or changed where it stands.
    case excerpt
    /// The bits in which a camcorder's stream says how large its pictures are.
    case parameters
    /// The finished pictures in a RAW.
    case embedded
    /// The previews: our walks through the containers, and how we call the libraries.
    case stills
    /// What a decoder that was taken over may answer, or be asked.
    case wire
    /// The picture that it may hand over.
    case result
    /// Names of files, and what the library makes of them.
    case names
    /// A zone of the system's database.
    case zone
    /// What the client believes to come from the daemon.
    case events
    /// What the state's database remembers of a commit.
    case intent

    func read(_ bytes: [UInt8]) {
        switch self {
        case .facts: readFacts(bytes)
        case .carried: readCarried(bytes)
        case .excerpt: readExcerpt(bytes)
        case .parameters: _ = SequenceParameters.size(bytes)
        case .embedded: readEmbedded(bytes)
        case .stills: readStills(bytes)
        case .wire: readWire(bytes)
        case .result: _ = ResultJPEG.frameSize(bytes)
        case .names: readNames(bytes)
        case .zone: readZone(bytes)
        case .events: readEvents(bytes)
        case .intent: _ = try? IntentText.decode(String(decoding: bytes, as: UTF8.self))  // only that it ends
        }
    }

    private func readFacts(_ bytes: [UInt8]) {
        let inspection = Inspector.inspect(ByteSource(bytes))
        let message = DecoderReply(id: 1, content: .inspection(inspection)).encoded()
        expect(message.count <= Wire.messageLimit, "facts fit into a message")
        do {
            let reply = try DecoderReply(decoding: message)
            expect(reply.encoded() == message, "facts arrive as they were sent")
        } catch {
            expect(false, "facts arrive: \(error)")
        }
    }

    private func readCarried(_ bytes: [UInt8]) {
        let source = ByteSource(bytes)
        let carried = CarriedMetadata(of: source, type: Inspector.inspect(source).mediaType)
        for stripsLocation in [false, true] {
            let upright = carried.upright(PixelSize(width: 60, height: 40), stripsLocation: stripsLocation)
            expect(
                stripsLocation || upright.exif.count <= carried.exif.count, "EXIF is changed where it stands")
        }
    }

    private func readExcerpt(_ bytes: [UInt8]) {
        let size = PixelSize(width: 60, height: 40)
        if let excerpt = ExifExcerpt(of: bytes, size) {
            let again = ExifExcerpt(of: excerpt.bytes, size)
            expect(again?.bytes == excerpt.bytes, "an excerpt of an excerpt is the same")
            let first = ExifEditor(excerpt.bytes).flatMap { $0.value(0x8825, in: $0.number(at: 4, 4) ?? 0) }
            expect(first == nil, "no places go along")
        }
        if var editor = ExifEditor(bytes), editor.edit(size) {
            expect(editor.bytes.count <= bytes.count, "nothing grows")
        }
        _ = XMPEditor.upright(bytes, size)  // only that it ends
    }

    private func readEmbedded(_ bytes: [UInt8]) {
        let pictures = EmbeddedPictures(ByteSource(bytes))
        for range in pictures.jpegs + [pictures.bitmap?.bytes].compactMap({ $0 }) {
            expect(range.lowerBound >= 0 && range.upperBound <= Int64(bytes.count), "pictures lie within the file")
        }
    }

    private func readStills(_ bytes: [UInt8]) {
        let type = Inspector.inspect(ByteSource(bytes)).mediaType
        // Whatever it throws is an answer.
        guard let stills = unsafe decoder,
            let preview = try? unsafe stills.preview(
                of: bytes.span.bytes, type: type, orientation: Int(bytes.first ?? 1) % 8 + 1,
                spec: PreviewSpec(maxSize: 64, maxPixels: Pixels(1_000_000)))
        else { return }
        expect(ResultJPEG.frameSize(preview.jpeg) == preview.size, "a preview is what the daemon accepts")
    }

    private func readWire(_ bytes: [UInt8]) {
        // Whatever they throw is an answer.
        if let reply = try? DecoderReply(decoding: bytes) {
            let message = reply.encoded()  // its texts are cut where they were too long
            expect(message.count <= Wire.messageLimit, "a reply fits into a message")
            expect((try? DecoderReply(decoding: message)) != nil, "a reply is read as it was written")
        }
        if let request = try? DecoderRequest(decoding: bytes) {
            let again = try? DecoderRequest(decoding: request.encoded())
            expect(again == request, "a request is read as it was written")
        }
    }

    private func readZone(_ bytes: [UInt8]) {
        guard let rules = TimeZoneRules(bytes) else { return }
        for time in [Int64.min, -1, 0, 1_700_000_000, .max] { _ = rules.offset(at: time) }
    }

    private func readEvents(_ bytes: [UInt8]) {
        var (whole, pieces) = (EventParser(), EventParser())
        var inPieces: [ServerEvent] = []
        do {
            let events = try whole.feed(bytes)
            for start in stride(from: 0, to: bytes.count, by: 7) {
                inPieces += try pieces.feed(Array(bytes[start..<min(start + 7, bytes.count)]))
            }
            expect(events == inPieces, "events do not depend on how they were cut")
        } catch {}  // too long a line: refused
    }
}

/// One for all, as in the decoder: what one file left behind must not hurt the next.
private nonisolated(unsafe) let decoder = try? StillDecoder()  // libFuzzer calls from one thread; nil: no memory

/// Ends the process, as a trap would.
func expect(_ isKept: Bool, _ promise: String) {
    if !isKept {
        print("broken: \(promise)")
        abort()
    }
}
