/// Chromaticities of a colour space's white and primaries, CIE 1931 x and y.
struct Primaries: Equatable {
    var white: (x: Double, y: Double)
    var red: (x: Double, y: Double)
    var green: (x: Double, y: Double)
    var blue: (x: Double, y: Double)

    static let sRGB = Primaries(0.3127, 0.3290, 0.64, 0.33, 0.30, 0.60, 0.15, 0.06)

    init(
        _ whiteX: Double, _ whiteY: Double, _ redX: Double, _ redY: Double, _ greenX: Double, _ greenY: Double,
        _ blueX: Double, _ blueY: Double
    ) {
        white = (whiteX, whiteY)
        red = (redX, redY)
        green = (greenX, greenY)
        blue = (blueX, blueY)
    }

    /// By ColourPrimaries of ITU-T H.273, table 2; nil when unspecified or unknown.
    init?(codePoint: Int) {
        switch codePoint {
        case 1: self = .sRGB
        case 4: self.init(0.310, 0.316, 0.67, 0.33, 0.21, 0.71, 0.14, 0.08)
        case 5: self.init(0.3127, 0.3290, 0.64, 0.33, 0.29, 0.60, 0.15, 0.06)
        case 6, 7: self.init(0.3127, 0.3290, 0.630, 0.340, 0.310, 0.595, 0.155, 0.070)
        case 8: self.init(0.310, 0.316, 0.681, 0.319, 0.243, 0.692, 0.145, 0.049)
        case 9: self.init(0.3127, 0.3290, 0.708, 0.292, 0.170, 0.797, 0.131, 0.046)
        case 11: self.init(0.314, 0.351, 0.680, 0.320, 0.265, 0.690, 0.150, 0.060)
        case 12: self.init(0.3127, 0.3290, 0.680, 0.320, 0.265, 0.690, 0.150, 0.060)
        case 22: self.init(0.3127, 0.3290, 0.630, 0.340, 0.295, 0.605, 0.155, 0.077)
        default: return nil
        }
    }

    static func == (left: Primaries, right: Primaries) -> Bool {
        left.white == right.white && left.red == right.red && left.green == right.green && left.blue == right.blue
    }

    /// Linear RGB to CIE XYZ with white at Y = 1; nil when the primaries do not span a plane.
    var toXYZ: Matrix3? {
        func column(_ point: (x: Double, y: Double)) -> [Double]? {
            point.y > 0 ? [point.x / point.y, 1, (1 - point.x - point.y) / point.y] : nil
        }
        guard let red = column(red), let green = column(green), let blue = column(blue), let white = column(white)
        else { return nil }
        let unscaled = Matrix3([red[0], green[0], blue[0], red[1], green[1], blue[1], red[2], green[2], blue[2]])
        guard let inverse = unscaled.inverse else { return nil }
        let gains = inverse.applied(to: white)
        return Matrix3((0..<9).map { unscaled.values[$0] * gains[$0 % 3] })
    }
}

/// Three by three, row by row.
struct Matrix3 {
    var values: [Double]

    /// - Precondition: nine values.
    init(_ values: [Double]) {
        precondition(values.count == 9)
        self.values = values
    }

    var inverse: Matrix3? {
        let m = values
        let cofactors = [
            m[4] * m[8] - m[5] * m[7], m[2] * m[7] - m[1] * m[8], m[1] * m[5] - m[2] * m[4],
            m[5] * m[6] - m[3] * m[8], m[0] * m[8] - m[2] * m[6], m[2] * m[3] - m[0] * m[5],
            m[3] * m[7] - m[4] * m[6], m[1] * m[6] - m[0] * m[7], m[0] * m[4] - m[1] * m[3],
        ]
        let determinant = m[0] * cofactors[0] + m[1] * cofactors[3] + m[2] * cofactors[6]
        guard abs(determinant) > 1e-12 else { return nil }
        return Matrix3(cofactors.map { $0 / determinant })
    }

    func applied(to vector: [Double]) -> [Double] {
        (0..<3).map { row in (0..<3).reduce(0) { $0 + values[3 * row + $1] * vector[$1] } }
    }

    func times(_ other: Matrix3) -> Matrix3 {
        var product = [Double](repeating: 0, count: 9)
        for row in 0..<3 {
            for column in 0..<3 {
                for inner in 0..<3 {
                    product[3 * row + column] += values[3 * row + inner] * other.values[3 * inner + column]
                }
            }
        }
        return Matrix3(product)
    }
}
