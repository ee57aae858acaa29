import DecoderWire
import Files
import PhotoModel

/// Looks at what a decoder wrote as at anything else from a stranger.
enum ResultJPEG {
    /// Seals the file first: from then on the decoder cannot change what is looked at.
    ///
    /// - Returns: what is wrong; nil when it is one whole JPEG after the other, each of the size that was told.
    static func fault(in file: borrowing Descriptor, _ parts: [DecoderReply.Part], of format: ExportSpec.Format? = nil)
        throws(Errno) -> String?
    {
        do throws(Errno) {
            try file.seal()
        } catch .busy {
            return "a result that it holds on to"
        }
        let actual = try file.status().stamp.size
        guard actual == parts.reduce(0, { $0 + $1.byteCount }), actual <= Int64(Wire.previewLimit) else {
            return "a result of another length"
        }
        let all = try file.readAll(limit: Wire.previewLimit)
        if let format { return begins(all, as: format) ? nil : "a file of another format" }
        var start = 0
        for part in parts {
            let end = start + Int(part.byteCount)
            guard end <= all.count else { return "a result of another length" }
            let bytes = Array(all[start..<end])
            guard bytes.count >= 4, bytes.starts(with: [0xFF, 0xD8]), bytes.suffix(2).elementsEqual([0xFF, 0xD9])
            else { return "a result that is no whole JPEG" }
            guard frameSize(bytes) == part.size else { return "a result of other pixels" }
            start = end
        }
        return nil
    }

    /// A file that somebody asked for is for him to look at; only its kind is told to him, so that has to be right.
    private static func begins(_ bytes: [UInt8], as format: ExportSpec.Format) -> Bool {
        switch format {
        case .jpeg: bytes.starts(with: [0xFF, 0xD8, 0xFF])
        case .png: bytes.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A])
        case .heic: bytes.dropFirst(4).starts(with: "ftyp".utf8)
        }
    }

    /// From the frame header, ITU-T T.81 section B.2.2; nil when there is none before the first scan, or when something
    /// stands there that our own encoder does not write: application data other than JFIF and ICC, a comment.
    static func frameSize(_ bytes: [UInt8]) -> PixelSize? {
        var position = 2
        while position + 4 <= bytes.count, bytes[position] == 0xFF {
            let marker = bytes[position + 1]
            let length = Int(bytes[position + 2]) << 8 | Int(bytes[position + 3])
            guard length >= 2, position + 2 + length <= bytes.count else { return nil }
            switch marker {
            case 0xC0, 0xC1, 0xC2:
                guard length >= 8 else { return nil }
                return PixelSize(
                    width: Int(bytes[position + 7]) << 8 | Int(bytes[position + 8]),
                    height: Int(bytes[position + 5]) << 8 | Int(bytes[position + 6]))
            case 0xE0, 0xDB, 0xC4, 0xDD: break
            case 0xE2:
                // No location and no private metadata leave through a preview, not even by a decoder that was taken over.
                guard bytes[(position + 4)...].starts(with: "ICC_PROFILE\0".utf8) else { return nil }
            default: return nil
            }
            position += 2 + length
        }
        return nil
    }
}
