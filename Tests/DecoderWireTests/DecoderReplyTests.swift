import DecoderWire
import Files
import Glibc
import PhotoModel
import Testing

@Suite("A reply on the wire") struct DecoderReplyTests {
    private static var full: Inspection {
        var inspection = Inspection(mediaType: .heic)
        inspection.facts.make = "Apple"
        inspection.facts.model = "iPhone 7"
        inspection.facts.lens = "back camera"
        inspection.facts.latitude = -34.021358
        inspection.facts.longitude = 0
        inspection.facts.size = PixelSize(width: 3024, height: 4032)
        inspection.facts.orientation = 6
        inspection.facts.contentIdentifier = "242684F6-0839-44E0-8E39-A8FE43182C29"
        inspection.facts.isScreenshot = true
        inspection.dates = [
            CaptureDate(
                time: WallTime(year: 2026, month: 5, day: 17, hour: 9, minute: 4, second: 31, subseconds: "87"),
                offset: "+02:00", source: .exifOriginal),
            CaptureDate(time: WallTime(year: 0, month: 0, day: 0), source: .exifModified),
            CaptureDate(time: WallTime(year: 2021, month: 7, day: 1), source: .quicktime, isUniversal: true),
        ]
        inspection.notes = ["The EXIF block holds no directory."]
        inspection.endsEarly = true
        inspection.coding.stored = PixelSize(width: 4096, height: 4032)
        inspection.coding.sampleBytes = 2
        inspection.coding.heldPerHundred = 300
        return inspection
    }

    private static let contents: [DecoderReply.Content] = [
        .ready(version: "1"), .refused("landlock is not there"), .inspection(full), .inspection(Inspection()),
        .preview(
            [
                .init(size: PixelSize(width: 1200, height: 900), byteCount: 231_000),
                .init(size: PixelSize(width: 320, height: 320), byteCount: 21_000),
            ], isPartial: true, warning: "cut"),
        .failure(.tooLarge, detail: "400 MP"),
    ]

    @Test(arguments: contents) func `comes out as it went in`(content: DecoderReply.Content) throws {
        let reply = DecoderReply(id: 7, content: content)
        #expect(try DecoderReply(decoding: reply.encoded()) == reply)
    }

    @Test(arguments: contents) func `is refused when cut anywhere, or longer`(content: DecoderReply.Content) {
        let bytes = DecoderReply(id: 7, content: content).encoded()
        for length in 0..<bytes.count {
            #expect(throws: WireFault.self) { try DecoderReply(decoding: Array(bytes.prefix(length))) }
        }
        #expect(throws: WireFault.trailingBytes) { try DecoderReply(decoding: bytes + [0]) }
    }

    @Test(arguments: contents) func `never harms when any byte of it is forged`(content: DecoderReply.Content) {
        let bytes = DecoderReply(id: 7, content: content).encoded()
        for position in bytes.indices {
            for value: UInt8 in [0, 1, 0x7F, 0x80, 0xFF] {
                var forged = bytes
                forged[position] = value
                guard let reply = try? DecoderReply(decoding: forged) else { continue }  // refused: just as good
                guard case .inspection(let inspection) = reply.content else { continue }
                #expect((1...8).contains(inspection.facts.orientation))
                #expect((-90...90).contains(inspection.facts.latitude ?? 0))
                for date in inspection.dates {
                    #expect(date.time.subseconds.utf8.allSatisfy { (48...57).contains($0) })
                }
            }
        }
    }

    @Test func `cuts and defuses text`() throws {
        var inspection = Inspection(mediaType: .jpeg)
        inspection.facts.make = String(repeating: "\u{1B}", count: 9000)
        let reply = try DecoderReply(decoding: DecoderReply(id: 1, content: .inspection(inspection)).encoded())
        guard case .inspection(let read) = reply.content else { throw WireFault.foreign }
        #expect(read.facts.make == String(repeating: "\u{FFFD}", count: 256))
    }

    @Test func `fits into a message however full it is`() {
        var inspection = DecoderReplyTests.full
        let long = String(repeating: "\u{1F4F7}", count: 9000)
        inspection.facts.make = long
        inspection.facts.model = long
        inspection.facts.lens = long
        inspection.facts.contentIdentifier = long
        inspection.notes = Array(repeating: long, count: 100)
        inspection.dates = Array(repeating: inspection.dates[0], count: 100)
        #expect(DecoderReply(id: 1, content: .inspection(inspection)).encoded().count <= Wire.messageLimit)
    }
}

@Suite("A channel") struct DecoderChannelTests {
    @Test func `carries a request with its descriptors`() throws {
        let pair = try DecoderChannel.pair()
        let theirs = try pair.theirs.duplicate()
        let far = DecoderChannel(adopting: theirs)
        let request = DecoderRequest(
            id: 3, size: 10,
            work: .preview(type: .avif, orientation: 8, spec: PreviewSpec(maxSize: 320, quality: 70, colour: .keep)))
        let file = try memoryFile("wire")
        try file.write([1, 2, 3])
        try pair.ours.send(request.encoded(), descriptors: [file.rawValue, file.rawValue])
        var message = try far.receive(upTo: 2)
        #expect(try DecoderRequest(decoding: message.bytes) == request)
        guard let first = message.takeFirst() else { throw WireFault.descriptors }
        let content = try first.readAll(limit: 10)
        #expect(content == [1, 2, 3])
        let flags = fcntl(first.rawValue, F_GETFD)
        #expect(flags & FD_CLOEXEC != 0)
        let second = message.takeSecond()
        let hasSecond = second != nil
        #expect(hasSecond)
    }

    @Test func `refuses descriptors that nobody asked for`() throws {
        let pair = try DecoderChannel.pair()
        let theirs = try pair.theirs.duplicate()
        let far = DecoderChannel(adopting: theirs)
        try far.send([1], descriptors: [0])
        #expect(throws: WireFault.descriptors) { _ = try pair.ours.receive(upTo: 0) }
        try far.send([1], descriptors: [0, 0, 0, 0])
        #expect(throws: WireFault.descriptors) { _ = try pair.ours.receive(upTo: 2) }
        try far.send([UInt8](repeating: 0, count: Wire.messageLimit + 1))
        #expect(throws: WireFault.oversize) { _ = try pair.ours.receive(upTo: 2) }
    }

    @Test func `says that the other side has closed it`() throws {
        let pair = try DecoderChannel.pair()
        let ours = pair.intoOurs()
        #expect(throws: WireFault.closed) { _ = try ours.receive(upTo: 0) }
        #expect(throws: WireFault.closed) { try ours.send([1]) }
    }
}
