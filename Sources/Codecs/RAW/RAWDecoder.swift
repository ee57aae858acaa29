import CResample
import Metadata
import PhotoModel

/// Makes pictures of RAW files. The camera has mostly done so already: the largest whole JPEG inside that is large enough
/// for the preview is taken, as our own walk finds it, else as LibRaw does. Only without one the sensor data are
/// developed, at half size where that is enough. A smaller JPEG is the last resort.
///
/// All of them lie as the sensor did: the RAW file's own orientation turns them, and an embedded JPEG's is never read.
final class RAWDecoder {
    private let jpeg: JPEGDecoder
    private let planes = PlaneBuffer()
    private let mended = PlaneBuffer()

    init(jpeg: JPEGDecoder) { self.jpeg = jpeg }

    func trim(to limit: Int) {
        planes.trim(to: limit)
        mended.trim(to: limit)
    }

    /// What is known of the file before anything is decoded.
    private struct Task {
        let file: FileBytes
        let orientation: Orientation
        /// As shown; nil when the file does not tell.
        let shown: PixelSize?
        /// The longer side that a picture needs.
        let target: Int
        let isCut: Bool
        /// Of the pictures inside that say nothing themselves.
        let colour: StatedColour?
        let spec: PreviewSpec
    }

    private struct Embedded {
        let bytes: FileBytes
        let size: PixelSize
        /// Where it has no profile itself.
        var colour: StatedColour?
        var longSide: Int { max(size.width, size.height) }
    }

    /// Sensor data that are cut off are developed only where there is no whole picture inside, of whatever size.
    func decode(_ file: FileBytes, orientation: Int, spec: PreviewSpec) throws(CodecFailure) -> DecodedPicture {
        let source = file.source
        let inspection = Inspector.inspect(source)
        let shown = inspection.facts.size
        let pictures = EmbeddedPictures(source)
        let task = Task(
            file: file, orientation: Orientation(exif: orientation), shown: shown,
            target: shown.map { min(spec.longSide(of: $0), max($0.width, $0.height)) } ?? spec.maxSize,
            isCut: inspection.endsEarly,
            // A camera makes its pictures in the colours that it was set to; in a DNG each one has its own.
            colour: pictures.isDNG ? nil : StatedColour.of(source, .raw), spec: spec)
        var found: [Embedded] = []
        for range in pictures.jpegs {
            var bytes = file.part(Int(range.lowerBound)..<Int(range.upperBound))
            // One buffer for one of them: a camera writes no second.
            if let part = bytes, pictures.beheaded.contains(range) {
                bytes = range == pictures.jpegs.first(where: pictures.beheaded.contains) ? try mend(part) : nil
            }
            if let whole = Self.whole(bytes, colour: pictures.colours[range] ?? task.colour) { found.append(whole) }
        }
        let jpegs = found.sorted { $0.size.width * $0.size.height > $1.size.width * $1.size.height }
        for candidate in jpegs where candidate.longSide >= task.target || task.isCut {
            if let picture = try decode(candidate, task) { return picture }
        }
        if task.isCut, let bitmap = pictures.bitmap { return try picture(of: bitmap, task) }
        let failure: CodecFailure
        do throws(CodecFailure) { return try develop(task) } catch { failure = error }
        for candidate in jpegs {
            if let picture = try decode(candidate, task) { return picture }
        }
        if let bitmap = pictures.bitmap { return try picture(of: bitmap, task) }
        // What makes no sense in a file that ends early is for its end.
        if task.isCut, failure.code == .corrupt {
            throw CodecFailure(.truncated, "the RAW file ends before there is a picture")
        }
        throw failure
    }

    /// A copy with the first byte that it should have.
    private func mend(_ part: FileBytes) throws(CodecFailure) -> FileBytes {
        let copy = try unsafe mended.reserve(part.count)
        unsafe UnsafeMutableRawBufferPointer(start: copy, count: part.count).copyMemory(from: part.memory)
        unsafe copy[0] = 0xFF
        return unsafe FileBytes(lending: UnsafeRawBufferPointer(start: copy, count: part.count))
    }

    // MARK: What the camera made

    /// nil unless there is a JPEG of a kind that can be decoded, with its end; sensor data in lossless JPEG are none.
    private static func whole(_ bytes: FileBytes?, colour: StatedColour?) -> Embedded? {
        // Whatever is wrong with it, it is no preview.
        guard let bytes, let structure = try? JPEGStructure(bytes), bytes.hasEndMarker else { return nil }
        return Embedded(bytes: bytes, size: structure.size, colour: colour)
    }

    /// nil when it turns out damaged: the next one may do.
    private func decode(_ candidate: Embedded, _ task: Task) throws(CodecFailure) -> DecodedPicture? {
        do throws(CodecFailure) {
            var decoded = try jpeg.decode(candidate.bytes, orientation: 1, spec: task.spec)
            decoded.picture.take(candidate.colour)
            return decoded.isPartial ? nil : finish(decoded, task)
        } catch {
            if error.code == .memory { throw error }
            return nil
        }
    }

    private func picture(
        of bitmap: (bytes: Range<Int64>, size: PixelSize), _ task: Task
    ) throws(CodecFailure) -> DecodedPicture {
        guard let bytes = task.file.part(Int(bitmap.bytes.lowerBound)..<Int(bitmap.bytes.upperBound)) else {
            throw CodecFailure(.truncated, "the RAW file ends before its preview")
        }
        return try unsafe picture(rgb: bytes.memory, bitmap.size, task)
    }

    /// - Parameter rgb: three bytes for each pixel.
    private func picture(
        rgb: UnsafeRawBufferPointer, _ size: PixelSize, _ task: Task
    ) throws(CodecFailure) -> DecodedPicture {
        let count = size.width * size.height
        guard let base = unsafe rgb.bindMemory(to: UInt8.self).baseAddress, rgb.count >= 3 * count else {
            throw CodecFailure(.corrupt, "the RAW file holds no pixels")
        }
        let first = try unsafe planes.reserve(3 * count)
        unsafe cr_rgb_to_ycc(base, count, first, first + count, first + 2 * count)
        func plane(_ number: Int) -> Plane {
            unsafe Plane(first + number * count, stride: size.width, width: size.width, height: size.height)
        }
        return finish(
            DecodedPicture(
                picture: PlanarPicture(
                    first: plane(0), chroma: (plane(1), plane(2)), storedSize: size, orientation: .upright)), task)
    }

    // MARK: What the sensor saw

    private func develop(_ task: Task) throws(CodecFailure) -> DecodedPicture {
        let session = try RAWSession(task.file)
        if let thumbnail = session.thumbnail, let candidate = Self.whole(thumbnail, colour: task.colour),
            candidate.longSide >= task.target,
            let picture = try decode(candidate, task)
        {
            return picture
        }
        let image = try session.develop(target: task.target, maxPixels: task.spec.maxPixels)
        // Of files that are no TIFF only LibRaw knows how they were held.
        let held =
            task.orientation == .upright
            ? Task(
                file: task.file, orientation: session.orientation, shown: task.shown, target: task.target,
                isCut: task.isCut, colour: task.colour, spec: task.spec) : task
        var decoded = try unsafe picture(rgb: image.pixels, image.size, held)
        if session.isDamaged {
            decoded.isPartial = true
            decoded.warning = "the sensor data are damaged or cut off"
        }
        return decoded
    }

    // MARK: Both

    /// Turns it, once, and cuts it to the shape that the RAW file is said to have: previews are often a few rows off, as
    /// 1616 x 1080 for 4928 x 3280. A shape that is further off is another crop, the photographer's own.
    private func finish(_ decoded: DecodedPicture, _ task: Task) -> DecodedPicture {
        var decoded = decoded
        let stored = decoded.picture.storedSize
        decoded.picture.orientation = task.orientation
        if let shown = task.shown {
            // A portrait among the landscapes of a turned sensor has been turned already.
            if task.orientation.swapsAxes, shown.width != shown.height, stored.width != stored.height,
                (shown.width < shown.height) == (stored.width < stored.height)
            {
                decoded.picture.orientation = .upright
            }
            decoded.picture.window = Self.window(of: stored, shapedAs: decoded.picture.orientation.shown(shown))
        }
        if task.isCut {
            decoded.isPartial = true
            decoded.warning = decoded.warning ?? "the file ends before its sensor data do"
        }
        return decoded
    }

    static func window(of stored: PixelSize, shapedAs shape: PixelSize) -> Window {
        var window = Window(x: 0, y: 0, width: stored.width, height: stored.height)
        let ratio = Double(stored.width) * Double(shape.height) / (Double(stored.height) * Double(shape.width))
        guard abs(ratio - 1) <= 0.015 else { return window }
        if ratio > 1 {
            window.width = max(1, Int((Double(stored.width) / ratio).rounded()))
        } else {
            window.height = max(1, Int((Double(stored.height) * ratio).rounded()))
        }
        window.x = (stored.width - window.width) / 2
        window.y = (stored.height - window.height) / 2
        return window
    }
}

extension FileBytes {
    /// A part of the file, lent as long as the whole.
    func part(_ range: Range<Int>) -> FileBytes? {
        guard range.lowerBound >= 0, range.upperBound <= count, !range.isEmpty else { return nil }
        return unsafe FileBytes(lending: UnsafeRawBufferPointer(rebasing: memory[range]))
    }

    /// Whether a JPEG's end marker stands in the last 64 KiB: behind it there may be padding.
    var hasEndMarker: Bool {
        var offset = count - 2
        let first = max(0, count - 65_536)
        while offset >= first {
            if number(at: offset, width: 2) == 0xFFD9 { return true }
            offset -= 1
        }
        return false
    }
}
