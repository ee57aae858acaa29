import PhotoModel

/// Facts out of an EXIF block: Exif 2.32 (CIPA DC-008), the GPS part of it, and of maker notes only what is needed.
struct ExifFacts {
    let block: TIFFBlock
    private let main: TIFFBlock.Directory
    let exif: TIFFBlock.Directory

    /// nil when there is not even a first directory.
    init?(_ block: TIFFBlock) {
        guard let main = block.directory(at: block.first) else { return nil }
        self.block = block
        self.main = main
        // Some files have the EXIF tags in the first directory, so CR3 does throughout.
        exif = block.integer(main.entries[0x8769]).flatMap { block.directory(at: $0) } ?? main
    }

    /// Adds what `inspection` does not know yet.
    func add(to inspection: inout Inspection) {
        for (source, tag, fraction, offset) in ExifFacts.times {
            guard !inspection.dates.contains(where: { $0.source == source }), let text = entryText(tag),
                let (read, inlineOffset) = FactText.time(text)
            else { continue }
            var time = read
            if let digits = entryText(fraction)?.utf8.prefix(while: { (48...57).contains($0) }), !digits.isEmpty {
                time.subseconds = String(decoding: digits.prefix(9), as: UTF8.self)
            }
            let own = entryText(offset).flatMap(CaptureDate.normalized(offset:))
            inspection.dates.append(CaptureDate(time: time, offset: own ?? inlineOffset, source: source))
        }
        inspection.facts.make = inspection.facts.make ?? block.text(main.entries[0x10F])
        inspection.facts.model = inspection.facts.model ?? block.text(main.entries[0x110])
        let lens = block.text(exif.entries[0xA434]).flatMap { Set($0) == ["-"] ? nil : $0 }
        inspection.facts.lens = inspection.facts.lens ?? lens ?? MakerNote.lens(self, exif)
        inspection.facts.contentIdentifier =
            inspection.facts.contentIdentifier ?? MakerNote.contentIdentifier(self, exif)
        if let comment = exif.entries[0x9286], isScreenshot(comment) { inspection.facts.isScreenshot = true }
        addPlace(to: &inspection.facts)
    }

    /// Each time has an offset and a fraction of its own; taking another's is wrong by hours.
    private static let times: [(source: DateSource, tag: UInt16, fraction: UInt16, offset: UInt16)] = [
        (.exifOriginal, 0x9003, 0x9291, 0x9011),
        (.exifDigitized, 0x9004, 0x9292, 0x9012),
        (.exifModified, 0x132, 0x9290, 0x9010),
    ]

    private func entryText(_ tag: UInt16) -> String? { block.text(exif.entries[tag] ?? main.entries[tag]) }

    /// 1...8; everything else, and every other type, counts as upright.
    var orientation: Int {
        guard let entry = main.entries[0x112], entry.type == 3 || entry.type == 4 else { return 1 }
        return block.integer(entry).flatMap { (1...8).contains($0) ? Int($0) : nil } ?? 1
    }

    /// Width and height of the EXIF directory, for containers that say nothing better.
    var statedSize: PixelSize? {
        ExifFacts.size(block.integer(exif.entries[0xA002]), block.integer(exif.entries[0xA003]))
    }

    static func size(_ width: UInt64?, _ height: UInt64?) -> PixelSize? {
        guard let width, let height, (1...1_000_000).contains(width), (1...1_000_000).contains(height) else {
            return nil
        }
        return PixelSize(width: Int(width), height: Int(height))
    }

    private func isScreenshot(_ comment: TIFFBlock.Entry) -> Bool {
        let bytes = block.bytes(comment, limit: 64)
        return bytes.starts(with: "ASCII\0\0\0Screenshot".utf8) || bytes.starts(with: "Screenshot".utf8)
    }

    /// Both coordinates or none. The letters for north and east must be there: without them a number has no sign, and
    /// writers that know no place leave them out. 0, 0 with letters is a place.
    private func addPlace(to facts: inout Facts) {
        // CR3 has a whole block for the place, whose first directory it is.
        let place = block.integer(main.entries[0x8825]).flatMap { block.directory(at: $0) } ?? main
        guard facts.latitude == nil,
            let latitude = degrees(place.entries[2], letter: place.entries[1], positive: "N", negative: "S", to: 90),
            let longitude = degrees(place.entries[4], letter: place.entries[3], positive: "E", negative: "W", to: 180)
        else { return }
        facts.latitude = latitude
        facts.longitude = longitude
    }

    private func degrees(
        _ value: TIFFBlock.Entry?, letter: TIFFBlock.Entry?, positive: String, negative: String, to limit: Double
    ) -> Double? {
        guard let whole = block.fraction(value, 0), let letter = block.text(letter)?.prefix(1).uppercased(),
            letter == positive || letter == negative
        else { return nil }
        // A missing or undefined minute or second (0/0) adds nothing.
        let minutes = block.fraction(value, 1) ?? 0
        let seconds = block.fraction(value, 2) ?? 0
        let degrees = whole + minutes / 60 + seconds / 3600
        guard degrees.isFinite, (0...limit).contains(degrees) else { return nil }
        return letter == negative ? -degrees : degrees
    }
}
