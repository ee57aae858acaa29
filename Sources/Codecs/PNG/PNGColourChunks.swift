/// What a PNG says of its colours that libspng 0.7.3 does not tell: it knows no cICP, and passes over a profile that does
/// not inflate or is too large without a word.
struct PNGColourChunks {
    /// Of cICP (PNG, third edition, 11.3.2.6). Its matrix has to be that of RGB, and its range is taken for full.
    private(set) var codePoints: ColourSpace?
    /// There is an iCCP, whatever is in it.
    private(set) var hasProfile = false

    init(_ file: FileBytes) {
        var offset = 8
        // Colours are said before the pixels. A crafted file has small chunks without end; any real one has a few dozen.
        for _ in 0..<1024 {
            guard let length = file.number(at: offset, width: 4), !file.holds("IDAT", at: offset + 4) else { return }
            if file.holds("iCCP", at: offset + 4) { hasProfile = true }
            if file.holds("cICP", at: offset + 4), length == 4, let primaries = file.byte(at: offset + 8),
                let transfer = file.byte(at: offset + 9), file.byte(at: offset + 10) == 0
            {
                codePoints = .codePoints(primaries: primaries, transfer: transfer)
            }
            offset += 12 + length
        }
    }
}
