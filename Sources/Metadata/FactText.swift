import PhotoModel

/// Text of a file made fit to be a fact: no spaces around it, nothing harmful in it, not endless.
enum FactText {
    static let limit = 256

    /// nil when nothing is left. Bytes that are not UTF-8 become U+FFFD.
    static func clean(_ bytes: some Collection<UInt8>) -> String? {
        let blank: (UInt8) -> Bool = { $0 <= 0x20 }
        let body = bytes.drop(while: blank)
        var kept = Array(body)
        while let last = kept.last, blank(last) { kept.removeLast() }
        return kept.isEmpty ? nil : SafeText.of(String(decoding: kept, as: UTF8.self), limit: limit)
    }

    /// A time in the forms of EXIF (`2016:09:28 18:18:05`) and XMP (`2016-09-28T18:18:05.81+02:00`); nil when it is
    /// something else or blank. Numbers that name no time, as all zeros do, are kept: judging them is not done here.
    static func time(_ text: String) -> (time: WallTime, offset: String?)? {
        let bytes = Array(text.utf8)
        var position = 0
        func number(_ digits: Int) -> Int? {
            guard position + digits <= bytes.count else { return nil }
            let part = bytes[position..<position + digits]
            guard part.allSatisfy({ (48...57).contains($0) }) else { return nil }
            position += digits
            return part.reduce(0) { $0 * 10 + Int($1) - 48 }
        }
        func skip(_ allowed: String) -> Bool {
            guard position < bytes.count, allowed.utf8.contains(bytes[position]) else { return false }
            position += 1
            return true
        }
        guard let year = number(4), skip(":-/."), let month = number(2), skip(":-/."), let day = number(2) else {
            return nil
        }
        var time = WallTime(year: year, month: month, day: day)
        guard skip(" T") else { return position == bytes.count ? (time, nil) : nil }
        guard let hour = number(2), skip(":."), let minute = number(2) else { return nil }
        time.hour = hour
        time.minute = minute
        if skip(":."), let second = number(2) {
            time.second = second
            if skip(".") {
                let digits = bytes[position...].prefix { (48...57).contains($0) }
                position += digits.count
                time.subseconds = String(decoding: digits.prefix(9), as: UTF8.self)
            }
        }
        let rest = String(decoding: bytes[position...].prefix(9), as: UTF8.self)
        return (time, CaptureDate.normalized(offset: rest))
    }
}
