import CWebP
import PhotoModel

/// Decodes WebP to planes, on white: lossy as the 4:2:0 it is, lossless and transparent by way of RGBA. Of an animation
/// the first frame, at its place on the canvas.
final class WebPDecoder {
    /// What libwebp writes to: planes, or RGBA.
    private let output = PlaneBuffer()
    private let rows = RowPlanes()

    /// From this size on libwebp scales down itself, to what the preview needs: 11 bytes for every pixel of a lossless
    /// picture, the format's largest, would not fit into a decoder. Below it, scaling once is sharper.
    private static let largeSize = 32 << 20

    /// A file that ends early, or goes bad on its way, is partial when at least one row is there; what is missing is
    /// white.
    func decode(_ file: FileBytes, orientation: Int, spec: PreviewSpec) throws(CodecFailure) -> DecodedPicture {
        let container = try WebPContainer(file)
        let (canvas, frame) = (container.canvas, try container.firstFrame())
        for size in [canvas, frame.size] {
            let (total, overflow) = size.width.multipliedReportingOverflow(by: size.height)
            guard !overflow, Int64(total) <= spec.maxPixels.count else {
                throw .tooLarge(size.width, size.height, limit: spec.maxPixels)
            }
        }
        var decoded =
            if frame.size == canvas, !frame.hasAlpha, !frame.isLossless {
                try planes(of: frame, orientation: orientation, spec: spec)
            } else {
                try pixels(of: frame, on: canvas, orientation: orientation, spec: spec)
            }
        decoded.picture.space = container.space
        return decoded
    }

    func trim(to limit: Int) {
        output.trim(to: limit)
        rows.trim(to: limit)
    }

    /// VP8 is BT.601 in video range, 4:2:0 (RFC 6386, 9.2).
    private func planes(
        of frame: WebPFrame, orientation: Int, spec: PreviewSpec
    ) throws(CodecFailure) -> DecodedPicture {
        let denominator = Self.denominator(for: frame.size, spec: spec)
        let size = Self.size(frame.size, denominator)
        let half = Self.size(size, 2)
        let (luma, chroma) = (size.width * size.height, half.width * half.height)
        let first = try unsafe output.reserve(luma + 2 * chroma)
        let (blue, red) = unsafe (first + luma, first + luma + chroma)
        var reading = try WebPReading()
        reading.scale(to: size == frame.size ? nil : size)
        unsafe reading.writePlanes(first, blue, red, size: size, half: half)
        let (whole, problem) = try reading.run(frame)
        guard whole > 0 else { throw Self.nothing(frame, problem) }
        // Chroma comes in whole rows: of an odd last one half is there.
        unsafe (first + whole * size.width).update(repeating: 235, count: luma - whole * size.width)
        let colours = whole / 2 * half.width
        if whole < size.height {
            unsafe (blue + colours).update(repeating: 128, count: chroma - colours)
            unsafe (red + colours).update(repeating: 128, count: chroma - colours)
        }
        func plane(_ base: UnsafePointer<UInt8>, _ size: PixelSize) -> Plane {
            unsafe Plane(base, stride: size.width, width: size.width, height: size.height)
        }
        var picture = unsafe PlanarPicture(
            first: plane(first, size), chroma: (plane(blue, half), plane(red, half)), storedSize: frame.size,
            orientation: Orientation(exif: orientation))
        picture.coding = .ycc(red: 0.299, blue: 0.114, isFullRange: false)
        picture.subsampling = (2, 2)
        picture.scale = 1 / Double(denominator)
        return Self.outcome(picture, frame, problem)
    }

    private func pixels(
        of frame: WebPFrame, on canvas: PixelSize, orientation: Int, spec: PreviewSpec
    ) throws(CodecFailure) -> DecodedPicture {
        let isWhole = frame.size == canvas
        let denominator = isWhole ? Self.denominator(for: canvas, spec: spec) : 1
        let size = isWhole ? Self.size(frame.size, denominator) : frame.size
        try rows.begin(
            isWhole ? size : canvas, limit: spec.maxPixels, keepsAlpha: spec.keepsAlpha && (frame.hasAlpha || !isWhole))
        let rgba = try unsafe output.reserve(4 * size.width * size.height)
        var whole = 0
        var problem: WebPProblem?
        do {
            var reading = try WebPReading()
            reading.scale(to: size == frame.size ? nil : size)
            unsafe reading.writePixels(rgba, size: size)
            (whole, problem) = try reading.run(frame)
        }
        guard whole > 0 else { throw Self.nothing(frame, problem) }
        if isWhole {
            rows.whiten(rows: whole..<size.height)
        } else {
            rows.whiten(rows: 0..<canvas.height, isClear: true)
        }
        for row in 0..<whole {
            unsafe rows.put(
                rgba: rgba + 4 * row * size.width, x: frame.x, y: frame.y + row, count: size.width)
        }
        var picture = try rows.picture(orientation: orientation)
        if isWhole {
            picture.storedSize = canvas
            picture.window = Window(x: 0, y: 0, width: canvas.width, height: canvas.height)
            picture.scale = 1 / Double(denominator)
        }
        return Self.outcome(picture, frame, problem)
    }

    private static func denominator(for size: PixelSize, spec: PreviewSpec) -> Int {
        size.width * size.height < largeSize
            ? 1 : PreviewGeometry.jpegDenominator(of: size, maxSize: spec.longSide(of: size))
    }

    private static func size(_ size: PixelSize, _ denominator: Int) -> PixelSize {
        PixelSize(
            width: (size.width + denominator - 1) / denominator, height: (size.height + denominator - 1) / denominator)
    }

    private static func outcome(
        _ picture: PlanarPicture, _ frame: WebPFrame, _ problem: WebPProblem?
    ) -> DecodedPicture {
        let warning: String? =
            switch problem {
            case nil: nil
            case .ends: "the WebP ends early"
            case .damaged: "the WebP is damaged"
            }
        return DecodedPicture(picture: picture, isPartial: problem != nil, warning: warning)
    }

    private static func nothing(_ frame: WebPFrame, _ problem: WebPProblem?) -> CodecFailure {
        problem == .ends
            ? CodecFailure(.truncated, "the WebP ends before the first row of the picture")
            : CodecFailure(.corrupt, "no row of the WebP can be decoded")
    }
}
