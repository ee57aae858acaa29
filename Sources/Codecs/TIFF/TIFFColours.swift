import CResample
import PhotoModel

/// Makes rows of samples red, green and blue on white.
///
/// Safe: the caller lends rows of `count` pixels by ``TIFFLayout/samples`` samples, and room for 3 bytes a pixel.
@safe struct TIFFColours {
    private let layout: TIFFLayout
    /// From inks, or from CIE L*a*b*.
    private let transform: ProfileTransform?

    init(_ layout: TIFFLayout, transform: ProfileTransform?) {
        self.layout = layout
        self.transform = transform
    }

    /// - Parameter samples: of 8 bits; those of a table are its numbers.
    func convert(_ samples: UnsafePointer<UInt8>, count: Int, to rgb: UnsafeMutablePointer<UInt8>) {
        let step = layout.samples
        switch layout.colours {
        case .table(let table, _):
            unsafe table.withUnsafeBufferPointer { table in
                for x in 0..<count {
                    let number = unsafe 3 * Int(samples[x * step])
                    for place in 0..<3 { unsafe rgb[3 * x + place] = unsafe table[number + place] }
                }
            }
        case .rgb, .foreign:
            for x in 0..<count {
                for place in 0..<3 { unsafe rgb[3 * x + place] = unsafe samples[x * step + place] }
            }
        case .inks:
            var four: [UInt8] = []
            four.reserveCapacity(4 * count)
            for x in 0..<count {
                for place in 0..<4 { unsafe four.append(samples[x * step + place]) }
            }
            if let transform {
                unsafe transform.apply(four, to: rgb, count: count)
            } else {
                unsafe cr_cmyk_to_rgb(four, count, 0, rgb)
            }
        case .lab(let isSigned):
            for x in 0..<count {
                for place in 0..<3 {
                    let flip: UInt8 = isSigned && place > 0 ? 0x80 : 0
                    unsafe rgb[3 * x + place] = unsafe samples[x * step + place] ^ flip
                }
            }
            unsafe transform?.apply(rgb, to: rgb, count: count)
        }
        unsafe layOnWhite(samples, count, rgb)
    }

    private func layOnWhite(_ samples: UnsafePointer<UInt8>, _ count: Int, _ rgb: UnsafeMutablePointer<UInt8>) {
        let isWeighed: Bool
        switch layout.alpha {
        case .none: return
        case .unweighed: isWeighed = false
        case .weighed:
            // Inks that are weighed by alpha are what lies on white paper already.
            if case .inks = layout.colours { return }
            isWeighed = true
        }
        for x in 0..<count {
            let alpha = unsafe Int(samples[x * layout.samples + layout.alphaSample])
            for place in 3 * x..<3 * x + 3 {
                let colour = unsafe Int(rgb[place])
                let shown = isWeighed ? colour + 255 - alpha : (colour * alpha + 255 * (255 - alpha) + 127) / 255
                unsafe rgb[place] = UInt8(min(shown, 255))
            }
        }
    }
}
