import PhotoModel

/// The transformative properties of an image item (ISO/IEC 23008-12, 6.5.10 to 6.5.12 and ISO/IEC 14496-12, 12.1.4), to
/// be applied in their order.
enum Transform: Equatable {
    /// Quarter turns anticlockwise, 0...3.
    case rotation(Int)
    /// 0: top and bottom change places; 1: left and right do.
    case mirror(Int)
    /// Clean aperture: width, height, horizontal and vertical offset of its centre, each numerator and denominator.
    case crop([Int])
}

extension PlanarPicture {
    /// Applies the transforms to ``window`` and ``orientation``: no pixel moves.
    ///
    /// - Returns: false when a crop made no sense and was left out.
    mutating func apply(_ transforms: [Transform]) -> Bool {
        var isSound = true
        for transform in transforms {
            switch transform {
            case .rotation(let turns):
                // Anticlockwise: EXIF calls a quarter 8, a half 3, three quarters 6.
                orientation = orientation.then(Orientation(exif: [1, 8, 3, 6][turns & 3]))
            case .mirror(let axis): orientation = orientation.then(Orientation(exif: axis == 0 ? 4 : 2))
            case .crop(let numbers):
                if let shown = Self.aperture(numbers, in: shownSize) { crop(to: shown) } else { isSound = false }
            }
        }
        return isSound
    }

    /// Whole pixels inside the aperture; nil when it is empty, reaches outside, or divides by zero.
    private static func aperture(_ numbers: [Int], in size: PixelSize) -> Window? {
        guard numbers.count == 8, [1, 3, 5, 7].allSatisfy({ numbers[$0] > 0 }) else { return nil }
        func fraction(_ at: Int) -> Double { Double(numbers[at]) / Double(numbers[at + 1]) }
        let (width, height) = (fraction(0).rounded(.down), fraction(2).rounded(.down))
        guard width >= 1, height >= 1, width <= Double(size.width), height <= Double(size.height) else { return nil }
        let left = (Double(size.width) - fraction(0)) / 2 + fraction(4)
        let top = (Double(size.height) - fraction(2)) / 2 + fraction(6)
        guard left > -1, top > -1, left + width < Double(size.width) + 1, top + height < Double(size.height) + 1 else {
            return nil
        }
        return Window(
            x: min(max(Int(left.rounded(.down)), 0), size.width - Int(width)),
            y: min(max(Int(top.rounded(.down)), 0), size.height - Int(height)), width: Int(width), height: Int(height))
    }

    /// `shown` counts in the upright picture, ``window`` in the stored one.
    private mutating func crop(to shown: Window) {
        let part =
            orientation.swapsAxes
            ? Window(x: shown.y, y: shown.x, width: shown.height, height: shown.width) : shown
        window = Window(
            x: window.x + (orientation.flipsX ? window.width - part.x - part.width : part.x),
            y: window.y + (orientation.flipsY ? window.height - part.y - part.height : part.y), width: part.width,
            height: part.height)
    }
}
