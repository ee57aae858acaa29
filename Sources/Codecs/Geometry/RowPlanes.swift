import CResample
import PhotoModel

/// A picture that comes in runs of red, green and blue, kept as planes. What never comes is to be made white.
///
/// Safe: every run is held against the size that memory was taken for.
@safe final class RowPlanes {
    private let planes = PlaneBuffer()
    private let row = PlaneBuffer()
    private let opacity = PlaneBuffer()
    private(set) var size = PixelSize(width: 0, height: 0)
    private var first: UnsafeMutablePointer<UInt8>?
    /// nil where nobody wants it.
    private var alpha: UnsafeMutablePointer<UInt8>?

    /// - Parameter keepsAlpha: whether the picture is to tell how opaque it is; all of it is until something else comes.
    /// - Throws: `.tooLarge`, before any memory is taken, and `.memory`.
    func begin(_ size: PixelSize, limit: Pixels, keepsAlpha: Bool = false) throws(CodecFailure) {
        self.size = PixelSize(width: 0, height: 0)
        guard size.width > 0, size.height > 0 else { throw CodecFailure(.corrupt, "the picture has no pixels") }
        let (total, overflow) = size.width.multipliedReportingOverflow(by: size.height)
        guard !overflow, Int64(total) <= limit.count, size.width < 1 << 28, size.height < 1 << 28 else {
            throw .tooLarge(size.width, size.height, limit: limit)
        }
        unsafe first = try planes.reserve(3 * total)
        unsafe alpha = keepsAlpha ? try opacity.reserve(total) : nil
        unsafe alpha?.update(repeating: 255, count: total)
        self.size = size
    }

    /// Room for one row of the picture, good until the next call.
    ///
    /// - Parameter pixelBytes: bytes for each pixel.
    func line(_ pixelBytes: Int) throws(CodecFailure) -> UnsafeMutablePointer<UInt8> {
        try unsafe row.reserve(max(size.width, 1) * pixelBytes)
    }

    /// Red, green, blue for `count` pixels from `x` on; what lies outside of the picture is left out.
    func put(rgb: UnsafePointer<UInt8>, x: Int = 0, y: Int, count: Int) {
        guard let (at, total) = place(x, y, count), let first = unsafe first else { return }
        unsafe cr_rgb_to_ycc(rgb, min(count, size.width - x), first + at, first + total + at, first + 2 * total + at)
    }

    /// The same with alpha, which does not weigh red, green and blue yet; laid on white.
    func put(rgba: UnsafePointer<UInt8>, x: Int = 0, y: Int, count: Int) {
        guard let (at, total) = place(x, y, count), let first = unsafe first else { return }
        unsafe cr_rgba_to_ycc(rgba, min(count, size.width - x), first + at, first + total + at, first + 2 * total + at)
        unsafe put(alpha: rgba + 3, step: 4, x: x, y: y, count: count)
    }

    /// How opaque pixels are that have come already, on white.
    ///
    /// - Parameter step: bytes from one to the next.
    func put(alpha values: UnsafePointer<UInt8>, step: Int, x: Int = 0, y: Int, count: Int) {
        guard let (at, _) = place(x, y, count), let alpha = unsafe alpha else { return }
        for place in 0..<min(count, size.width - x) { unsafe alpha[at + place] = unsafe values[place * step] }
    }

    /// - Parameter isClear: there is nothing, rather than something that is missing.
    func whiten(rows: Range<Int>, isClear: Bool = false) {
        let rows = rows.clamped(to: 0..<size.height)
        guard !rows.isEmpty, let first = unsafe first else { return }
        let (at, count, total) = (rows.lowerBound * size.width, rows.count * size.width, size.width * size.height)
        unsafe (first + at).update(repeating: 255, count: count)
        unsafe (first + total + at).update(repeating: 128, count: count)
        unsafe (first + 2 * total + at).update(repeating: 128, count: count)
        if let alpha = unsafe alpha { unsafe (alpha + at).update(repeating: isClear ? 0 : 255, count: count) }
    }

    /// - Parameter isGrey: red, green and blue were always the same.
    func picture(orientation: Int, isGrey: Bool = false) throws(CodecFailure) -> PlanarPicture {
        guard let first = unsafe first, size.width > 0 else { throw CodecFailure(.corrupt, "there is no picture") }
        let (size, total) = (size, size.width * size.height)
        func plane(_ number: Int) -> Plane {
            unsafe Plane(first + number * total, stride: size.width, width: size.width, height: size.height)
        }
        var picture = PlanarPicture(
            first: plane(0), chroma: isGrey ? nil : (plane(1), plane(2)), storedSize: size,
            orientation: Orientation(exif: orientation))
        if let alpha = unsafe alpha {
            picture.alpha = unsafe Plane(alpha, stride: size.width, width: size.width, height: size.height)
        }
        return picture
    }

    func trim(to limit: Int) {
        planes.trim(to: limit)
        row.trim(to: limit)
        opacity.trim(to: limit)
        size = PixelSize(width: 0, height: 0)
    }

    private func place(_ x: Int, _ y: Int, _ count: Int) -> (at: Int, total: Int)? {
        guard (0..<size.width).contains(x), (0..<size.height).contains(y), count > 0 else { return nil }
        return (y * size.width + x, size.width * size.height)
    }
}
