internal import PhotoModel

/// Numbers with units, as the configuration writes them. Each returns nil for anything else, also for what does not
/// fit into 64 bits.
enum Units {
    static let durations: [(String, Int64)] = [
        ("ms", 1), ("s", 1000), ("min", 60_000), ("h", 3_600_000), ("d", 86_400_000),
    ]
    static let sizes: [(String, Int64)] = [
        ("B", 1),
        ("kB", 1000), ("MB", 1_000_000), ("GB", 1_000_000_000), ("TB", 1_000_000_000_000),
        ("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30), ("TiB", 1 << 40),
    ]
    static let pixels: [(String, Int64)] = [("px", 1), ("MP", 1_000_000), ("GP", 1_000_000_000)]

    /// `500ms`, `2s`, `5min`, `1h`, `2d`, `1h30min`, `0`.
    static func duration(_ text: String) -> Duration? {
        if text == "0" { return .zero }
        var rest = Substring(text)
        var total: Int64 = 0
        var smallest = Int64.max  // units of a sum have to fall: `1h30min`, not `30min1h`
        repeat {
            guard let (milliseconds, unit) = leading(&rest, durations), unit < smallest else { return nil }
            let (sum, overflow) = total.addingReportingOverflow(milliseconds)
            guard !overflow else { return nil }
            total = sum
            smallest = unit
        } while !rest.isEmpty
        return .milliseconds(total)
    }

    /// `64GiB`, `1GB`, `500 MB`, `0`.
    static func size(_ text: String) -> ByteCount? { single(text, sizes).map(ByteCount.init) }

    /// `400MP`, `2GP`.
    static func pixels(_ text: String) -> Pixels? { single(text, pixels).map(Pixels.init) }

    private static func single(_ text: String, _ units: [(String, Int64)]) -> Int64? {
        if text == "0" { return 0 }
        var rest = Substring(text)
        guard let (value, _) = leading(&rest, units), rest.isEmpty else { return nil }
        return value
    }

    /// Takes `digits`, one space at most, and a unit off the front.
    private static func leading(_ text: inout Substring, _ units: [(String, Int64)]) -> (value: Int64, unit: Int64)? {
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        guard let number = Int64(digits) else { return nil }
        text = text.dropFirst(digits.count)
        if text.first == " " { text = text.dropFirst() }
        let name = text.prefix { $0.isASCII && $0.isLetter }
        guard let unit = units.first(where: { $0.0 == name })?.1 else { return nil }
        text = text.dropFirst(name.count)
        let (value, overflow) = number.multipliedReportingOverflow(by: unit)
        return overflow ? nil : (value, unit)
    }

    /// The way a person would have written it; for messages about ranges.
    static func shown(_ duration: Duration) -> String {
        let milliseconds = duration.components.seconds * 1000 + duration.components.attoseconds / 1_000_000_000_000_000
        if milliseconds == 0 { return "0" }
        let fitting = durations.last { milliseconds % $0.1 == 0 }
        return fitting.map { "\(milliseconds / $0.1)\($0.0)" } ?? "\(milliseconds)ms"
    }

    static func shown(_ size: ByteCount) -> String { shown(size.bytes, sizes) }

    static func shown(_ count: Pixels) -> String { shown(count.count, pixels) }

    /// With the largest unit that leaves no rest.
    private static func shown(_ value: Int64, _ units: [(String, Int64)]) -> String {
        if value == 0 { return "0" }
        let fitting = units.filter { value % $0.1 == 0 }.max { $0.1 < $1.1 }
        return fitting.map { "\(value / $0.1)\($0.0)" } ?? "\(value)"
    }
}
