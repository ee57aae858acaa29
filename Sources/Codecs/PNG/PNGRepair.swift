/// Makes a PNG that ends in the middle of its picture data readable: the last chunk gets the length that is there.
enum PNGRepair {
    /// A copy that ends properly, or nil when there is nothing to mend, or no picture data to save.
    static func completed(_ file: FileBytes) -> [UInt8]? {
        var offset = 8
        var hasData = false
        while let length = file.number(at: offset, width: 4), offset <= file.count - 8 {
            if file.holds("IEND", at: offset + 4) { return nil }
            let isData = file.holds("IDAT", at: offset + 4)
            let end = offset + 12 + length
            if end > file.count {
                let present = file.count - offset - 8
                guard isData, present > 0 || hasData else { return nil }
                return ended(file, before: offset, lastChunk: min(present, length))
            }
            hasData = hasData || isData
            offset = end
        }
        return hasData ? ended(file, before: min(offset, file.count), lastChunk: 0) : nil
    }

    /// Check sums are not made: the decoder is told not to mind them.
    private static func ended(_ file: FileBytes, before offset: Int, lastChunk: Int) -> [UInt8]? {
        guard var bytes = file.bytes(0..<offset) else { return nil }
        if lastChunk > 0, let data = file.bytes(offset + 8..<offset + 8 + lastChunk) {
            bytes += (0..<4).map { UInt8(lastChunk >> (24 - 8 * $0) & 255) } + Array("IDAT".utf8) + data + [0, 0, 0, 0]
        }
        return bytes + [0, 0, 0, 0] + Array("IEND".utf8) + [0xae, 0x42, 0x60, 0x82]
    }
}
