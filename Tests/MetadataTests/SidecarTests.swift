import Foundation
import Metadata
import PhotoModel
import TestSupport
import Testing

@Suite("What sidecars say") struct SidecarTests {
    private func inspect(_ text: String) -> Inspection { Inspector.inspect(ByteSource(Array(text.utf8))) }

    // MARK: Takeout

    @Test func `time in UTC and place, as Takeout writes them`() {
        // date -u -d @1617923095: 2021-04-08 23:04:55.
        let inspection = inspect(
            """
            {"title": "a \\"photoTakenTime\\": {\\"timestamp\\": \\"1\\"}", "list": [{"timestamp": "2"}, "x", [1, 2]],
            "creationTime": {"timestamp": "1669355658"}, "photoTakenTime": {"formatted": "x", "timestamp": "1617923095"},
            "geoData": {"latitude": 0.0, "longitude": 0.0}, "geoDataExif": {"latitude": 33.5, "longitude": -118.25e0}}
            """)
        #expect(inspection.mediaType == .json)
        let time = WallTime(year: 2021, month: 4, day: 8, hour: 23, minute: 4, second: 55)
        #expect(inspection.dates == [CaptureDate(time: time, source: .takeout, isUniversal: true)])
        #expect(inspection.facts.latitude == 33.5)
        #expect(inspection.facts.longitude == -118.25)
    }

    @Test(arguments: [
        "{}", "[]", "[[[[", "{\"photoTakenTime\": 7}", "{\"photoTakenTime\": {\"timestamp\": \"9e99\"}}",
        "{\"photoTakenTime\": {\"timestamp\": \"99999999999999\"}}",
        "{\"photoTakenTime\": {\"timestamp\": \"-9223372036854775808\"}}",
        "{\"geoData\": {\"latitude\": 91, \"longitude\": 1}}",
        "{\"geoData\": {\"latitude\": 1", "{\"other\": {\"photoTakenTime\": {\"timestamp\": \"1617923095\"}}}",
        "[{\"photoTakenTime\": {\"timestamp\": \"1617923095\"}}]", "{\"a\":\"\\",
        "{\"geoData\": {\"latitude\": \"nan\", \"longitude\": \"inf\"}}",
    ])
    func `nothing where it is not that`(text: String) {
        let inspection = inspect(text)
        #expect(inspection.dates.isEmpty)
        #expect(inspection.facts.latitude == nil && inspection.facts.longitude == nil)
    }

    // MARK: XMP

    private func xmp(_ body: String) -> Inspection {
        inspect("<x:xmpmeta xmlns:x=\"adobe:ns:meta/\"><rdf:Description \(body)</x:xmpmeta>")
    }

    /// 34 degrees 47.847 minutes are 34.79745; bc: 34 + 47.847 / 60.
    @Test func `time, lens and place, as attributes and as elements`() {
        let attributes = xmp(
            """
            exif:DateTimeOriginal="2018-09-10T12:16:13.25+09:00" aux:Lens="back camera" tiff:Make="Apple"
            exif:GPSLatitude="34,47.847N" exif:GPSLongitude="134,45,52.7W"/>
            """)
        #expect(attributes.mediaType == .xmp)
        #expect(attributes.dates.first?.time.text == "2018-09-10T12:16:13.25")
        #expect(attributes.dates.first?.offset == "+09:00")
        #expect(attributes.facts.lens == "back camera")
        #expect(attributes.facts.make == "Apple")
        #expect(abs((attributes.facts.latitude ?? 0) - 34.79745) < 1e-9)
        #expect(abs((attributes.facts.longitude ?? 0) + 134.764638889) < 1e-9)
        let elements = xmp(
            "><exif:GPSLatitude>0,0N</exif:GPSLatitude><exif:GPSLongitude>0,30.0E</exif:GPSLongitude>")
        #expect(elements.facts.latitude == 0)
        #expect(elements.facts.longitude == 0.5)
    }

    @Test func `no place that is only shown or described`() {
        let places = """
            ><Iptc4xmpExt:LocationCreated><exif:GPSLatitude>48,16.5N</exif:GPSLatitude><exif:GPSLongitude>16,20.28E\
            </exif:GPSLongitude></Iptc4xmpExt:LocationCreated><Iptc4xmpExt:LocationShown><exif:GPSLatitude>1,0N\
            </exif:GPSLatitude><exif:GPSLongitude>1,0E</exif:GPSLongitude></Iptc4xmpExt:LocationShown>
            """
        #expect(xmp(places).facts.latitude == nil)
        let own = xmp(places + "<exif:GPSLatitude>3,0S</exif:GPSLatitude><exif:GPSLongitude>4,0E</exif:GPSLongitude>")
        #expect(own.facts.latitude == -3)
        #expect(own.facts.longitude == 4)
    }

    @Test(arguments: ["34,47.8", "34N", "91,0N", "34,60.5N", "-34,1N", "a,bN", ",N", "34,1,2,3N", "nan,1N", ""])
    func `no place where the text is none`(latitude: String) {
        let facts = xmp("exif:GPSLatitude=\"\(latitude)\" exif:GPSLongitude=\"1,0E\"/>").facts
        #expect(facts.latitude == nil && facts.longitude == nil)
    }

    /// exiftool -XMP-photoshop:DateCreated, which the manifest leaves out.
    private static let days = [
        "pairs/exif-sidecar/IMG_5910.xmp": "2015-06-11", "pairs/takeout/IMG_4179.jpeg.xmp": "2021-04-08",
        "sidecars/digikam-example.xmp": "2014-04-27", "sidecars/iso-value-array.xmp": "2009-11-28",
        // In UTF-16 with a character that exiftool cannot take: `iconv -f UTF-16` and then exiftool.
        "sidecars/2000.xmp": "2000-09-27",
    ]

    /// Against exiftool's reading of the corpus.
    @Test func `what exiftool finds in them, too`() throws {
        var found = 0
        for row in try Corpus.rows(for: "sidecars") where row["format"] == "XMP" {
            let inspection = Inspector.inspect(ByteSource(try row.contents()))
            found += 1
            #expect(inspection.mediaType == .xmp, "\(row.path)")
            #expect(inspection.facts.make ?? "" == row["make"], "\(row.path)")
            #expect(inspection.facts.model ?? "" == row["model"], "\(row.path)")
            if !row["lens"].isEmpty { #expect(inspection.facts.lens == row["lens"], "\(row.path)") }
            let stated = row["datetime_original"].replacing(":", with: "-").prefix(10)
            let day = Self.days[row.path] ?? String(stated)
            #expect(inspection.dates.first?.time.text.prefix(10) ?? "" == day, "\(row.path)")
        }
        #expect(try found >= 6 || Corpus.find(for: "sidecars") == nil)
    }

    /// One meaning, written in the ways that RDF and XML have for it (XMP specification part 1, 7 and annex C).
    @Test(arguments: [
        "<rdf:Description tiff:Make='El &amp; Co' tiff:Model='A&quot;&#xe9;' exif:DateTimeOriginal='2017-05-06T07:08:09'/>",
        """
        <rdf:Description><tiff:Make><![CDATA[El & Co]]></tiff:Make><tiff:Model>A"&#233;</tiff:Model>
        <exif:DateTimeOriginal>2017-05-06T07:08:09</exif:DateTimeOriginal></rdf:Description>
        """,
        """
        <rdf:Description q:Make='El &amp; Co' q:Model='A&#34;\u{e9}' r:DateTimeOriginal='2017-05-06T07:08:09'
        xmlns:q='http://ns.adobe.com/tiff/1.0/' xmlns:r='http://ns.adobe.com/exif/1.0/'/>
        """,
        """
        <rdf:Description tiff:Make='El &amp; Co'><x:y xmlns:x='a' rdf:parseType='Resource'><tiff:Model>B</tiff:Model></x:y>
        </rdf:Description><rdf:Description tiff:Model='A"\u{e9}'/>
        <rdf:Description><exif:DateTimeOriginal>2017-05-06T07:08:09</exif:DateTimeOriginal></rdf:Description>
        """,
    ]) func `the same, however it is written`(description: String) throws {
        let packet = """
            <?xpacket begin='' id='W5M0MpCehiHzreSzNTczkc9d'?><x:xmpmeta xmlns:x='adobe:ns:meta/'><rdf:RDF
            xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#' xmlns:tiff='http://ns.adobe.com/tiff/1.0/'
            xmlns:exif='http://ns.adobe.com/exif/1.0/'>\(description)</rdf:RDF></x:xmpmeta><?xpacket end='w'?>
            """
        let folder = try TemporaryFolder()
        let file = folder.url.appending(path: "a.xmp")
        try packet.write(to: file, atomically: false, encoding: .utf8)
        let tool = try Programs.run(
            "/usr/bin/exiftool", ["-s3", "-XMP:Make", "-XMP:Model", "-XMP:DateTimeOriginal", file.path])
        #expect(tool.output == "El & Co\nA\"\u{e9}\n2017:05:06 07:08:09\n")
        let inspection = inspect(packet)
        #expect(inspection.mediaType == .xmp)
        #expect(inspection.facts.make == "El & Co")
        #expect(inspection.facts.model == "A\"\u{e9}")
        #expect(inspection.dates.first?.time.text == "2017-05-06T07:08:09")
    }

    /// Names alone do not make properties, and entities are not asked for: one can stand for gigabytes.
    @Test(arguments: [
        "<rdf:RDF xmlns:tiff='urn:else'><rdf:Description tiff:Make='A'/></rdf:RDF>",
        "<!DOCTYPE a [<!ENTITY b 'A'>]><rdf:RDF><rdf:Description><tiff:Make>&b;</tiff:Make></rdf:Description></rdf:RDF>",
        "<rdf:RDF><rdf:Description><x:y><rdf:Description tiff:Make='A'/></x:y></rdf:Description></rdf:RDF>",
        "<rdf:RDF><rdf:Description><tiff:Make>A", "<rdf:RDF>tiff:Make='A'</rdf:RDF>",
    ]) func `nothing that they do not say`(packet: String) {
        let inspection = inspect(packet + " <!-- <x:xmpmeta -->")
        #expect(inspection.mediaType == .xmp)
        #expect(inspection.facts.make == nil)
    }

    /// By iconv. XMP may be in UTF-16 (XMP specification part 1, 7.2), and exiftool reads it so, too.
    @Test(arguments: ["UTF-16LE", "UTF-16BE"]) func `F07 the same in UTF-16`(coding: String) throws {
        let folder = try TemporaryFolder()
        let (plain, coded) = (folder.path + "/plain.xmp", folder.path + "/coded.xmp")
        let body = """
            <?xpacket begin="\u{FEFF}" id="W5M0MpCehiHzreSzNTczkc9d"?><x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF \
            xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description rdf:about="" \
            xmlns:exif="http://ns.adobe.com/exif/1.0/" xmlns:tiff="http://ns.adobe.com/tiff/1.0/" \
            xmlns:aux="http://ns.adobe.com/exif/1.0/aux/" exif:DateTimeOriginal="2021-03-04T05:06:07.5+01:00" \
            tiff:Make="Fotofabrik Köln" aux:Lens="Objektiv Ω 50 mm" exif:GPSLatitude="34,30.0S" \
            exif:GPSLongitude="134,15.0W"/></rdf:RDF></x:xmpmeta><?xpacket end="w"?>
            """
        try Data(body.utf8).write(to: URL(filePath: plain))
        let mark = coding == "UTF-16LE" ? "\\377\\376" : "\\376\\377"
        for start in [mark, ""] {
            let script = "{ printf '\(start)'; iconv -f UTF-8 -t \(coding) \"$1\"; } > \"$2\""
            try #require(try Programs.run("/bin/sh", ["-c", script, "sh", plain, coded]).status == 0)
            let theirs = try Programs.run(
                "/usr/bin/env",
                [
                    "exiftool", "-s3", "-n", "-Make", "-Lens", "-GPSLatitude", "-GPSLongitude", "-DateTimeOriginal",
                    coded,
                ])
            let inspection = Inspector.inspect(ByteSource(Array(try Data(contentsOf: URL(filePath: coded)))))
            #expect(inspection.mediaType == .xmp)
            let facts = inspection.facts
            #expect(
                theirs.output == """
                    \(facts.make ?? "")
                    \(facts.lens ?? "")
                    \(facts.latitude ?? 0)
                    \(facts.longitude ?? 0)
                    2021:03:04 05:06:07.5+01:00

                    """)
            #expect(facts.latitude == -34.5 && facts.longitude == -134.25)
            let date = try #require(inspection.dates.first)
            #expect(date.time.text.hasPrefix("2021-03-04T05:06:07") && date.offset == "+01:00" && date.source == .xmp)
        }
    }

    /// Half a character, half a pair of them, and what only looks like it.
    @Test func `no nonsense where UTF-16 is cut or none`() {
        var bytes: [UInt8] = [0xFF, 0xFE]
        for unit in "<x:xmpmeta><rdf:Description tiff:Make=\"A\u{1D7D3}\"/></x:xmpmeta>".utf16 {
            bytes += [UInt8(truncatingIfNeeded: unit), UInt8(truncatingIfNeeded: unit >> 8)]
        }
        for count in 0...bytes.count {
            let make = Inspector.inspect(ByteSource(Array(bytes.prefix(count)))).facts.make
            #expect(make?.hasPrefix("A") ?? true, "\(count)")
        }
        #expect(Inspector.inspect(ByteSource(bytes)).facts.make == "A\u{1D7D3}")
        #expect(Inspector.inspect(ByteSource([0x3C, 0, 0x3C, 0])).mediaType == .unknown)
    }
}
