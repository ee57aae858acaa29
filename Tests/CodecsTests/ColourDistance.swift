import Glibc
import TestSupport
import Testing

/// CIE L*a*b* of an sRGB colour, by the white D65 (CIE 15:2018, 8.2.1 and IEC 61966-2-1), and how far two are apart.
struct LabColour {
    var lightness: Double
    var a: Double
    var b: Double

    /// - Parameter rgb: 0...255.
    init(_ rgb: [Double]) {
        let linear = rgb.map { value in
            let code = value / 255
            return code <= 0.04045 ? code / 12.92 : pow((code + 0.055) / 1.055, 2.4)
        }
        func root(_ red: Double, _ green: Double, _ blue: Double) -> Double {
            let ratio = red * linear[0] + green * linear[1] + blue * linear[2]
            return ratio > 216.0 / 24389 ? cbrt(ratio) : (24389.0 / 27 * ratio + 16) / 116
        }
        // sRGB's matrix, each row divided by the white's X, Y, Z.
        let x = root(0.4124 / 0.9505, 0.3576 / 0.9505, 0.1805 / 0.9505)
        let y = root(0.2126, 0.7152, 0.0722)
        let z = root(0.0193 / 1.0890, 0.1192 / 1.0890, 0.9505 / 1.0890)
        (lightness, a, b) = (116 * y - 16, 500 * (x - y), 200 * (y - z))
    }

    /// ΔE of 1976: 2.3 is what an eye just notices.
    func distance(to other: LabColour) -> Double {
        let (l, a, b) = (lightness - other.lightness, a - other.a, b - other.b)
        return (l * l + a * a + b * b).squareRoot()
    }
}

/// A card of even patches, each a colour, 16 pixels wide and high: so large that neither 4:2:0 nor blocks mix them.
struct Patches {
    /// Of each patch as many numbers as there are channels, 0...255.
    let colours: [[Int]]
    static let across = 25
    static let side = 16

    var width: Int { Self.across * Self.side }
    var height: Int { (colours.count + Self.across - 1) / Self.across * Self.side }

    /// Every combination of `levels` in `channels`, up to full strength.
    init(channels: Int, levels: Int) {
        var all: [[Int]] = [[]]
        for _ in 0..<channels {
            all = all.flatMap { head in (0..<levels).map { head + [$0 * 255 / (levels - 1)] } }
        }
        colours = all
    }

    /// Samples side by side, without gaps.
    var samples: [UInt8] {
        (0..<width * height).flatMap { at -> [UInt8] in
            let number = at / width / Self.side * Self.across + at % width / Self.side
            return colours[min(number, colours.count - 1)].map { UInt8($0) }
        }
    }

    /// How far the middles of the patches of a preview are from `wanted`, 0...255 of sRGB.
    func distances(of preview: [UInt8], from wanted: [[Double]]) throws -> [Double] {
        let card = try Card(jpeg: preview)
        try #require(card.width == width && card.height == height && wanted.count == colours.count)
        return colours.indices.map { number in
            let x = number % Self.across * Self.side + Self.side / 2
            let y = number / Self.across * Self.side + Self.side / 2
            let (red, green, blue) = card[x, y]
            return LabColour([Double(red), Double(green), Double(blue)]).distance(to: LabColour(wanted[number]))
        }
    }

    /// What transicc makes of the patches: to sRGB, relative colorimetric, black point compensated, in floating point.
    /// nil, said aloud, without it.
    func converted(by profile: String, in shop: Workshop) throws -> [[Double]]? {
        guard let tool = Programs.tool("transicc") else {
            print("skipped: colours against another conversion (transicc is not installed)")
            return nil
        }
        // It takes inks as percents.
        let lines = colours.map { colour in
            colour.map { colour.count == 4 ? "\(Double($0) / 2.55)" : "\($0)" }.joined(separator: " ") + "\n"
        }
        try shop.put(Array(lines.joined().utf8), "colours.txt")
        let outcome = try Programs.run(
            "/bin/sh",
            ["-c", "\"$1\" -n -s -t1 -b -i\"$2\" < \"$3\"", "sh", tool, profile, shop.path("colours.txt")])
        let numbers = outcome.output.split(whereSeparator: \.isWhitespace).compactMap { Double($0) }
        try #require(numbers.count == 3 * colours.count, "\(outcome.errors)")
        return stride(from: 0, to: numbers.count, by: 3).map { Array(numbers[$0..<$0 + 3]) }
    }
}
