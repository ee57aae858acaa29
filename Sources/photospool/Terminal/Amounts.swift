internal import Glibc
internal import PhotoModel

/// Numbers as people read them. JSON has the exact ones.
enum Amounts {
    /// `412 GiB`, `3.4 MiB`, `512 B`.
    static func bytes(_ count: Int64) -> String {
        let units = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"]
        if count < 1024 { return "\(max(0, count)) B" }
        var value = Double(count) / 1024
        var unit = 0
        while value >= 999.5 && unit < units.count - 1 {
            value /= 1024
            unit += 1
        }
        return "\(short(value)) \(units[unit])"
    }

    /// `1.2 of 3.4 MiB`: the unit once when both have it.
    static func bytes(_ done: Int64, of total: Int64) -> String {
        let (left, right) = (bytes(done), bytes(total))
        let unit = right.drop { $0 != " " }
        return left.hasSuffix(unit) ? "\(left.dropLast(unit.count)) of \(right)" : "\(left) of \(right)"
    }

    /// One digit after the point below ten.
    static func short(_ value: Double) -> String {
        if value >= 9.95 { return String(Int(value.rounded())) }
        let tenths = Int((value * 10).rounded())
        return "\(tenths / 10).\(tenths % 10)"
    }

    /// `1,204 photos`; the plural is made with an s.
    static func count(_ number: Int, _ word: String) -> String {
        "\(grouped(number)) \(number == 1 ? word : word + "s")"
    }

    /// `12,345`
    static func grouped(_ number: Int) -> String {
        var text = ""
        for (position, digit) in String(number.magnitude).reversed().enumerated() {
            if position > 0 && position % 3 == 0 { text.append(",") }
            text.append(digit)
        }
        return (number < 0 ? "-" : "") + String(text.reversed())
    }

    /// The two largest units that are not zero: `2 d 4 h`, `3 min 20 s`, `0 s`.
    static func duration(_ seconds: Int64) -> String {
        let parts = [
            (seconds / 86_400, "d"), (seconds / 3600 % 24, "h"), (seconds / 60 % 60, "min"), (seconds % 60, "s"),
        ]
        guard let first = parts.firstIndex(where: { $0.0 > 0 }) else { return "0 s" }
        return parts[first...].prefix(2).filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }.joined(separator: " ")
    }

    /// `just now`, `3 min ago`, `in 40 s`, and the local date and time when it is more than a day away.
    static func moment(_ rfc3339: String, now: Timestamp) -> String {
        guard let time = Timestamp(rfc3339: rfc3339) else { return SafeText.of(rfc3339) }
        let away = (time.nanoseconds - now.nanoseconds) / 1_000_000_000
        if away.magnitude >= 86_400 { return local(time) }
        if away > 0 { return "in " + largest(away) }
        return away > -5 ? "just now" : largest(-away) + " ago"
    }

    private static func largest(_ seconds: Int64) -> String {
        String(duration(seconds).split(separator: " ").prefix(2).joined(separator: " "))
    }

    /// `2026-05-17 09:04` in the zone of the person's machine.
    static func local(_ time: Timestamp) -> String {
        var seconds = time_t(time.nanoseconds / 1_000_000_000)
        var parts = unsafe tm()
        guard unsafe localtime_r(&seconds, &parts) != nil else { return time.rfc3339 }
        let shown = WallTime(
            year: Int(unsafe parts.tm_year) + 1900, month: Int(unsafe parts.tm_mon) + 1, day: Int(unsafe parts.tm_mday),
            hour: Int(unsafe parts.tm_hour), minute: Int(unsafe parts.tm_min))
        return String(shown.text.prefix(16)).replacing("T", with: " ")
    }
}

extension Timestamp {
    /// Of a time in UTC as ``rfc3339`` writes it; nil for anything else.
    init?(rfc3339 text: String) {
        let digits = text.utf8.split { !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        let numbers = digits.prefix(6).compactMap { Int(String(decoding: $0, as: UTF8.self)) }
        guard numbers.count == 6, text.hasSuffix("Z"), text.utf8.first != UInt8(ascii: "-") else { return nil }
        let time = WallTime(
            year: numbers[0], month: numbers[1], day: numbers[2], hour: numbers[3], minute: numbers[4],
            second: numbers[5])
        guard time.isValid else { return nil }
        self.init(seconds: time.secondsAsUTC)
    }

    /// By this machine's clock.
    static var now: Timestamp {
        var time = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &time)  // cannot fail for this clock
        return Timestamp(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }
}
