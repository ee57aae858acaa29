import CResample

/// Takes planes from a library: narrowed to 8 bits where they are deeper, and put on white where there is alpha. What is
/// neither is used where it lies.
final class PlaneImport {
    private let buffers = [PlaneBuffer(), PlaneBuffer(), PlaneBuffer()]
    private let alphaBuffer = PlaneBuffer()

    /// A plane as a library hands it out; `depth` over 8 means 16-bit words in the machine's order.
    @safe struct Foreign {
        let base: UnsafePointer<UInt8>
        /// Bytes.
        let stride: Int
        let width: Int
        let height: Int
        let depth: Int

        /// nil when the library's numbers cannot be: then no row may be touched.
        init?(_ base: UnsafePointer<UInt8>?, stride: Int, width: Int, height: Int, depth: Int) {
            let sample = depth > 8 ? 2 : 1
            guard let base = unsafe base, width > 0, height > 0, (1...16).contains(depth), stride >= width * sample
            else { return nil }
            unsafe self.base = unsafe base
            self.stride = stride
            self.width = width
            self.height = height
            self.depth = depth
        }

        /// Whether every sample is the one in the middle, which for Cb and Cr is no colour.
        var isNeutral: Bool {
            let (middle, isWide) = (1 << (depth - 1), depth > 8)
            for row in 0..<height {
                let line = unsafe base + row * stride
                for x in 0..<width {
                    let sample = unsafe isWide ? Int(line[2 * x]) | Int(line[2 * x + 1]) << 8 : Int(line[x])
                    if sample != middle { return false }
                }
            }
            return true
        }
    }

    /// - Parameter number: 0 for luma, 1 and 2 for chroma.
    func plane(
        _ foreign: Foreign, number: Int, coding: ColourCoding, subsampling: (horizontal: Int, vertical: Int),
        alpha: Plane?, isPremultiplied: Bool
    ) throws(CodecFailure) -> Plane {
        if foreign.depth == 8, alpha == nil {
            return unsafe Plane(foreign.base, stride: foreign.stride, width: foreign.width, height: foreign.height)
        }
        let copy = try narrowed(foreign, isFullRange: coding.isFullRange, into: buffers[number])
        guard let alpha else { return copy.plane }
        let isColour = if case .ycc = coding { number > 0 } else { false }
        // What was multiplied counts from black, and of colour from none: of those white adds what is left of itself.
        let white =
            switch (isColour, isPremultiplied) {
            case (true, let isPremultiplied): UInt8(isPremultiplied ? 0 : 128)
            case (false, true): coding.white - coding.black
            case (false, false): coding.white
            }
        for row in 0..<foreign.height {
            let top = min(row * subsampling.vertical, alpha.height - 1)
            unsafe cr_flatten_row(
                copy.base + row * copy.stride, Int32(foreign.width), white,
                alpha.base + top * alpha.stride, alpha.stride, Int32(alpha.width), Int32(alpha.height - top),
                Int32(subsampling.horizontal), Int32(subsampling.vertical), isPremultiplied ? 1 : 0)
        }
        return copy.plane
    }

    func alpha(_ foreign: Foreign, isFullRange: Bool) throws(CodecFailure) -> Plane {
        let copy = try narrowed(foreign, isFullRange: isFullRange, into: alphaBuffer)
        if !isFullRange { unsafe cr_lookup(copy.base, copy.stride * foreign.height, ColourCoding.expandedLuma) }
        return copy.plane
    }

    func trim(to limit: Int) {
        for buffer in buffers { buffer.trim(to: limit) }
        alphaBuffer.trim(to: limit)
    }

    @safe private struct Copy {
        let base: UnsafeMutablePointer<UInt8>
        let stride: Int
        let plane: Plane
    }

    private func narrowed(_ foreign: Foreign, isFullRange: Bool, into buffer: PlaneBuffer) throws(CodecFailure) -> Copy
    {
        let target = try unsafe buffer.reserve(foreign.width * foreign.height)
        for row in 0..<foreign.height {
            let from = unsafe foreign.base + row * foreign.stride
            let to = unsafe target + row * foreign.width
            if foreign.depth > 8 {
                let words = unsafe UnsafeRawPointer(from).assumingMemoryBound(to: UInt16.self)
                unsafe cr_narrow(words, foreign.width, Int32(foreign.depth), isFullRange ? 1 : 0, to)
            } else {
                unsafe to.update(from: from, count: foreign.width)
            }
        }
        return unsafe Copy(
            base: target, stride: foreign.width,
            plane: Plane(target, stride: foreign.width, width: foreign.width, height: foreign.height))
    }
}
