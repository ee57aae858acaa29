package import PhotoModel

/// What the daemon asks of a decoder. The file itself travels beside it as a descriptor, for a preview followed by the
/// memory file that takes the JPEG.
package struct DecoderRequest: Hashable, Sendable {
    package enum Work: Hashable, Sendable {
        case inspect
        case preview(type: MediaType, orientation: Int, spec: PreviewSpec)
    }

    /// Never used twice on a channel; the reply repeats it.
    package var id: UInt64
    /// Bytes of the file.
    package var size: Int64
    package var work: Work

    package init(id: UInt64, size: Int64, work: Work) {
        self.id = id
        self.size = size
        self.work = work
    }

    /// How many descriptors travel with the request.
    package var descriptorCount: Int {
        switch work {
        case .inspect: 1
        case .preview: 2
        }
    }

    package func encoded() -> [UInt8] {
        var writer = WireWriter()
        writer.put(Wire.magic)
        writer.put(id)
        writer.put(size)
        switch work {
        case .inspect: writer.put(UInt8(1))
        case .preview(let type, let orientation, let spec):
            writer.put(UInt8(2))
            writer.put(type: type)
            writer.put(UInt8(clamping: orientation))
            writer.put(UInt32(clamping: spec.maxSize))
            writer.put(UInt8(clamping: spec.quality))
            writer.put(spec.colour == .keep)
            writer.put(spec.maxPixels.count)
            let renditions = spec.renditions.prefix(RenditionSpec.most)
            writer.put(UInt8(renditions.count))
            for rendition in renditions {
                writer.put(UInt32(clamping: rendition.maxSize))
                writer.put(rendition.crop == .square)
            }
            writer.put(optional: spec.export) { writer, export in
                writer.put(export.format.rawValue)
                writer.put(export.maxBytes ?? 0)
                writer.put(export.stripsLocation)
            }
        }
        return writer.bytes
    }

    package init(decoding bytes: [UInt8]) throws(WireFault) {
        var reader = WireReader(bytes)
        guard try reader.take(UInt32.self) == Wire.magic else { throw .foreign }
        id = try reader.take()
        size = try reader.take()
        guard size >= 0 else { throw .outOfRange("size") }
        switch try reader.take(UInt8.self) {
        case 1: work = .inspect
        case 2:
            let type = try reader.takeType()
            let orientation = try reader.takeInt(UInt8.self, in: 1...8, "orientation")
            let maxSize = try reader.takeInt(UInt32.self, in: 1...Wire.sideLimit, "size of the preview")
            let quality = try reader.takeInt(UInt8.self, in: 1...100, "quality")
            let colour: PreviewSpec.Colour = try reader.takeBool() ? .keep : .srgb
            let maxPixels = Pixels(Int64(try reader.takeInt(Int64.self, in: 1...Int.max, "limit of pixels")))
            var spec = PreviewSpec(maxSize: maxSize, quality: quality, colour: colour, maxPixels: maxPixels)
            for _ in 0..<(try reader.takeInt(UInt8.self, in: 0...RenditionSpec.most, "number of renditions")) {
                let side = try reader.takeInt(UInt32.self, in: 1...Wire.sideLimit, "size of a rendition")
                // Their names are the daemon's business.
                spec.renditions.append(
                    RenditionSpec(name: "", maxSize: side, crop: try reader.takeBool() ? .square : .none))
            }
            spec.export = try reader.takeOptional { reader throws(WireFault) in
                guard let format = ExportSpec.Format(rawValue: try reader.takeText()) else {
                    throw .outOfRange("format")
                }
                let most = Int64(try reader.takeInt(Int64.self, in: 0...Int.max, "number of bytes"))
                return ExportSpec(
                    format: format, maxBytes: most > 0 ? most : nil, stripsLocation: try reader.takeBool())
            }
            work = .preview(type: type, orientation: orientation, spec: spec)
        default: throw .outOfRange("kind of request")
        }
        try reader.finish()
    }
}

extension WireWriter {
    mutating func put(type: MediaType) { put(type.rawValue) }
}

extension WireReader {
    mutating func takeType() throws(WireFault) -> MediaType {
        guard let type = MediaType(rawValue: try takeText()) else { throw .outOfRange("media type") }
        return type
    }
}
