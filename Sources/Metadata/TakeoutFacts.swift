import PhotoModel

/// What Google Takeout writes beside a photo: when it was taken, in UTC, and where.
enum TakeoutFacts {
    private static let time = "photoTakenTime/timestamp"
    /// What a person corrected, then what the photo had.
    private static let places = ["geoData", "geoDataExif"]

    static func add(_ source: ByteSource, to inspection: inout Inspection) {
        let wanted = places.flatMap { [$0 + "/latitude", $0 + "/longitude"] } + [time]
        let values = JSONWalk.values(source.bytes(at: 0, count: JSONWalk.limit), wanted: Set(wanted))
        // From the year 0 to 9999.
        if let seconds = values[time].flatMap({ Int64($0) }), (-62_167_219_200..<253_402_300_800).contains(seconds) {
            inspection.dates.append(
                CaptureDate(time: WallTime(secondsSince1970: seconds), source: .takeout, isUniversal: true))
        }
        for place in places {
            guard let latitude = values[place + "/latitude"].flatMap({ Double($0) }),
                let longitude = values[place + "/longitude"].flatMap({ Double($0) }), abs(latitude) <= 90,
                abs(longitude) <= 180, latitude != 0 || longitude != 0  // zeros stand for unknown
            else { continue }
            inspection.facts.latitude = latitude
            inspection.facts.longitude = longitude
            return
        }
    }
}
