/// A time at which a shot may have been taken, and who says so.
package struct CaptureDate: Hashable, Sendable {
    /// As the camera's clock showed it, where the photo was taken.
    package var time: WallTime
    /// `+02:00`; nil when the file does not tell.
    package var offset: String?
    package var source: DateSource
    /// ``time`` is UTC, and nothing tells what the clock on the wall showed: so movies have it.
    package var isUniversal: Bool
    /// ``time`` was UTC in the file, or at least was written as such, and ``offset`` is that of a zone that was assumed.
    package var isZoneAssumed = false

    package init(time: WallTime, offset: String? = nil, source: DateSource, isUniversal: Bool = false) {
        self.time = time
        self.offset = offset
        self.source = source
        self.isUniversal = isUniversal
    }

    /// With a wall clock's time in place of UTC.
    ///
    /// - Parameter offset: seconds east of Greenwich at a time in seconds since 1970.
    package func local(offset: (Int64) -> Int) -> CaptureDate {
        guard isUniversal else { return self }
        let seconds = time.secondsAsUTC
        // Whole minutes, as offsets are written; before 1900 some zones had seconds.
        let shift = offset(seconds) / 60 * 60
        var local = WallTime(secondsSince1970: seconds + Int64(shift))
        local.subseconds = time.subseconds
        let minutes = Int(shift.magnitude / 60)
        let text = (shift < 0 ? "-" : "+") + padded(minutes / 60, 2) + ":" + padded(minutes % 60, 2)
        var date = CaptureDate(time: local, offset: text, source: source)
        date.isZoneAssumed = true
        return date
    }

    /// Which time counts: the best plausible one of the file, else the one in its name, else its mtime. DESIGN section 8.
    ///
    /// - Parameter modified: the source's mtime as local wall time; taken whatever it says, for there is nothing after it.
    package static func choose(
        from dates: [CaptureDate], name: Path, modified: WallTime, now: Timestamp
    ) -> CaptureDate {
        for source in DateSource.precedence {
            if let date = dates.first(where: { $0.source == source && $0.isPlausible(now: now) }) { return date }
        }
        if let time = wallTime(inName: name) {
            let date = CaptureDate(time: time, source: .filename)
            if date.isPlausible(now: now) { return date }
        }
        return CaptureDate(time: modified, source: .mtime)
    }

    /// The time that a file says first, when it is not believed: kept beside the one that counts, so that a person can see
    /// what the camera said. Zeros are how EXIF writes that there is none.
    package static func implausible(in dates: [CaptureDate], now: Timestamp) -> CaptureDate? {
        for source in DateSource.precedence {
            let said = dates.first { $0.source == source && ($0.time.year, $0.time.month, $0.time.day) != (0, 0, 0) }
            if let said { return said.isPlausible(now: now) ? nil : said }
        }
        return nil
    }

    /// Whether a camera can have meant it: a time that exists, not before 1990, not more than a day in the future.
    ///
    /// A dead clock battery writes 1970, 1980 or zeros; without an offset the zone's up to 14 hours lie within the day.
    package func isPlausible(now: Timestamp) -> Bool {
        guard time.isValid, time.year >= 1990, time.year <= 9999 else { return false }
        let seconds = time.secondsAsUTC - Int64(offset.flatMap(CaptureDate.seconds(ofOffset:)) ?? 0)
        return seconds <= now.nanoseconds / 1_000_000_000 + 86_400
    }

    /// Seconds east of Greenwich of `+02:00`, `-0930`, `Z`, and what some cameras make of it, `+2:00` and `+02:00:00`; nil for
    /// anything else, or beyond 15 hours.
    package static func seconds(ofOffset text: String) -> Int? {
        if text == "Z" { return 0 }
        guard let sign = text.utf8.first, sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") else { return nil }
        let body = text.utf8.dropFirst()
        var parts = body.split(separator: UInt8(ascii: ":"), maxSplits: 3, omittingEmptySubsequences: false)
        if parts.count == 1, body.count == 4 { parts = [body.prefix(2), body.suffix(2)] }
        if parts.count == 3, parts[2].elementsEqual("00".utf8) { parts.removeLast() }
        guard parts.count == 2, (1...2).contains(parts[0].count), parts[1].count == 2,
            parts.joined().allSatisfy({ (48...57).contains($0) })
        else { return nil }
        let values = parts.map { $0.reduce(0) { $0 * 10 + Int($1) - 48 } }
        guard values[0] <= 15, values[1] < 60 else { return nil }
        return (sign == UInt8(ascii: "-") ? -1 : 1) * (values[0] * 3600 + values[1] * 60)
    }

    /// `+02:00` for any form that ``seconds(ofOffset:)`` understands; nil for others.
    package static func normalized(offset text: String) -> String? {
        guard let seconds = seconds(ofOffset: text) else { return nil }
        let minutes = seconds.magnitude / 60
        return (seconds < 0 ? "-" : "+") + padded(Int(minutes / 60), 2) + ":" + padded(Int(minutes % 60), 2)
    }
}
