import CResample
import CTIFF
import Metadata
import PhotoModel

/// Decodes TIFF to planes, on white: the first page that is no smaller copy of another. Row by row where strips allow it,
/// tile by tile otherwise; only pictures whose colours are stored apart are held whole before they are converted.
///
/// A strip or tile that cannot be read is white, and the picture partial; so is all that a cut file does not hold.
final class TIFFDecoder {
    private let rows = RowPlanes()
    /// As libtiff hands it out: a row, a row of tiles, or everything when colours are stored apart.
    private let band = PlaneBuffer()
    private let tile = PlaneBuffer()
    /// A row of samples of 8 bits.
    private let narrow = PlaneBuffer()
    private let whole = PlaneBuffer()
    private var lab: ProfileTransform?
    private let inks = InkConversions()

    func decode(_ file: FileBytes, orientation: Int, spec: PreviewSpec) throws(CodecFailure) -> DecodedPicture {
        do throws(CodecFailure) {
            return try decode(whole: file, orientation: orientation, spec: spec)
        } catch {
            guard error.code == .truncated, let longer = try padded(file) else { throw error }
            var decoded = try decode(whole: longer, orientation: orientation, spec: spec)
            decoded.isPartial = true
            decoded.warning = "the TIFF ends early"
            return decoded
        }
    }

    /// libtiff takes no strip that is not whole. Where the first one is everything, a copy that goes on in zeros gives
    /// what there is of it; what they are decoded to, mostly black, stands for the rest.
    private func padded(_ file: FileBytes) throws(CodecFailure) -> FileBytes? {
        let end = try TIFFFile(file).firstPart.upperBound
        guard file.count < end, end <= 2 * file.count + 1 << 20, end < 1 << 30 else { return nil }
        let copy = try unsafe whole.reserve(end)
        let target = unsafe UnsafeMutableRawBufferPointer(start: copy, count: end)
        unsafe target.copyMemory(from: file.memory)
        unsafe (copy + file.count).update(repeating: 0, count: end - file.count)
        return unsafe FileBytes(lending: UnsafeRawBufferPointer(target))
    }

    private func decode(
        whole file: FileBytes, orientation: Int, spec: PreviewSpec
    ) throws(CodecFailure) -> DecodedPicture {
        let tiff = try TIFFFile(file)
        let layout = try TIFFLayout(tiff)
        try rows.begin(layout.size, limit: spec.maxPixels, keepsAlpha: spec.keepsAlpha && layout.alpha != .none)
        var whole = 0
        var lost = 0
        var isGrey = false
        var space = tiff.space
        var note: String?
        switch layout.colours {
        case .foreign:
            (whole, lost) = try decodeForeign(tiff, layout)
            if tiff.number16(TIFFTAG_PHOTOMETRIC) != Int(PHOTOMETRIC_YCBCR) { space = .unspecified }
        case .inks:
            let conversion = inks.conversion(for: space, isInverted: false)
            (whole, lost) = try decodeSamples(tiff, layout, transform: conversion.transform)
            note = conversion.warning
            space = .unspecified
        case .lab:
            guard let lab = lab ?? ProfileTransform.makeLab() else {
                throw CodecFailure(.memory, "no memory for a colour conversion")
            }
            self.lab = lab
            (whole, lost) = try decodeSamples(tiff, layout, transform: lab)
            space = .unspecified
        case .table(_, let grey):
            (whole, lost) = try decodeSamples(tiff, layout, transform: nil)
            isGrey = grey
        case .rgb: (whole, lost) = try decodeSamples(tiff, layout, transform: nil)
        }
        guard whole > 0 else {
            throw tiff.endsEarly
                ? CodecFailure(.truncated, "the TIFF ends before the first row of the picture")
                : CodecFailure(.corrupt, "no row of the TIFF can be decoded: \(tiff.complaint)")
        }
        var picture = try rows.picture(orientation: orientation, isGrey: isGrey)
        picture.space = space
        if case .rgb = layout.colours { picture.take(StatedColour.of(file.source, .tiff)) }
        let damage =
            lost == 0 ? nil : tiff.endsEarly ? "the TIFF ends early" : "the TIFF is damaged: \(tiff.complaint)"
        let notes = [damage, note].compactMap { $0 }
        return DecodedPicture(
            picture: picture, isPartial: lost > 0, warning: notes.isEmpty ? nil : notes.joined(separator: "; "))
    }

    func trim(to limit: Int) {
        rows.trim(to: limit)
        for buffer in [band, tile, narrow, whole] { buffer.trim(to: limit) }
    }

    /// - Returns: rows, or tiles, that were read, and that were not.
    private func decodeSamples(
        _ tiff: borrowing TIFFFile, _ layout: TIFFLayout, transform: ProfileTransform?
    ) throws(CodecFailure) -> (whole: Int, lost: Int) {
        let colours = TIFFColours(layout, transform: transform)
        if layout.isSeparate { return try decodeApart(tiff, layout, colours) }
        if let size = layout.tile { return try decodeTiles(tiff, layout, size, colours) }
        let rowBytes = try Self.checked(unsafe TIFFScanlineSize64(tiff.handle), layout.rowBytes(layout.size.width))
        let row = try unsafe band.reserve(rowBytes)
        var (whole, y) = (0, 0)
        while y < layout.size.height {
            if unsafe TIFFReadScanline(tiff.handle, row, UInt32(y), 0) == 1 {
                try unsafe put(row, y: y, layout, colours)
                (whole, y) = (whole + 1, y + 1)
            } else {
                let next = min((y / layout.stripRows + 1) * layout.stripRows, layout.size.height)
                rows.whiten(rows: y..<next)
                y = next
            }
        }
        return (whole, layout.size.height - whole)
    }

    private func decodeTiles(
        _ tiff: borrowing TIFFFile, _ layout: TIFFLayout, _ size: PixelSize, _ colours: TIFFColours
    ) throws(CodecFailure) -> (whole: Int, lost: Int) {
        let tileRow = try Self.tileRow(tiff, layout, size)
        let across = (layout.size.width + size.width - 1) / size.width
        let stride = across * tileRow
        let target = try unsafe band.reserve(stride * size.height)
        let part = try unsafe tile.reserve(tileRow * size.height)
        var (whole, lost) = (0, 0)
        for top in Swift.stride(from: 0, to: layout.size.height, by: size.height) {
            for column in 0..<across {
                let x = UInt32(column * size.width)
                if unsafe TIFFReadTile(tiff.handle, part, x, UInt32(top), 0, 0) >= 0 {
                    whole += 1
                } else {
                    lost += 1
                    unsafe part.update(repeating: layout.blank, count: tileRow * size.height)
                }
                for row in 0..<size.height {
                    unsafe (target + row * stride + column * tileRow).update(from: part + row * tileRow, count: tileRow)
                }
            }
            for row in 0..<min(size.height, layout.size.height - top) {
                try unsafe put(target + row * stride, y: top + row, layout, colours)
            }
        }
        return (whole, lost)
    }

    /// Colour after colour: libtiff would read every strip anew if asked for the colours of each row.
    private func decodeApart(
        _ tiff: borrowing TIFFFile, _ layout: TIFFLayout, _ colours: TIFFColours
    ) throws(CodecFailure) -> (whole: Int, lost: Int) {
        let (size, samples) = (layout.size, layout.samples)
        let all = try unsafe band.reserve(samples * size.width * size.height)
        unsafe all.update(repeating: layout.blank, count: samples * size.width * size.height)
        let piece = layout.tile ?? PixelSize(width: size.width, height: 1)
        let pieceRow: Int
        if let tileSize = layout.tile {
            pieceRow = try Self.tileRow(tiff, layout, tileSize)
        } else {
            pieceRow = try Self.checked(unsafe TIFFScanlineSize64(tiff.handle), layout.rowBytes(size.width))
        }
        let part = try unsafe tile.reserve(pieceRow * piece.height)
        var (whole, lost) = (0, 0)
        for sample in 0..<samples {
            for top in stride(from: 0, to: size.height, by: piece.height) {
                for left in stride(from: 0, to: size.width, by: piece.width) {
                    let isRead =
                        layout.tile == nil
                        ? unsafe TIFFReadScanline(tiff.handle, part, UInt32(top), UInt16(sample)) == 1
                        : unsafe TIFFReadTile(tiff.handle, part, UInt32(left), UInt32(top), 0, UInt16(sample)) >= 0
                    guard isRead else {
                        lost += 1
                        continue
                    }
                    whole += 1
                    for row in 0..<min(piece.height, size.height - top) {
                        let values = try unsafe narrowed(part + row * pieceRow, piece.width, layout)
                        let target = unsafe all + ((top + row) * size.width + left) * samples + sample
                        for x in 0..<min(piece.width, size.width - left) {
                            unsafe target[x * samples] = unsafe values[x]
                        }
                    }
                }
            }
        }
        let rgb = try unsafe rows.line(3)
        for y in 0..<size.height {
            let row = unsafe all + y * size.width * samples
            unsafe colours.convert(row, count: size.width, to: rgb)
            unsafe rows.put(rgb: rgb, y: y, count: size.width)
            unsafe rows.put(alpha: row + layout.alphaSample, step: samples, y: y, count: size.width)
        }
        return (whole, lost)
    }

    private func put(
        _ row: UnsafePointer<UInt8>, y: Int, _ layout: TIFFLayout, _ colours: TIFFColours
    ) throws(CodecFailure) {
        let samples = try unsafe narrowed(row, layout.size.width * layout.samples, layout)
        let rgb = try unsafe rows.line(3)
        unsafe colours.convert(samples, count: layout.size.width, to: rgb)
        unsafe rows.put(rgb: rgb, y: y, count: layout.size.width)
        unsafe rows.put(
            alpha: samples + layout.alphaSample, step: layout.samples, y: y, count: layout.size.width)
    }

    /// `count` samples of any depth as bytes: wide ones rounded, narrow ones as the numbers that they are.
    private func narrowed(
        _ row: UnsafePointer<UInt8>, _ count: Int, _ layout: TIFFLayout
    ) throws(CodecFailure) -> UnsafePointer<UInt8> {
        if layout.bits == 8 { return unsafe row }
        let target = try unsafe narrow.reserve(count)
        if layout.bits == 16 {
            let words = unsafe UnsafeRawPointer(row).assumingMemoryBound(to: UInt16.self)
            if case .lab(let isSigned) = layout.colours {
                unsafe Self.narrowLab(words, count, isSigned: isSigned, to: target)
            } else {
                unsafe cr_narrow(words, count, 16, 1, target)
            }
        } else {
            let (perByte, mask) = (8 / layout.bits, UInt8(1 << layout.bits - 1))
            for x in 0..<count {
                let shift = 8 - layout.bits * (x % perByte + 1)
                unsafe target[x] = unsafe row[x / perByte] >> UInt8(shift) & mask
            }
        }
        return unsafe UnsafePointer(target)
    }

    /// The upper byte, rounded, is the number that 8 bits have.
    private static func narrowLab(
        _ words: UnsafePointer<UInt16>, _ count: Int, isSigned: Bool, to target: UnsafeMutablePointer<UInt8>
    ) {
        for x in 0..<count {
            if isSigned, x % 3 > 0 {
                let value = min((unsafe Int(Int16(bitPattern: words[x])) + 128) >> 8, 127)
                unsafe target[x] = UInt8(bitPattern: Int8(value))
            } else {
                unsafe target[x] = UInt8(min((Int(words[x]) + 128) >> 8, 255))
            }
        }
    }

    private static func tileRow(
        _ tiff: borrowing TIFFFile, _ layout: TIFFLayout, _ size: PixelSize
    ) throws(CodecFailure) -> Int {
        guard (1...65_536).contains(size.width), (1...65_536).contains(size.height) else {
            throw CodecFailure(.corrupt, "the TIFF has tiles of \(size.width) x \(size.height) pixels")
        }
        let row = layout.rowBytes(size.width)
        guard row * 8 == size.width * layout.together * layout.bits else {
            throw CodecFailure(.unsupported, "rows of the TIFF's tiles end within a byte")
        }
        _ = try checked(unsafe TIFFTileSize64(tiff.handle), row * size.height)
        return row
    }

    /// Ours and libtiff's idea of what it will write have to be the same.
    private static func checked(_ stated: UInt64, _ expected: Int) throws(CodecFailure) -> Int {
        guard stated == UInt64(expected), expected > 0 else {
            throw CodecFailure(.unsupported, "the TIFF's rows have \(stated) bytes and not \(expected)")
        }
        return expected
    }
}

extension TIFFDecoder {
    /// By libtiff's own conversion to RGBA, a strip or a row of tiles at a time.
    private func decodeForeign(
        _ tiff: borrowing TIFFFile, _ layout: TIFFLayout
    ) throws(CodecFailure) -> (whole: Int, lost: Int) {
        var image = unsafe TIFFRGBAImage()
        var message = [CChar](repeating: 0, count: 1024)
        guard unsafe TIFFRGBAImageBegin(&image, tiff.handle, 1, &message) != 0 else {
            let text = String(decoding: message.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            throw CodecFailure(.unsupported, "libtiff cannot convert the TIFF: \(SafeText.of(text, limit: 200))")
        }
        defer { unsafe TIFFRGBAImageEnd(&image) }
        // As stored: turning is done by us.
        unsafe image.req_orientation = unsafe image.orientation
        let (width, height) = (layout.size.width, layout.size.height)
        let step = max(1, min(layout.tile?.height ?? layout.stripRows, height))
        let count = width * step
        let raster = try unsafe band.reserve(4 * count)
        var whole = 0
        for top in stride(from: 0, to: height, by: step) {
            let now = min(step, height - top)
            unsafe image.row_offset = Int32(top)
            let isRead = unsafe raster.withMemoryRebound(to: UInt32.self, capacity: count) { words in
                unsafe TIFFRGBAImageGet(&image, words, UInt32(width), UInt32(now)) != 0
            }
            guard isRead else {
                rows.whiten(rows: top..<top + now)
                continue
            }
            whole += now
            let rgb = try unsafe rows.line(3)
            for y in 0..<now {
                let row = unsafe raster + 4 * y * width
                for x in 0..<width {
                    // Weighed by alpha: what is missing to white is added.
                    let rest = unsafe 255 - Int(row[4 * x + 3])
                    for place in 0..<3 {
                        unsafe rgb[3 * x + place] = UInt8(min(255, unsafe Int(row[4 * x + place]) + rest))
                    }
                }
                unsafe rows.put(rgb: rgb, y: top + y, count: width)
                unsafe rows.put(alpha: row + 3, step: 4, y: top + y, count: width)
            }
        }
        return (whole, height - whole)
    }
}
