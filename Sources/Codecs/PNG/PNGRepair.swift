import PhotoModel

/// Makes a PNG that ends in the middle of its picture data readable: the last chunk gets the length that is there.
///
/// The copy lies in a buffer, good until that is reserved anew: a file may have a GB, and memory for that much is asked for
/// where it can be refused without ending the process.
struct PNGRepair {
    private let buffer: PlaneBuffer

    init(in buffer: PlaneBuffer) { self.buffer = buffer }

    /// A copy that ends properly, or nil when there is nothing to mend, or no picture data to save.
    ///
    /// - Throws: `.memory`.
    func completed(_ file: FileBytes) throws(CodecFailure) -> FileBytes? {
        var offset = 8
        var hasData = false
        while let length = file.number(at: offset, width: 4), offset <= file.count - 8 {
            if file.holds("IEND", at: offset + 4) { return nil }
            let isData = file.holds("IDAT", at: offset + 4)
            let end = offset + 12 + length
            if end > file.count {
                let present = file.count - offset - 8
                guard isData, present > 0 || hasData else { return nil }
                return try ended(file, before: offset, lastChunk: min(present, length))
            }
            hasData = hasData || isData
            offset = end
        }
        return hasData ? try ended(file, before: min(offset, file.count), lastChunk: 0) : nil
    }

    /// A copy without texts, of which libspng keeps no more than its limits allow.
    ///
    /// - Throws: `.memory`.
    func withoutTexts(_ file: FileBytes) throws(CodecFailure) -> FileBytes {
        let copy = try unsafe buffer.reserve(file.count)
        let target = unsafe UnsafeMutableRawBufferPointer(start: copy, count: file.count)
        let texts: [StaticString] = ["tEXt", "zTXt", "iTXt"]
        var (offset, kept) = (0, 0)
        while offset < file.count {
            let end = offset == 0 ? 8 : file.number(at: offset, width: 4).map { offset + 12 + $0 } ?? file.count
            let isText = texts.contains { file.holds($0, at: offset + 4) }
            let chunk = unsafe UnsafeRawBufferPointer(rebasing: file.memory[offset..<min(end, file.count)])
            if !isText {
                unsafe UnsafeMutableRawBufferPointer(rebasing: target[kept...]).copyMemory(from: chunk)
                kept += chunk.count
            }
            offset = end
        }
        return unsafe FileBytes(lending: UnsafeRawBufferPointer(rebasing: target[..<kept]))
    }

    /// Check sums are not made: the decoder is told not to mind them.
    private func ended(_ file: FileBytes, before offset: Int, lastChunk: Int) throws(CodecFailure) -> FileBytes {
        let kept = lastChunk > 0 ? offset + 8 + lastChunk : offset
        let end: [UInt8] =
            (lastChunk > 0 ? [0, 0, 0, 0] : []) + [0, 0, 0, 0] + Array("IEND".utf8) + [0xae, 0x42, 0x60, 0x82]
        let copy = try unsafe buffer.reserve(kept + end.count)
        let target = unsafe UnsafeMutableRawBufferPointer(start: copy, count: kept + end.count)
        unsafe target.copyMemory(from: UnsafeRawBufferPointer(rebasing: file.memory[..<kept]))
        if lastChunk > 0 {
            for place in 0..<4 { unsafe target[offset + place] = UInt8(lastChunk >> (24 - 8 * place) & 255) }
        }
        for (place, byte) in end.enumerated() { unsafe target[kept + place] = byte }
        return unsafe FileBytes(lending: UnsafeRawBufferPointer(target))
    }
}
