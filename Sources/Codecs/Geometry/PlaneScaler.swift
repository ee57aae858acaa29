import CResample
import PhotoModel

/// Looked up once: asking the processor is not free.
private let kernel = cr_best_kernel()

/// Scales and turns planes in one go: separable 8-bit Lanczos3, rows first, then transposed, rows again, and transposed
/// back unless the orientation wants it so. Mirroring is reading the filter backwards. All eight orientations cost the
/// same, and both passes run along rows, where vector code is at home.
final class PlaneScaler {
    private let half = PlaneBuffer()
    private let turned = PlaneBuffer()
    /// Filters by what they depend on. A card's photos mostly have one size, and a filter costs 0.3 ms to make.
    private var axes: [AxisKey: Axis] = [:]

    /// Scales `plane`, a plane of `picture` with the given subsampling, to the size of the whole preview divided by
    /// `targetSampling`, rounded up to `count` samples.
    ///
    /// Where an output sample lies is counted in luma pixels of the *upright* preview, also when the source is
    /// mirrored: at odd sizes, reversing a finished chroma plane would shift it by a pixel.
    func scale(
        _ plane: Plane, of picture: PlanarPicture, subsampling: (horizontal: Int, vertical: Int), to size: PixelSize,
        targetSampling: Int, count: PixelSize, into target: UnsafeMutablePointer<UInt8>, stride: Int
    ) throws(CodecFailure) {
        let swaps = picture.orientation.swapsAxes
        let across = try axis(
            AxisKey(
                start: picture.window.x, length: picture.window.width, stored: picture.storedSize.width,
                scale: picture.scale / Double(subsampling.horizontal), reduction: picture.reduction,
                samples: plane.width,
                target: swaps ? size.height : size.width, targetSampling: targetSampling,
                count: swaps ? count.height : count.width, isFlipped: picture.orientation.flipsX))
        let down = try axis(
            AxisKey(
                start: picture.window.y, length: picture.window.height, stored: picture.storedSize.height,
                scale: picture.scale / Double(subsampling.vertical), reduction: picture.reduction,
                samples: plane.height,
                target: swaps ? size.width : size.height, targetSampling: targetSampling,
                count: swaps ? count.width : count.height, isFlipped: picture.orientation.flipsY))

        // Only the columns that the second pass reads are worth scaling.
        let wide = across.length
        let first = unsafe plane.base + down.offset * plane.stride + across.offset
        let halfStride = padded(wide)
        let half = try unsafe self.half.reserve(halfStride * down.count)
        unsafe down.scaleRows(first, stride: plane.stride, width: wide, into: half, stride: halfStride)
        let turnedStride = padded(down.count)
        let turned = try unsafe self.turned.reserve(turnedStride * wide)
        unsafe cr_transpose(kernel, half, halfStride, Int32(wide), Int32(down.count), turned, turnedStride)
        guard !swaps else {
            unsafe across.scaleRows(turned, stride: turnedStride, width: down.count, into: target, stride: stride)
            return
        }
        // What the first pass made has been turned: its memory is free again.
        let whole = try unsafe self.half.reserve(turnedStride * across.count)
        unsafe across.scaleRows(turned, stride: turnedStride, width: down.count, into: whole, stride: turnedStride)
        unsafe cr_transpose(kernel, whole, turnedStride, Int32(down.count), Int32(across.count), target, stride)
    }

    func trim(to limit: Int) {
        half.trim(to: limit)
        turned.trim(to: limit)
    }

    /// Rows start on a cache line, and never a multiple of 4096 apart: those would all fall into the same cache set
    /// while transposing.
    private func padded(_ width: Int) -> Int {
        let rounded = (width + 63) & ~63
        return rounded % 4096 == 0 ? rounded + 64 : rounded
    }

    private func axis(_ key: AxisKey) throws(CodecFailure) -> Axis {
        if let known = axes[key] { return known }
        let made = try Axis(key)
        if axes.count >= 32 { axes.removeAll(keepingCapacity: true) }
        axes[key] = made
        return made
    }
}

/// Everything the filter of one axis depends on.
struct AxisKey: Hashable {
    /// Shown part of the stored picture, stored pixels.
    var start: Int
    var length: Int
    /// Stored pixels in all.
    var stored: Int
    /// Samples of the plane per stored pixel.
    var scale: Double
    /// Stored pixels whose mean a sample is, along this axis.
    var reduction: Int
    /// Samples the plane has.
    var samples: Int
    /// Length of the preview, pixels.
    var target: Int
    /// Preview pixels per output sample: 1 for luma, 2 for the chroma of 4:2:0.
    var targetSampling: Int
    /// Output samples.
    var count: Int
    var isFlipped: Bool
}

/// The filter of one axis: which samples make up each output sample, and how much of each.
private struct Axis {
    /// First sample of the plane that is read.
    let offset: Int
    /// Samples that are read.
    let length: Int
    let count: Int
    private let taps: Int32
    private let starts: [Int32]
    private let coefficients: [Int16]

    init(_ key: AxisKey) throws(CodecFailure) {
        // The extent is the exact one (2016.5 for half of 4033), not the plane's rounded-up width.
        let start = Double(key.start) * key.scale
        let extent = Double(key.length) * key.scale
        let offset = min(max(Int(start.rounded(.down)), 0), key.samples - 1)
        let end = min(max(Int((start + extent).rounded(.up)), offset + 1), key.samples)
        guard key.samples > 0, end > offset, key.count > 0, key.count < 1 << 20, key.samples < 1 << 30 else {
            throw CodecFailure(.tooLarge, "the picture's sides cannot be scaled")
        }
        let perPixel = extent / Double(key.target)
        let step = perPixel * Double(key.targetSampling)
        let centre = step / 2
        let first = start - Double(offset) + (key.isFlipped ? extent - centre : centre)
        self.offset = offset
        length = end - offset
        count = key.count
        let reduction = Int32(key.reduction)
        let taps = cr_taps(step, reduction, Int32(end - offset))
        guard Int(taps) * key.count < 1 << 26 else {  // 128 MiB of filter: only a line of pixels 10^8 long needs more
            throw CodecFailure(.tooLarge, "the picture's sides cannot be scaled")
        }
        self.taps = taps
        var starts = [Int32](repeating: 0, count: key.count)
        var coefficients = [Int16](repeating: 0, count: key.count * Int(taps))
        var weights = [Double](repeating: 0, count: Int(taps))
        unsafe cr_build_axis(
            first, key.isFlipped ? -step : step, reduction, Int32(end - offset), Int32(key.count), taps, &starts,
            &coefficients, &weights)
        self.starts = starts
        self.coefficients = coefficients
    }

    /// `source` has ``length`` rows of `width` bytes, `target` has room for ``count``.
    func scaleRows(
        _ source: UnsafePointer<UInt8>, stride: Int, width: Int, into target: UnsafeMutablePointer<UInt8>,
        stride targetStride: Int
    ) {
        unsafe cr_scale_rows(
            kernel, source, stride, Int32(width), starts, coefficients, taps, Int32(count), target, targetStride)
    }
}
