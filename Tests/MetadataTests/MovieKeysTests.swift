import Metadata
import PhotoModel
import TestSupport
import Testing

@Suite("The keys of a movie") struct MovieKeysTests {
    private static func number(_ value: Int) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - $0 * 8)) }
    }

    private static func box(_ type: [UInt8], _ content: [UInt8]) -> [UInt8] {
        number(8 + content.count) + type + content
    }

    private static func box(_ type: String, _ content: [UInt8]) -> [UInt8] { box(Array(type.utf8), content) }

    /// - Parameter version: what stands before the children of `meta`.
    private static func movie(_ keys: [(String, String)], version: [UInt8] = [], type: Int = 1) -> [UInt8] {
        let names = keys.flatMap { box("mdta", Array($0.0.utf8)) }
        let values = keys.enumerated().flatMap { index, key in
            box(number(index + 1), box("data", number(type) + number(0) + Array(key.1.utf8)))
        }
        let meta = version + box("keys", number(0) + number(keys.count) + names) + box("ilst", values)
        return box("ftyp", Array("qt  ".utf8) + number(0)) + box("moov", box("meta", meta))
    }

    private static let keys = [
        ("com.apple.quicktime.make", "Apple"), ("com.apple.quicktime.content.identifier", "A1-B2"),
        ("com.apple.quicktime.creationdate", "2026-05-17T09:04:31+0200"),
    ]

    @Test(arguments: [[], [0, 0, 0, 0]] as [[UInt8]])
    func `tell its content identifier and when it was taken`(version: [UInt8]) {
        let inspection = Inspector.inspect(ByteSource(Self.movie(Self.keys, version: version)))
        #expect(inspection.mediaType == .quicktime)
        #expect(inspection.facts.contentIdentifier == "A1-B2")
        let time = WallTime(year: 2026, month: 5, day: 17, hour: 9, minute: 4, second: 31)
        #expect(inspection.dates == [CaptureDate(time: time, offset: "+02:00", source: .quicktime)])
    }

    /// ISO 6709:2008, annex H: the three forms of degrees, with and without an altitude.
    @Test(arguments: [
        ("+27.5916+086.5640+8850/", 27.5916, 86.5640), ("-3330.5-07015.25/", -33.508333, -70.254167),
        ("+352139+1384339+3776/", 35.360833, 138.7275), ("+00-025/", 0, -25),
    ])
    func `tell the place in each form of the standard`(text: String, latitude: Double, longitude: Double) {
        let facts = Inspector.inspect(
            ByteSource(Self.movie([("com.apple.quicktime.location.ISO6709", text)]))
        ).facts
        #expect(abs((facts.latitude ?? 1000) - latitude) < 0.00001)
        #expect(abs((facts.longitude ?? 1000) - longitude) < 0.00001)
    }

    @Test(arguments: ["", "27.5+86.5/", "+27.5", "+95.0+086.5/", "+27.5+186.5/", "+a+b/"])
    func `tell no place where the text is none`(text: String) {
        let facts = Inspector.inspect(
            ByteSource(Self.movie([("com.apple.quicktime.location.ISO6709", text)]))
        ).facts
        #expect(facts.latitude == nil && facts.longitude == nil)
    }

    @Test func `say nothing when they are no text, or cut, or numbered wrongly`() {
        let whole = Self.movie(Self.keys)
        #expect(Inspector.inspect(ByteSource(Self.movie(Self.keys, type: 21))).facts.contentIdentifier == nil)
        for count in 0..<whole.count { _ = Inspector.inspect(ByteSource(Array(whole.prefix(count)))) }
        for position in whole.indices {
            var forged = whole
            forged[position] = 0xFF
            _ = Inspector.inspect(ByteSource(forged))
        }
    }

    @Test func `tie the halves of the corpus's Live Photos together`() throws {
        var found: [String: Set<String?>] = [:]
        for row in try Corpus.rows(for: "Live Photos") where row.path.hasPrefix("pairs/livephoto") {
            let folder = row.path.split(separator: "/")[1]
            let inspection = Inspector.inspect(ByteSource(try row.contents()))
            found[String(folder), default: []].insert(inspection.facts.contentIdentifier)
        }
        #expect(found.values.allSatisfy { $0.count == 1 && $0.first != nil }, "\(found)")
    }
}
