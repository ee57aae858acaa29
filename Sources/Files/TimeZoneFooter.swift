import PhotoModel

/// The rule by which a zone goes on behind the last change that its file lists, as `CET-1CEST,M3.5.0,M10.5.0/3` (POSIX, 8.3
/// `TZ`, with RFC 8536's hours of -167 to 167). Files of the slim kind, the usual one but on Debian, list no change that the
/// rule gives as well.
struct TimeZoneFooter: Sendable {
    /// A day of each year.
    private enum Day {
        /// 1...365, the 29th of February not counted.
        case withoutLeapDay(Int)
        /// 0...365
        case plain(Int)
        /// The 5th week is the month's last; day 0 is Sunday.
        case week(month: Int, week: Int, day: Int)
    }

    /// When the clock changes, seconds of the wall clock from that day's midnight.
    private typealias Change = (day: Day, seconds: Int)

    /// Seconds east, in winter or the whole year.
    private let standard: Int
    private let summer: (east: Int, begin: Change, end: Change)?

    /// nil for a text that is none of the kind; an empty one, too, which says that nobody knows.
    init?(_ text: some Sequence<UInt8>) {
        var reader = Reader(rest: Array(text)[...])
        guard reader.skipName(), let west = reader.time() else { return nil }
        standard = -west
        guard !reader.rest.isEmpty else {
            summer = nil
            return
        }
        guard reader.skipName() else { return nil }
        var east = standard + 3600
        if reader.rest.first != UInt8(ascii: ",") {
            guard let west = reader.time() else { return nil }
            east = -west
        }
        guard let begin = reader.change(), let end = reader.change(), reader.rest.isEmpty else { return nil }
        summer = (east, begin, end)
    }

    /// Seconds east of UTC at a time in seconds since 1970.
    func offset(at seconds: Int64) -> Int {
        guard let summer else { return standard }
        let local = min(max(seconds, -(1 << 40)), 1 << 40) + Int64(standard)  // to the year 36,000, either way
        let year = WallTime(secondsSince1970: local).year
        // The last change up to then. When both come at once, as a summer time of the whole year has it, it begins.
        var last = (time: Int64.min, east: standard)
        for year in year - 1...year + 1 {
            let begin = Self.seconds(of: summer.begin, in: year) - Int64(standard)
            let end = Self.seconds(of: summer.end, in: year) - Int64(summer.east)
            if end <= seconds, end > last.time { last = (end, standard) }
            if begin <= seconds, begin >= last.time { last = (begin, summer.east) }
        }
        return last.east
    }

    /// As if its wall clock were UTC's.
    private static func seconds(of change: Change, in year: Int) -> Int64 {
        func midnight(_ month: Int, _ day: Int) -> Int64 { WallTime(year: year, month: month, day: day).secondsAsUTC }
        let leap = midnight(3, 1) - midnight(2, 1) == 29 * 86_400
        let start: Int64
        switch change.day {
        case .plain(let day): start = midnight(1, 1) + Int64(day) * 86_400
        case .withoutLeapDay(let day):
            start = midnight(1, 1) + Int64(leap && day >= 60 ? day : day - 1) * 86_400
        case .week(let month, let week, let day):
            let first = midnight(month, 1)
            let next = month == 12 ? midnight(12, 31) + 86_400 : midnight(month + 1, 1)
            // 1970 began on a Thursday, day 4.
            let weekday = Int(((first / 86_400 + 4) % 7 + 7) % 7)
            var found = first + Int64(((day - weekday + 7) % 7 + (week - 1) * 7) * 86_400)
            if found >= next { found -= 7 * 86_400 }
            start = found
        }
        return start + Int64(change.seconds)
    }

    private struct Reader {
        var rest: ArraySlice<UInt8>

        mutating func take(_ letter: UInt8) -> Bool {
            guard rest.first == letter else { return false }
            rest.removeFirst()
            return true
        }

        /// `CET`, or `<+0530>` for those that are no letters.
        mutating func skipName() -> Bool {
            if take(UInt8(ascii: "<")) {
                guard let end = rest.firstIndex(of: UInt8(ascii: ">")) else { return false }
                rest = rest[(end + 1)...]
                return true
            }
            let name = rest.prefix { UInt8(ascii: "a")...UInt8(ascii: "z") ~= $0 | 0x20 }
            rest = rest.dropFirst(name.count)
            return name.count >= 3
        }

        mutating func number(upTo limit: Int) -> Int? {
            let digits = rest.prefix { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
            guard !digits.isEmpty, digits.count <= 3 else { return nil }
            rest = rest.dropFirst(digits.count)
            let value = digits.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
            return value <= limit ? value : nil
        }

        /// `[+-]hh[:mm[:ss]]`, in seconds.
        mutating func time() -> Int? {
            let isNegative = take(UInt8(ascii: "-"))
            if !isNegative { _ = take(UInt8(ascii: "+")) }
            guard let hours = number(upTo: 167) else { return nil }
            var seconds = hours * 3600
            for unit in [60, 1] where take(UInt8(ascii: ":")) {
                guard let part = number(upTo: 59) else { return nil }
                seconds += part * unit
            }
            return isNegative ? -seconds : seconds
        }

        /// `,M3.5.0/2`, `,J60` or `,59`; at two o'clock unless it says otherwise.
        mutating func change() -> Change? {
            guard take(UInt8(ascii: ",")), let day = day() else { return nil }
            guard take(UInt8(ascii: "/")) else { return (day, 2 * 3600) }
            return time().map { (day, $0) }
        }

        private mutating func day() -> Day? {
            if take(UInt8(ascii: "J")) {
                guard let day = number(upTo: 365), day > 0 else { return nil }
                return .withoutLeapDay(day)
            }
            guard take(UInt8(ascii: "M")) else { return number(upTo: 365).map { .plain($0) } }
            guard let month = number(upTo: 12), month > 0, take(UInt8(ascii: ".")), let week = number(upTo: 5),
                week > 0,
                take(UInt8(ascii: ".")), let day = number(upTo: 6)
            else { return nil }
            return .week(month: month, week: week, day: day)
        }
    }
}
