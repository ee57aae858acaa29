package import PhotoModel

/// What a decoder answers. Whoever reads it must take the decoder for hostile: ``init(decoding:)`` checks every length,
/// range and text, and what it cannot check (the JPEG itself) the reader has to.
package struct DecoderReply: Hashable, Sendable {
    /// One JPEG of the result.
    package struct Part: Hashable, Sendable {
        package var size: PixelSize
        package var byteCount: Int64

        package init(size: PixelSize, byteCount: Int64) {
            self.size = size
            self.byteCount = byteCount
        }
    }

    package enum Content: Hashable, Sendable {
        /// First message of a decoder whose sandbox stands.
        case ready(version: String)
        /// First and last message of one that could not lock itself in, and so does not work.
        case refused(String)
        case inspection(Inspection)
        /// One JPEG for the preview, and one for each rendition, one behind the other in the result.
        case preview([Part], isPartial: Bool, warning: String?)
        case failure(Problem.Code, detail: String)
    }

    /// Of the request; 0 for the first message.
    package var id: UInt64
    package var content: Content

    package init(id: UInt64, content: Content) {
        self.id = id
        self.content = content
    }

    /// The codes a decoder may use: all else is for the daemon to say.
    package static let allowedCodes: [Problem.Code] = [
        .unsupported, .corrupt, .truncated, .tooLarge, .encode, .empty, .memory, .libraryIO,
    ]

    package func encoded() -> [UInt8] {
        var writer = WireWriter()
        writer.put(Wire.magic)
        writer.put(id)
        switch content {
        case .ready(let version):
            writer.put(UInt8(1))
            writer.put(version)
        case .refused(let why):
            writer.put(UInt8(2))
            writer.put(why)
        case .inspection(let inspection):
            writer.put(UInt8(3))
            writer.put(inspection)
        case .preview(let parts, let isPartial, let warning):
            writer.put(UInt8(4))
            writer.put(UInt8(clamping: parts.count))
            for part in parts.prefix(Int(UInt8.max)) {
                writer.put(part.size)
                writer.put(part.byteCount)
            }
            writer.put(isPartial)
            writer.put(optional: warning) { $0.put($1) }
        case .failure(let code, let detail):
            writer.put(UInt8(5))
            writer.put(UInt8(DecoderReply.allowedCodes.firstIndex(of: code) ?? 0))
            writer.put(detail)
        }
        return writer.bytes
    }

    package init(decoding bytes: [UInt8]) throws(WireFault) {
        var reader = WireReader(bytes)
        guard try reader.take(UInt32.self) == Wire.magic else { throw .foreign }
        id = try reader.take()
        switch try reader.take(UInt8.self) {
        case 1: content = .ready(version: try reader.takeText())
        case 2: content = .refused(try reader.takeText())
        case 3: content = .inspection(try reader.takeInspection())
        case 4:
            var parts: [Part] = []
            for _ in 0..<(try reader.takeInt(UInt8.self, in: 1...1 + RenditionSpec.most, "number of JPEGs")) {
                parts.append(
                    Part(
                        size: try reader.takeSize(),
                        byteCount: Int64(
                            try reader.takeInt(Int64.self, in: 1...Wire.previewLimit, "size of the JPEG"))))
            }
            content = .preview(
                parts, isPartial: try reader.takeBool(),
                warning: try reader.takeOptional { reader throws(WireFault) in try reader.takeText() })
        case 5:
            let code = Int(try reader.take(UInt8.self))
            guard DecoderReply.allowedCodes.indices.contains(code) else { throw .outOfRange("code") }
            content = .failure(DecoderReply.allowedCodes[code], detail: try reader.takeText())
        default: throw .outOfRange("kind of reply")
        }
        try reader.finish()
    }
}
