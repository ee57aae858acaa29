import CResample
import Metadata
import PhotoModel

/// From decoded planes to a finished JPEG: scaled, turned, in the right colours, encoded. Owns the buffers for it.
///
/// Two ways. When the planes are JPEG's kind of YCbCr and no colour changes, each is scaled on its own to 4:2:0 and
/// encoded; no RGB anywhere. Otherwise they are scaled to full resolution, made RGB, converted, and made 4:2:0: only the
/// preview's few pixels pass through colour management, never the photo's many.
final class PreviewComposer {
    private let scaler = PlaneScaler()
    private let planner = ColourPlanner()
    private let encoder: JPEGEncoder
    private let planes = PlaneBuffer()
    private let fullPlanes = PlaneBuffer()
    private let pixels = PlaneBuffer()
    private let opacity = PlaneBuffer()
    /// What goes along with an export.
    var carried: CarriedMetadata?

    init() throws(CodecFailure) { encoder = try JPEGEncoder() }

    func compose(_ decoded: DecodedPicture, spec: PreviewSpec) throws(CodecFailure) -> EncodedPreview {
        let picture = decoded.picture
        let plan = planner.plan(for: picture.space, isGrey: picture.chroma == nil, colour: spec.colour)
        let size = PreviewGeometry.size(of: picture.shownSize, maxSize: max(spec.maxSize, 1))
        if let export = spec.export, let carried {
            return try self.export(decoded, plan, size: size, export, carried)
        }
        let jpeg = try encode(picture, plan, size: size, quality: spec.quality)
        var renditions: [(jpeg: [UInt8], size: PixelSize)] = []
        for rendition in spec.renditions {
            let size = PreviewGeometry.size(of: picture.shownSize, rendition)
            let part = rendition.crop == .square ? picture.squared : picture
            renditions.append((try encode(part, plan, size: size, quality: spec.quality), size))
        }
        let notes = [decoded.warning, plan.warning].compactMap { $0 }
        return EncodedPreview(
            jpeg: jpeg, size: size, isPartial: decoded.isPartial,
            warning: notes.isEmpty ? nil : notes.joined(separator: "; "), renditions: renditions)
    }

    private func encode(
        _ picture: PlanarPicture, _ plan: ColourPlan, size: PixelSize, quality: Int
    ) throws(CodecFailure) -> [UInt8] {
        guard size.width < 65_536, size.height < 65_536 else {  // all a JPEG can be
            throw CodecFailure(.encode, "a preview of \(size.width) x \(size.height) pixels cannot be a JPEG")
        }
        return try encoder.encode(try target(picture, plan, size), quality: quality, profile: plan.embedded)
    }

    private func target(
        _ picture: PlanarPicture, _ plan: ColourPlan, _ size: PixelSize
    ) throws(CodecFailure) -> JPEGPlanes {
        // Whole pairs of rows and columns, as 4:2:0 has them.
        let target = try JPEGPlanes(size: size, in: planes)
        switch plan.step {
        case .none where picture.coding.hasJFIFWeights, .grey where picture.coding.hasJFIFWeights:
            try composeDirectly(picture, plan, size: size, into: target)
        case .none, .grey, .transform, .toneMap:
            try composeThroughRGB(picture, plan, size: size, into: target)
        }
        return target
    }

    private func export(
        _ decoded: DecodedPicture, _ plan: ColourPlan, size: PixelSize, _ spec: ExportSpec, _ carried: CarriedMetadata
    ) throws(CodecFailure) -> EncodedPreview {
        guard max(size.width, size.height) <= ExportSpec.mostSide else {
            throw CodecFailure(.encode, "a side of \(max(size.width, size.height)) pixels is too long; give a size")
        }
        let picture = decoded.picture
        let export = unsafe PictureExport(
            spec: spec, carried: carried,
            planes: { size throws(CodecFailure) in try self.target(picture, plan, size) },
            rows: { size throws(CodecFailure) in
                let alpha = try unsafe self.composeAlpha(picture, size: size)
                let rgb = try unsafe self.composeRGB(picture, plan, size: size, alpha: alpha)
                return unsafe (UnsafePointer(rgb), alpha.map { unsafe UnsafePointer($0) })
            },
            encoder: encoder, profile: plan.embedded)
        let (bytes, made) = try export.run(from: size)
        return EncodedPreview(jpeg: bytes, size: made, isPartial: decoded.isPartial, warning: decoded.warning)
    }

    /// Gives back what only a huge photo needed.
    func trim(to limit: Int) {
        scaler.trim(to: limit)
        fullPlanes.trim(to: limit)
        opacity.trim(to: limit)
        pixels.trim(to: limit)
        planes.trim(to: limit)
    }

    private func composeDirectly(
        _ picture: PlanarPicture, _ plan: ColourPlan, size: PixelSize, into target: JPEGPlanes
    ) throws(CodecFailure) {
        let luma = PixelSize(width: target.lumaStride, height: target.lumaRows)
        let chroma = PixelSize(width: target.chromaStride, height: target.chromaRows)
        try unsafe scaler.scale(
            picture.first, of: picture, subsampling: (1, 1), to: size, targetSampling: 1, count: luma,
            into: target.luma, stride: target.lumaStride)
        if let (blue, red) = picture.chroma {
            for unsafe(plane, to) in unsafe [(blue, target.blue), (red, target.red)] {
                try unsafe scaler.scale(
                    plane, of: picture, subsampling: picture.subsampling, to: size, targetSampling: 2, count: chroma,
                    into: to, stride: target.chromaStride)
            }
        } else {
            unsafe target.blue.update(repeating: 128, count: target.chromaCount)
            unsafe target.red.update(repeating: 128, count: target.chromaCount)
        }
        if !picture.coding.isFullRange {
            unsafe cr_lookup(target.luma, target.lumaCount, ColourCoding.expandedLuma)
            if picture.chroma != nil {
                unsafe cr_lookup(target.blue, target.chromaCount, ColourCoding.expandedChroma)
                unsafe cr_lookup(target.red, target.chromaCount, ColourCoding.expandedChroma)
            }
        }
        if case .grey(let table) = plan.step { unsafe cr_lookup(target.luma, target.lumaCount, table) }
    }

    /// nil where there is none, or all of it is opaque.
    private func composeAlpha(
        _ picture: PlanarPicture, size: PixelSize
    ) throws(CodecFailure) -> UnsafeMutablePointer<UInt8>? {
        guard let plane = picture.alpha else { return nil }
        let count = size.width * size.height
        let alpha = try unsafe opacity.reserve(count)
        // Its own number of samples: where alpha is coded apart it may have another than the colours.
        let factors = (
            horizontal: max(1, (picture.first.width + plane.width / 2) / max(1, plane.width)),
            vertical: max(1, (picture.first.height + plane.height / 2) / max(1, plane.height))
        )
        try unsafe scaler.scale(
            plane, of: picture, subsampling: factors, to: size, targetSampling: 1, count: size, into: alpha,
            stride: size.width)
        return unsafe (0..<count).contains { unsafe alpha[$0] < 255 } ? alpha : nil
    }

    /// The colours that lie on white in `rgb`, as they are without it. Scaled on white they are weighed as they should be.
    private func liftOffWhite(_ rgb: UnsafeMutablePointer<UInt8>, _ alpha: UnsafePointer<UInt8>, count: Int) {
        for pixel in 0..<count {
            let weight = unsafe Int(alpha[pixel])
            guard weight < 255 else { continue }
            for place in 3 * pixel..<3 * pixel + 3 {
                let dark = unsafe 255 - Int(rgb[place])
                unsafe rgb[place] = weight == 0 ? 255 : UInt8(255 - min(255, (dark * 255 + weight / 2) / weight))
            }
        }
    }

    private func composeRGB(
        _ picture: PlanarPicture, _ plan: ColourPlan, size: PixelSize, alpha: UnsafeMutablePointer<UInt8>? = nil
    ) throws(CodecFailure) -> UnsafeMutablePointer<UInt8> {
        let count = size.width * size.height
        let first = try unsafe fullPlanes.reserve(3 * count)
        let blue = unsafe first + count
        let red = unsafe blue + count
        try unsafe scaler.scale(
            picture.first, of: picture, subsampling: (1, 1), to: size, targetSampling: 1, count: size, into: first,
            stride: size.width)
        if let (bluePlane, redPlane) = picture.chroma {
            for unsafe(plane, to) in unsafe [(bluePlane, blue), (redPlane, red)] {
                try unsafe scaler.scale(
                    plane, of: picture, subsampling: picture.subsampling, to: size, targetSampling: 1, count: size,
                    into: to, stride: size.width)
            }
        }
        let rgb = try unsafe pixels.reserve(3 * count)
        if picture.chroma != nil, case .gbr(let isFullRange) = picture.coding {
            unsafe cr_interleave(red, first, blue, count, rgb)
            if !isFullRange { unsafe cr_lookup(rgb, 3 * count, ColourCoding.expandedLuma) }
        } else if picture.chroma != nil {
            var matrix = picture.coding.matrix
            unsafe cr_ycc_to_rgb(first, blue, red, count, &matrix, rgb)
        } else {
            if !picture.coding.isFullRange { unsafe cr_lookup(first, count, ColourCoding.expandedLuma) }
            unsafe cr_interleave(first, first, first, count, rgb)
        }
        if let alpha = unsafe alpha { unsafe liftOffWhite(rgb, alpha, count: count) }
        switch plan.step {
        case .none: break
        case .grey(let table): unsafe cr_lookup(rgb, 3 * count, table)
        case .transform(let transform): unsafe transform.apply(rgb, to: rgb, count: count)
        case .toneMap(let tones): unsafe tones.apply(to: rgb, count: count)
        }
        return unsafe rgb
    }

    private func composeThroughRGB(
        _ picture: PlanarPicture, _ plan: ColourPlan, size: PixelSize, into target: JPEGPlanes
    ) throws(CodecFailure) {
        let rgb = try unsafe composeRGB(picture, plan, size: size)
        for row in stride(from: 0, to: size.height, by: 2) {
            let upper = unsafe rgb + row * 3 * size.width
            let lower = unsafe row + 1 < size.height ? upper + 3 * size.width : upper
            let luma = unsafe target.luma + row * target.lumaStride
            let chroma = row / 2 * target.chromaStride
            unsafe cr_rgb_rows_to_420(
                upper, lower, Int32(size.width), luma, luma + target.lumaStride, target.blue + chroma,
                target.red + chroma)
        }
    }
}
