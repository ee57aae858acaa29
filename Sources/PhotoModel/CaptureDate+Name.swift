extension CaptureDate {
    /// The time that phones and cameras write into file names, or nil.
    ///
    /// Understood are a date `20180725`, `2018-07-25`, `2018_07_25` or `2018.07.25`, and after at most four other
    /// characters (`_`, `-`, ` `, `T`, ` at `) a time `163423`, `16-34-23`, `16.34.23`, with milliseconds when three
    /// digits follow at once: `IMG_20180725_163423`, `PXL_20230706_101112123`, `Screenshot 2023-05-17 at 09.04.31`,
    /// `IMG-20200101-WA0001`. A date without a time is that day's midnight.
    package static func wallTime(inName name: Path) -> WallTime? {
        let stem = name.stem.bytes
        for start in stem.indices where start == 0 || !isDigit(stem[start - 1]) {
            var position = start
            guard let time = date(in: stem, at: &position) else { continue }
            return withTimeOfDay(time, in: stem, after: position) ?? time
        }
        return nil
    }

    private static func date(in stem: [UInt8], at position: inout Int) -> WallTime? {
        guard let year = number(in: stem, at: &position, digits: 4), (1990...2199).contains(year) else { return nil }
        let separator = takeSeparator(in: stem, at: &position, of: "-_.")
        guard let month = number(in: stem, at: &position, digits: 2) else { return nil }
        guard takeSeparator(in: stem, at: &position, of: "-_.") == separator else { return nil }
        guard let day = number(in: stem, at: &position, digits: 2) else { return nil }
        let time = WallTime(year: year, month: month, day: day)
        // `20180725163423` is a date and time; any other digit after the day means that this was no date.
        let digitsAfter = stem[position...].prefix(while: isDigit).count
        return time.isValid && (digitsAfter == 0 || digitsAfter == 6) ? time : nil
    }

    private static func withTimeOfDay(_ date: WallTime, in stem: [UInt8], after end: Int) -> WallTime? {
        let gap = stem[end...].prefix(4).prefix { !isDigit($0) }.count
        var position = end + gap
        guard let hour = number(in: stem, at: &position, digits: 2) else { return nil }
        let separator = takeSeparator(in: stem, at: &position, of: "-_.:")
        guard let minute = number(in: stem, at: &position, digits: 2) else { return nil }
        guard takeSeparator(in: stem, at: &position, of: "-_.:") == separator else { return nil }
        guard let second = number(in: stem, at: &position, digits: 2) else { return nil }
        var time = WallTime(
            year: date.year, month: date.month, day: date.day, hour: hour, minute: minute, second: second)
        let rest = stem[position...].prefix(while: isDigit)
        if rest.count == 3 { time.subseconds = String(decoding: rest, as: UTF8.self) }
        return time.isValid && (rest.isEmpty || rest.count == 3) ? time : nil
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (48...57).contains(byte) }

    private static func number(in stem: [UInt8], at position: inout Int, digits: Int) -> Int? {
        guard position + digits <= stem.count else { return nil }
        let slice = stem[position..<position + digits]
        guard slice.allSatisfy(isDigit) else { return nil }
        position += digits
        return slice.reduce(0) { $0 * 10 + Int($1) - 48 }
    }

    private static func takeSeparator(in stem: [UInt8], at position: inout Int, of allowed: String) -> UInt8? {
        guard position < stem.count, allowed.utf8.contains(stem[position]) else { return nil }
        position += 1
        return stem[position - 1]
    }
}
