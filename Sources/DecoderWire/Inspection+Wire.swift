import PhotoModel

extension WireWriter {
    mutating func put(_ size: PixelSize) {
        put(UInt32(clamping: size.width))
        put(UInt32(clamping: size.height))
    }

    mutating func put(_ time: WallTime) {
        put(Int32(clamping: time.year))
        for field in [time.month, time.day, time.hour, time.minute, time.second] { put(Int16(clamping: field)) }
        put(time.subseconds)
    }

    mutating func put(_ date: CaptureDate) {
        put(date.time)
        put(optional: date.offset) { $0.put($1) }
        put(date.source.rawValue)
        put(date.isUniversal)
    }

    mutating func put(_ inspection: Inspection) {
        let facts = inspection.facts
        put(type: inspection.mediaType)
        for text in [facts.make, facts.model, facts.lens, facts.contentIdentifier] {
            put(optional: text) { $0.put($1) }
        }
        put(optional: facts.latitude) { $0.put($1) }
        put(optional: facts.longitude) { $0.put($1) }
        put(optional: facts.size) { $0.put($1) }
        put(UInt8(clamping: facts.orientation))
        put(facts.isScreenshot)
        let dates = inspection.dates.prefix(Wire.listLimit)
        put(UInt8(dates.count))
        for date in dates { put(date) }
        let notes = inspection.notes.prefix(Wire.listLimit)
        put(UInt8(notes.count))
        for note in notes { put(note) }
        put(inspection.endsEarly)
        put(optional: inspection.coding.stored) { $0.put($1) }
        put(UInt8(clamping: inspection.coding.sampleBytes))
        put(UInt16(clamping: inspection.coding.heldPerHundred))
        put(inspection.holdsVideo)
    }
}

extension WireReader {
    mutating func takeSize() throws(WireFault) -> PixelSize {
        PixelSize(
            width: try takeInt(UInt32.self, in: 1...Wire.sideLimit, "width"),
            height: try takeInt(UInt32.self, in: 1...Wire.sideLimit, "height"))
    }

    /// Any numbers go: whether they name a time is ``CaptureDate``'s question. Sub-seconds are digits only, since they
    /// enter file names.
    private mutating func takeTime() throws(WireFault) -> WallTime {
        var time = WallTime(year: try takeInt(Int32.self, in: 0...9999, "year"), month: 0, day: 0)
        time.month = try takeInt(Int16.self, in: 0...99, "month")
        time.day = try takeInt(Int16.self, in: 0...99, "day")
        time.hour = try takeInt(Int16.self, in: 0...99, "hour")
        time.minute = try takeInt(Int16.self, in: 0...99, "minute")
        time.second = try takeInt(Int16.self, in: 0...99, "second")
        time.subseconds = try takeText()
        guard time.subseconds.utf8.count <= 9, time.subseconds.utf8.allSatisfy({ (48...57).contains($0) }) else {
            throw .outOfRange("fraction of a second")
        }
        return time
    }

    private mutating func takeDate() throws(WireFault) -> CaptureDate {
        let time = try takeTime()
        let offset = try takeOptional { reader throws(WireFault) in try reader.takeText() }
        if let offset, CaptureDate.normalized(offset: offset) != offset { throw .outOfRange("offset") }
        guard let source = DateSource(rawValue: try takeText()) else { throw .outOfRange("source of a date") }
        return CaptureDate(time: time, offset: offset, source: source, isUniversal: try takeBool())
    }

    mutating func takeInspection() throws(WireFault) -> Inspection {
        var inspection = Inspection(mediaType: try takeType())
        inspection.facts.make = try takeOptional { reader throws(WireFault) in try reader.takeText() }
        inspection.facts.model = try takeOptional { reader throws(WireFault) in try reader.takeText() }
        inspection.facts.lens = try takeOptional { reader throws(WireFault) in try reader.takeText() }
        inspection.facts.contentIdentifier = try takeOptional { reader throws(WireFault) in try reader.takeText() }
        inspection.facts.latitude = try takeOptional { reader throws(WireFault) in
            try reader.takeDouble(in: -90...90, "latitude")
        }
        inspection.facts.longitude = try takeOptional { reader throws(WireFault) in
            try reader.takeDouble(in: -180...180, "longitude")
        }
        inspection.facts.size = try takeOptional { reader throws(WireFault) in try reader.takeSize() }
        inspection.facts.orientation = try takeInt(UInt8.self, in: 1...8, "orientation")
        inspection.facts.isScreenshot = try takeBool()
        for _ in 0..<(try takeInt(UInt8.self, in: 0...Wire.listLimit, "number of dates")) {
            inspection.dates.append(try takeDate())
        }
        for _ in 0..<(try takeInt(UInt8.self, in: 0...Wire.listLimit, "number of notes")) {
            inspection.notes.append(try takeText())
        }
        inspection.endsEarly = try takeBool()
        inspection.coding.stored = try takeOptional { reader throws(WireFault) in try reader.takeSize() }
        inspection.coding.sampleBytes = try takeInt(UInt8.self, in: 1...4, "width of a sample")
        inspection.coding.heldPerHundred = try takeInt(UInt16.self, in: 0...2000, "amount of what is held")
        inspection.holdsVideo = try takeBool()
        return inspection
    }
}
