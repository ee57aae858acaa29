/// A calendar date and time of day without zone, proleptic Gregorian: what a camera's clock showed.
package struct WallTime: Hashable, Sendable, Comparable, Codable {
    package var year: Int
    /// 1...12
    package var month: Int
    /// 1...31
    package var day: Int
    /// 0...23
    package var hour: Int
    package var minute: Int
    /// 0...60: cameras and leap seconds both exist.
    package var second: Int
    /// The digits after the point as EXIF SubSecTime writes them ("87" is 0.87 s); empty when unknown.
    package var subseconds: String

    package init(
        year: Int, month: Int, day: Int, hour: Int = 0, minute: Int = 0, second: Int = 0, subseconds: String = ""
    ) {
        self.year = year
        self.month = month
        self.day = day
        self.hour = hour
        self.minute = minute
        self.second = second
        self.subseconds = subseconds
    }

    /// The calendar time in UTC of a count of seconds (days-from-civil algorithm, era of 400 years).
    package init(secondsSince1970 seconds: Int64) {
        let days = Int(seconds >= 0 ? seconds / 86_400 : (seconds - 86_399) / 86_400)
        let rest = Int(seconds) - days * 86_400
        let shifted = days + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let marchMonth = (5 * dayOfYear + 2) / 153
        let month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
        self.init(
            year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month: month,
            day: dayOfYear - (153 * marchMonth + 2) / 5 + 1, hour: rest / 3600, minute: rest / 60 % 60,
            second: rest % 60)
    }

    /// Seconds since 1970-01-01T00:00:00 as if this were UTC.
    package var secondsAsUTC: Int64 {
        let shifted = month <= 2 ? year - 1 : year
        let era = (shifted >= 0 ? shifted : shifted - 399) / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return Int64(era * 146_097 + dayOfEra - 719_468) * 86_400 + Int64(hour * 3600 + minute * 60 + second)
    }

    /// Whether the fields name a day and time that exist.
    package var isValid: Bool {
        guard (1...12).contains(month), (0...23).contains(hour), (0...59).contains(minute), (0...60).contains(second)
        else { return false }
        let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        let days = [31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1]
        return (1...days).contains(day)
    }

    /// `2026-05-17T09:04:31`, and `.87` when sub-seconds are known.
    package var text: String {
        "\(padded(year, 4))-\(padded(month, 2))-\(padded(day, 2))T"
            + "\(padded(hour, 2)):\(padded(minute, 2)):\(padded(second, 2))"
            + (subseconds.isEmpty ? "" : "." + subseconds)
    }

    package static func < (left: WallTime, right: WallTime) -> Bool {
        if left.secondsAsUTC != right.secondsAsUTC { return left.secondsAsUTC < right.secondsAsUTC }
        return left.subseconds < right.subseconds
    }
}

/// `number` in decimal with at least `digits` digits.
package func padded(_ number: Int, _ digits: Int) -> String {
    let text = String(number.magnitude)
    let zeros = String(repeating: "0", count: max(0, digits - text.count))
    return (number < 0 ? "-" : "") + zeros + text
}
