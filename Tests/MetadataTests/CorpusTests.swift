import Metadata
import PhotoModel
import TestSupport
import Testing

@Suite("Over the corpus, an inspection") struct CorpusTests {
    /// Where the manifest's exiftool and our reading differ for a reason that was looked at.
    private static let exceptions: Set = [
        "jpeg/Nikon D5000.jpg/place",  // exiftool shows nothing, exiv2 the same 48 degrees 53 minutes as we
        // Damaged headers, of which we still read a part.
        "broken/corrupt-header.jpg", "broken/endless_loop.jpg",
    ]

    private static func rows(_ what: String, _ folders: [String]) throws -> [Corpus.Row] {
        try Corpus.rows(for: what).filter { row in
            folders.contains { row.path.hasPrefix($0 + "/") } && !exceptions.contains(row.path)
        }
    }

    private static func inspect(_ row: Corpus.Row) throws -> Inspection {
        Inspector.inspect(ByteSource(try row.contents()))
    }

    private static let stills = [
        "jpeg", "jpeg-orientation", "heic", "avif", "png", "webp", "tiff", "raw", "metadata", "oddities", "pairs",
        "synthetic",
    ]

    @Test func `names the type that exiftool and the first bytes agree on`() throws {
        let raw = Set(["ARW", "CR2", "CR3", "CRW", "DNG", "MRW", "NEF", "ORF", "RAF", "RW2"])
        let types: [String: Set<MediaType>] = [
            "JPEG": [.jpeg], "MPO": [.jpeg], "THM": [.jpeg], "PNG": [.png], "APNG": [.png], "WEBP": [.webp],
            // exiftool tells HEIC from HEIF by the major brand alone; HEVC under `mif1` is HEIC here.
            "HEIC": [.heic], "HEIF": [.heic, .heif], "AVIF": [.avif], "TIFF": [.tiff], "BTF": [.tiff],
            "JXL": [.jpegXL], "MOV": [.quicktime], "MP4": [.mp4], "M4V": [.mp4], "3GP": [.mp4], "AVI": [.avi],
            "M2TS": [.mpegTS], "XMP": [.xmp], "AAE": [.appleAdjustment], "JSON": [.json],
        ]
        for row in try Self.rows("types", Self.stills + ["video", "sidecars"]) {
            guard let expected = raw.contains(row["format"]) ? [.raw] : types[row["format"]] else { continue }
            #expect(expected.contains(try Self.inspect(row).mediaType), "\(row.path)")
        }
    }

    /// The manifest says so where exiftool, or the first bytes, and the extension disagree.
    @Test func `E25 E26 tells a name that lies, and no other`() throws {
        for row in try Self.rows("names that lie", Self.stills + ["video", "broken"]) {
            let (type, name) = (try Self.inspect(row).mediaType, Path(row.path).lowercaseExtension)
            guard type != .unknown else { continue }
            // Two whose brands say nothing: exiftool takes them for MP4 as we do, and the manifest for what their names say.
            if type == .mp4, row["notes"].contains("exiftool takes it for MP4") { continue }
            #expect(type.fits(extension: name) != row["notes"].contains("but content is"), "\(row.path): \(type)")
        }
    }

    @Test func `reads time, fraction, offset, make and model as exiftool and exiv2 do`() throws {
        for row in try Self.rows("EXIF", Self.stills) {
            let inspection = try Self.inspect(row)
            // The manifest takes these from XMP, IPTC or maker notes where EXIF has none.
            guard inspection.mediaType.isStill, !row["notes"].contains("date from") else { continue }
            let date = inspection.dates.first { $0.source == .exifOriginal }
            let stated = row["datetime_original"]
            if stated.utf8.first.map({ (48...57).contains($0) }) ?? false, !stated.contains("+") {
                var wanted = Array(stated.utf8)
                wanted[4] = UInt8(ascii: "-")
                wanted[7] = UInt8(ascii: "-")
                wanted[10] = UInt8(ascii: "T")
                // One file has its fraction in XMP only.
                let hasFraction = !row["subsec"].isEmpty && row.path != "metadata/seine_sdr_gainmap_srgb.jpg"
                let text = String(decoding: wanted, as: UTF8.self) + (hasFraction ? "." + row["subsec"] : "")
                #expect(date?.time.text == text, "\(row.path)")
                #expect(date?.offset ?? "" == row["offset"], "\(row.path)")
            }
            #expect(inspection.facts.make ?? "" == row["make"], "\(row.path)")
            #expect(inspection.facts.model ?? "" == row["model"], "\(row.path)")
        }
    }

    @Test func `finds the place where the manifest has one, and none where it has none`() throws {
        for row in try Self.rows("places", Self.stills) where !Self.exceptions.contains(row.path + "/place") {
            let inspection = try Self.inspect(row)
            guard inspection.mediaType.isStill else { continue }
            for (found, stated) in [
                (inspection.facts.latitude, row["gps_lat"]), (inspection.facts.longitude, row["gps_lon"]),
            ] {
                guard let wanted = Double(stated) else {
                    #expect(found == nil, "\(row.path)")
                    continue
                }
                #expect(abs((found ?? 1000) - wanted) < 0.00002, "\(row.path)")
            }
        }
    }

    @Test func `knows the size as shown and the orientation of whole stills`() throws {
        let folders = ["jpeg", "jpeg-orientation", "heic", "avif", "png", "webp", "tiff", "metadata"]
        for row in try Self.rows("sizes", folders) where row["class"] == "import+preview" {
            let inspection = try Self.inspect(row)
            let size = inspection.facts.size.map { "\($0.width) x \($0.height)" }
            #expect(size == "\(row["display_width"]) x \(row["display_height"])", "\(row.path)")
            guard let orientation = Int(row["orientation"]) else { continue }
            let turnsItself = [.heic, .heif, .avif].contains(inspection.mediaType)
            let isLegal = (1...8).contains(orientation)
            #expect(inspection.facts.orientation == (turnsItself || !isLegal ? 1 : orientation), "\(row.path)")
        }
    }

    @Test func `finds what ties a Live Photo together`() throws {
        var found = 0
        let rows = try Self.rows("content identifiers", Self.stills)
        for row in rows {
            let inspection = try Self.inspect(row)
            guard inspection.mediaType.isStill, row["notes"].contains("content identifier ") else { continue }
            found += 1
            #expect(row["notes"].contains(inspection.facts.contentIdentifier ?? "none"), "\(row.path)")
        }
        #expect(rows.isEmpty || found >= 3)
    }

    /// Against exiftool's dates (its QuickTime CreateDate is UTC), makes, models and places.
    @Test func `reads what movies say as exiftool does`() throws {
        for row in try Self.rows("movies", ["video", "pairs", "synthetic"]) {
            let inspection = try Self.inspect(row)
            guard inspection.mediaType.isVideo else { continue }
            let date = inspection.dates.first { $0.source == .quicktime }
            for (mark, isUniversal) in [("CreationDate ", false), ("CreateDate ", true)] {
                guard let found = row["notes"].firstRange(of: mark) else { continue }
                let stated = row["notes"][found.upperBound...].prefix { $0 != ";" }
                if stated.hasPrefix("0000") {
                    #expect(date == nil, "\(row.path)")
                    continue
                }
                let (day, clock) = (stated.prefix(10).replacing(":", with: "-"), stated.dropFirst(11).prefix(8))
                #expect(date?.time.text == "\(day)T\(clock)", "\(row.path)")
                #expect(date?.isUniversal == isUniversal, "\(row.path)")
                #expect(date?.offset ?? "" == stated.dropFirst(19), "\(row.path)")
            }
            if row.path.hasSuffix(".mts") {
                #expect(date?.time.text == "2019-04-24T22:24:00" && date?.offset == "+02:00")
                #expect(inspection.facts.make == "Sony")  // exiftool: 264, which its table calls so
                let size = inspection.facts.size.map { "\($0.width) x \($0.height)" }
                #expect(size == "\(row["display_width"]) x \(row["display_height"])")
            } else if row.path != "video/QuickTime.mov" {  // Pentax's private tags
                #expect(inspection.facts.make ?? "" == row["make"], "\(row.path)")
            }
            #expect(inspection.facts.model ?? "" == row["model"], "\(row.path)")
            for (found, stated) in [
                (inspection.facts.latitude, row["gps_lat"]), (inspection.facts.longitude, row["gps_lon"]),
            ] {
                guard let wanted = Double(stated) else {
                    #expect(found == nil, "\(row.path)")
                    continue
                }
                #expect(abs((found ?? 1000) - wanted) < 0.00006, "\(row.path)")
            }
        }
    }

    /// Promise 5, in the small: no damaged file costs more than a moment, and none ends the process.
    @Test func `survives every file, cut anywhere, in little time`() throws {
        let rows = try Self.rows("damage", Self.stills + ["broken", "video", "sidecars"])
        let clock = ContinuousClock()
        for row in rows {
            // The first MiB: nothing that is looked at lies further back, but the tables of some movies.
            let whole = Array(try row.contents().prefix(1 << 20))
            let spent = clock.measure {
                for part in [whole.count, whole.count / 2, whole.count / 10, 300, 40, 9, 1] where part <= whole.count {
                    _ = Inspector.inspect(ByteSource(Array(whole.prefix(part))))
                }
                // Every fifteenth of the first bytes changed: lengths and offsets lie.
                var bent = whole
                for index in stride(from: 7, to: min(bent.count, 4096), by: 15) { bent[index] = 0xFF }
                _ = Inspector.inspect(ByteSource(bent))
            }
            #expect(spent < .seconds(20), "\(row.path)")
        }
    }
}
