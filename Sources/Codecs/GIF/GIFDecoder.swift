import CGIF
import PhotoModel

/// Decodes the first image of a GIF, at its place on the canvas and on white, row by row.
final class GIFDecoder {
    private let rows = RowPlanes()

    /// A file that ends early, or goes bad on its way, is partial when at least one row is there; what is missing is
    /// white. Of an interlaced one the rows that came stand for those below them that did not.
    func decode(_ file: FileBytes, orientation: Int, spec: PreviewSpec) throws(CodecFailure) -> DecodedPicture {
        let gif = try GIFFile(file)
        let image = try gif.firstImage()
        // Some writers leave the canvas out.
        let canvas = gif.canvas.width > 0 && gif.canvas.height > 0 ? gif.canvas : image.size
        try rows.begin(canvas, limit: spec.maxPixels, keepsAlpha: spec.keepsAlpha)
        rows.whiten(rows: 0..<canvas.height, isClear: true)
        guard (1...65_535).contains(image.size.width), (1...65_535).contains(image.size.height) else {
            throw CodecFailure(.corrupt, "the GIF's image has no pixels")
        }
        let line = UnsafeMutablePointer<UInt8>.allocate(capacity: image.size.width)
        defer { unsafe line.deallocate() }
        var whole = 0
        var problem: String?
        var passes = [(start: 0, step: 1)]
        if image.isInterlaced { passes = [(0, 8), (4, 8), (2, 4), (1, 2)] }
        passing: for (start, step) in passes {
            // A pass draws blocks, which later passes refine (GIF89a, appendix E).
            let block = image.isInterlaced ? (start == 0 ? 8 : start) : 1
            for y in stride(from: start, to: image.size.height, by: step) {
                problem = unsafe gif.readRow(into: line, count: image.size.width)
                if problem != nil { break passing }
                whole += 1
                for below in y..<min(y + block, image.size.height) {
                    try unsafe put(line, image, y: below, on: canvas)
                }
            }
        }
        guard whole > 0 else {
            throw gif.isAtEnd
                ? CodecFailure(.truncated, "the GIF ends before the first row of the picture")
                : CodecFailure(.corrupt, "no row of the GIF can be decoded: \(problem ?? "no data")")
        }
        let picture = try rows.picture(orientation: orientation)
        return DecodedPicture(
            picture: picture, isPartial: problem != nil,
            warning: problem.map { gif.isAtEnd ? "the GIF ends early" : "the GIF is damaged: \($0)" })
    }

    func trim(to limit: Int) { rows.trim(to: limit) }

    private func put(
        _ numbers: UnsafePointer<UInt8>, _ image: GIFImage, y: Int, on canvas: PixelSize
    ) throws(CodecFailure) {
        let left = max(image.x, 0)
        let count = min(image.x + image.size.width, canvas.width) - left
        guard count > 0 else { return }
        let rgba = try unsafe rows.line(4)
        for x in 0..<count {
            let number = unsafe Int(numbers[left - image.x + x])
            for place in 0..<3 { unsafe rgba[4 * x + place] = image.colours[3 * number + place] }
            unsafe rgba[4 * x + 3] = number == image.transparent ? 0 : 255
        }
        unsafe rows.put(rgba: rgba, x: left, y: image.y + y, count: count)
    }
}

/// What is known of an image before its rows.
struct GIFImage {
    let size: PixelSize
    let x: Int
    let y: Int
    let isInterlaced: Bool
    /// Red, green and blue of all 256 numbers: white for the transparent one, black for what the file has no colour for.
    let colours: [UInt8]
    let transparent: Int?
}

/// One reading of a GIF by giflib, out of memory.
///
/// Safe: the handle is closed with its owner, which does not outlive the file's bytes; a row has the length that the image
/// has.
@safe struct GIFFile: ~Copyable {
    private let memory: UnsafeMutablePointer<shim_gif>
    private let handle: UnsafeMutablePointer<GifFileType>
    let canvas: PixelSize

    init(_ file: FileBytes) throws(CodecFailure) {
        let memory = UnsafeMutablePointer<shim_gif>.allocate(capacity: 1)
        unsafe memory.initialize(
            to: shim_gif(base: file.memory.bindMemory(to: UInt8.self).baseAddress, size: file.count, at: 0))
        var error = Int32(0)
        guard let handle = unsafe shim_gif_open(memory, &error) else {
            let isAtEnd = unsafe memory.pointee.at >= memory.pointee.size
            unsafe memory.deallocate()
            throw Self.failure(error, isAtEnd: isAtEnd)
        }
        unsafe self.memory = unsafe memory
        unsafe self.handle = unsafe handle
        canvas = unsafe PixelSize(width: Int(handle.pointee.SWidth), height: Int(handle.pointee.SHeight))
    }

    deinit {
        var error = Int32(0)
        unsafe _ = DGifCloseFile(handle, &error)
        unsafe memory.deallocate()
    }

    var isAtEnd: Bool { unsafe memory.pointee.at >= memory.pointee.size }

    /// Goes on to the first image and reads its header.
    func firstImage() throws(CodecFailure) -> GIFImage {
        var transparent: Int?
        while true {
            var kind = UNDEFINED_RECORD_TYPE
            guard unsafe DGifGetRecordType(handle, &kind) == GIF_OK else { throw failure() }
            switch kind {
            case IMAGE_DESC_RECORD_TYPE:
                guard unsafe DGifGetImageDesc(handle) == GIF_OK else { throw failure() }
                return try image(transparent: transparent)
            case EXTENSION_RECORD_TYPE: transparent = try skipExtension() ?? transparent
            default: throw CodecFailure(.corrupt, "there is no image in the GIF")
            }
        }
    }

    /// nil, or what went wrong.
    func readRow(into line: UnsafeMutablePointer<UInt8>, count: Int) -> String? {
        unsafe DGifGetLine(handle, line, Int32(count)) == GIF_OK ? nil : Self.message(handle.pointee.Error)
    }

    private func image(transparent: Int?) throws(CodecFailure) -> GIFImage {
        let stated = unsafe handle.pointee.Image
        guard let map = unsafe stated.ColorMap ?? handle.pointee.SColorMap, let list = unsafe map.pointee.Colors else {
            throw CodecFailure(.corrupt, "the GIF has no table of colours")
        }
        var colours = [UInt8](repeating: 0, count: 768)
        for number in 0..<min(max(unsafe Int(map.pointee.ColorCount), 0), 256) {
            let colour = unsafe list[number]
            colours.replaceSubrange(3 * number..<3 * number + 3, with: [colour.Red, colour.Green, colour.Blue])
        }
        if let transparent, (0...255).contains(transparent) {
            colours.replaceSubrange(3 * transparent..<3 * transparent + 3, with: [255, 255, 255])
        }
        return unsafe GIFImage(
            size: PixelSize(width: Int(stated.Width), height: Int(stated.Height)), x: Int(stated.Left),
            y: Int(stated.Top), isInterlaced: stated.Interlace, colours: colours,
            transparent: transparent)
    }

    /// - Returns: the transparent number, if it is that extension and there is one.
    private func skipExtension() throws(CodecFailure) -> Int? {
        var code = Int32(0)
        var block: UnsafeMutablePointer<UInt8>?
        guard unsafe DGifGetExtension(handle, &code, &block) == GIF_OK else { throw failure() }
        var transparent: Int?
        if code == GRAPHICS_EXT_FUNC_CODE, let block = unsafe block, unsafe block[0] >= 4, unsafe block[1] & 1 != 0 {
            transparent = unsafe Int(block[4])
        }
        while unsafe block != nil {
            guard unsafe DGifGetExtensionNext(handle, &block) == GIF_OK else { throw failure() }
        }
        return transparent
    }

    private func failure() -> CodecFailure { unsafe Self.failure(handle.pointee.Error, isAtEnd: isAtEnd) }

    private static func failure(_ error: Int32, isAtEnd: Bool) -> CodecFailure {
        if error == D_GIF_ERR_NOT_ENOUGH_MEM { return CodecFailure(.memory, "no memory for a GIF decoder") }
        return isAtEnd
            ? CodecFailure(.truncated, "the GIF ends before its first image")
            : CodecFailure(.corrupt, "the GIF cannot be decoded: \(message(error))")
    }

    private static func message(_ error: Int32) -> String {
        guard let text = unsafe GifErrorString(error) else { return "error \(error)" }
        return unsafe String(cString: text)
    }
}
