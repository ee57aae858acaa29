/// A number of bytes, 0 or more.
package struct ByteCount: Hashable, Sendable, Comparable {
    package var bytes: Int64
    package init(_ bytes: Int64) { self.bytes = bytes }
    package static let zero = ByteCount(0)
    package static func < (left: ByteCount, right: ByteCount) -> Bool { left.bytes < right.bytes }
    package static func kibi(_ count: Int64) -> ByteCount { ByteCount(count << 10) }
    package static func mebi(_ count: Int64) -> ByteCount { ByteCount(count << 20) }
    package static func gibi(_ count: Int64) -> ByteCount { ByteCount(count << 30) }
}

/// A number of pixels of one picture, width times height.
package struct Pixels: Hashable, Sendable, Comparable {
    package var count: Int64
    package init(_ count: Int64) { self.count = count }
    package static func < (left: Pixels, right: Pixels) -> Bool { left.count < right.count }
    package static func mega(_ count: Int64) -> Pixels { Pixels(count * 1_000_000) }
}

/// Width and height of a picture in pixels, as shown, each 1 or more.
package struct PixelSize: Hashable, Sendable, Codable {
    package var width: Int
    package var height: Int
    package init(width: Int, height: Int) {
        self.width = width
        self.height = height
    }
}

/// A point in time: nanoseconds since 1970-01-01T00:00:00Z, as clock_gettime(2) with CLOCK_REALTIME gives it.
package struct Timestamp: Hashable, Sendable, Comparable, Codable {
    package var nanoseconds: Int64
    package init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }
    package init(seconds: Int64) { nanoseconds = seconds &* 1_000_000_000 }
    package static func < (left: Timestamp, right: Timestamp) -> Bool { left.nanoseconds < right.nanoseconds }
    package static func + (time: Timestamp, duration: Duration) -> Timestamp {
        let (seconds, attoseconds) = duration.components
        return Timestamp(nanoseconds: time.nanoseconds + seconds * 1_000_000_000 + attoseconds / 1_000_000_000)
    }
    package static func - (left: Timestamp, right: Timestamp) -> Duration {
        .nanoseconds(left.nanoseconds - right.nanoseconds)
    }

    /// A whole number in JSON: nanoseconds.
    package init(from decoder: any Decoder) throws {
        nanoseconds = try decoder.singleValueContainer().decode(Int64.self)
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(nanoseconds)
    }

    /// RFC 3339 in UTC with milliseconds: `2026-05-17T07:04:31.870Z`.
    package var rfc3339: String {
        let seconds = nanoseconds >= 0 ? nanoseconds / 1_000_000_000 : (nanoseconds - 999_999_999) / 1_000_000_000
        let milliseconds = (nanoseconds - seconds * 1_000_000_000) / 1_000_000
        return WallTime(secondsSince1970: seconds).text + "." + padded(Int(milliseconds), 3) + "Z"
    }
}
