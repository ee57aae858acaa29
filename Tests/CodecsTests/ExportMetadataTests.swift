import Codecs
import Foundation
import Metadata
import PhotoModel
import TestSupport
import Testing

/// What an export says of its photo, held against the original's by exiftool.
@Suite("The metadata of an export") struct ExportMetadataTests {
    /// By exiftool: `group:name` and value.
    private func tags(_ path: String, _ options: String...) throws -> [String: String] {
        let outcome = try Programs.run("/usr/bin/env", ["exiftool", "-j", "-n", "-G1"] + options + [path])
        let parsed = try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [[String: Any]]
        return try #require(parsed?.first).mapValues { "\($0)" }
    }

    private func export(
        _ bytes: [UInt8], as format: ExportSpec.Format = .jpeg, to path: String, strips: Bool = false,
        maxSize: Int = 320
    ) throws -> EncodedPreview {
        let inspection = Inspector.inspect(ByteSource(bytes))
        var spec = PreviewSpec(maxSize: maxSize, colour: .keep)
        spec.export = ExportSpec(format: format, stripsLocation: strips)
        let result = try StillDecoder.preview(
            of: unsafe bytes.span.bytes, type: inspection.mediaType, orientation: inspection.facts.orientation,
            spec: spec)
        try Data(result.jpeg).write(to: URL(filePath: path))
        return result
    }

    /// Of the first directory: what the file is about, not how its pixels lie.
    private static let described: Set<String> = [
        "DocumentName", "ImageDescription", "Make", "Model", "XResolution", "YResolution", "ResolutionUnit", "Software",
        "ModifyDate", "Artist", "HostComputer", "Rating", "RatingPercent", "Copyright", "XPTitle", "XPComment",
        "XPAuthor", "XPKeywords", "XPSubject",
    ]
    /// Also where TIFF/EP has them.
    private static let inFirst: Set<String> = [
        "ExposureTime", "FNumber", "ISO", "DateTimeOriginal", "FocalLength", "ExposureProgram", "LensModel",
    ]

    /// A picture that can be exported, or else its metadata alone.
    private func carried(_ row: Corpus.Row, to path: String) throws -> PixelSize {
        let bytes = try row.contents()
        do {
            return try export(bytes, to: path).size
        } catch is CodecFailure {  // only the head of a RAW file
            let size = PixelSize(width: 30, height: 20)
            let source = ByteSource(bytes)
            let carried = CarriedMetadata(of: source, type: Inspector.inspect(source).mediaType).upright(
                size, stripsLocation: false)
            try Data(carried.exif).write(to: URL(filePath: path))
            return size
        }
    }

    @Test(.timeLimit(.minutes(5))) func `of TIFF and RAW is the original's, tag for tag`() throws {
        let folder = try TemporaryFolder()
        var (files, compared) = (0, 0)
        for row in try Corpus.rows(for: "exports of TIFF and RAW")
        where ["tiff/", "raw/"].contains(where: row.path.hasPrefix) && !row.path.hasSuffix(".CRW") {
            let path = folder.path + "/out.jpg"
            let size = try carried(row, to: path)
            let (old, new) = (try tags(row.absolutePath), try tags(path))
            let isWhole = new["File:FileType"] == "JPEG"
            files += 1
            for (key, value) in old {
                let (group, name) = (String(key.prefix { $0 != ":" }), String(key.drop { $0 != ":" }.dropFirst()))
                let expected: (key: String, value: String)?
                switch group {
                case "ExifIFD" where ["ExifImageWidth", "ExifImageHeight"].contains(name):
                    expected = (key, "\(name == "ExifImageWidth" ? size.width : size.height)")
                case "ExifIFD" where name.hasPrefix("MakerNote"), "ExifIFD" where name == "Padding": expected = nil
                case "ExifIFD", "GPS": expected = (key, value)
                case "IFD0" where Self.described.contains(name): expected = (key, value)
                case "IFD0" where Self.inFirst.contains(name): expected = ("ExifIFD:" + name, value)
                case "XMP-tiff" where name == "Orientation": expected = (key, "1")
                case "XMP-tiff" where ["ImageWidth", "ImageHeight"].contains(name),
                    "XMP-exif" where ["ExifImageWidth", "ExifImageHeight"].contains(name):
                    expected = (key, "\(name.hasSuffix("Width") ? size.width : size.height)")
                case "IPTC",
                    _ where group.hasPrefix("XMP-"):
                    expected = isWhole ? (key, value) : nil
                default: expected = nil
                }
                guard let expected else { continue }
                compared += 1
                #expect(new[expected.key] == expected.value, "\(row.path): \(expected.key)")
            }
            #expect([nil, "1"].contains(new["IFD0:Orientation"]), "\(row.path)")
            #expect(!new.keys.contains { $0.hasPrefix("IFD1:") || $0.contains("Thumbnail") }, "\(row.path)")
            #expect(!new.keys.contains { $0.hasSuffix("StripOffsets") || $0.hasSuffix("TileOffsets") }, "\(row.path)")
            #expect(new["ExifTool:Warning"] == nil && new["ExifTool:Error"] == nil, "\(row.path)")
        }
        if files > 0 { #expect(files >= 25 && compared > 600, "\(files) files, \(compared) tags") }
    }

    @Test(.timeLimit(.minutes(5))) func `of JPEG has its IPTC, dataset for dataset`() throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/out.jpg"
        var files = 0
        for row in try Corpus.rows(for: "exports of JPEGs with IPTC")
        where row["format"] == "JPEG" && row["class"] == "import+preview" {
            let old = try tags(row.absolutePath, "-IPTC:all", "-b")
            guard old.count > 1 else { continue }
            files += 1
            _ = try export(row.contents(), to: path)
            let new = try tags(path, "-IPTC:all", "-b")
            #expect(
                new.filter { $0.key != "SourceFile" } == old.filter { $0.key != "SourceFile" }, "\(row.path)")
            _ = try export(row.contents(), to: path, strips: true)
            let left = try tags(path, "-IPTC:all").keys.filter { $0 != "SourceFile" }
            let may: Set<String> = [
                "IPTC:CodedCharacterSet", "IPTC:ApplicationRecordVersion", "IPTC:DateCreated", "IPTC:TimeCreated",
                "IPTC:DigitalCreationDate", "IPTC:DigitalCreationTime", "IPTC:By-line", "IPTC:CopyrightNotice",
            ]
            #expect(may.isSuperset(of: left), "\(row.path): \(left)")
        }
        if files > 0 { #expect(files >= 20, "\(files)") }
    }

    /// Every field that can name a place, in every block, and each with a word of its own to be found again.
    @Test(arguments: ExportSpec.Format.allCases, ["jpg", "tif"])
    func `tells of no place where that is to go`(format: ExportSpec.Format, kind: String) throws {
        let folder = try TemporaryFolder()
        let (path, out) = (folder.path + "/in.\(kind)", folder.path + "/out")
        let made = try Programs.run("/usr/bin/env", ["convert", "-size", "60x40", "gradient:red-blue", path])
        try #require(made.status == 0, "\(made.errors)")
        let words = [
            "IPTC:City", "IPTC:Sub-location", "IPTC:Province-State", "IPTC:Country-PrimaryLocationName",
            "IPTC:ContentLocationName", "IPTC:Keywords", "IPTC:Caption-Abstract", "IPTC:Headline", "IPTC:ObjectName",
            "XMP-photoshop:City", "XMP-photoshop:State", "XMP-photoshop:Country", "XMP-iptcCore:Location",
            "XMP-iptcExt:LocationShownCity", "XMP-iptcExt:LocationCreatedSublocation", "XMP-dc:Description",
            "XMP-lr:HierarchicalSubject", "XMP-exif:GPSAreaInformation", "EXIF:ImageDescription", "EXIF:UserComment",
            "EXIF:GPSAreaInformation", "EXIF:GPSProcessingMethod", "EXIF:XPTitle", "EXIF:HostComputer",
        ]
        let written = try Programs.run(
            "/usr/bin/env",
            [
                "exiftool", "-q", "-overwrite_original", "-n", "-GPSLatitude=47.5596", "-GPSLatitudeRef=N",
                "-GPSLongitude=7.5886", "-GPSLongitudeRef=E", "-XMP-exif:GPSLatitude=47.5596", "-Artist=Somebody",
                "-IPTC:By-line=Somebody", "-IPTC:CopyrightNotice=Somebody", "-IPTC:DateCreated=2026:05:17",
                "-DateTimeOriginal=2026:05:17 09:04:31",
            ] + words.map { "-\($0)=Riehen" } + [path])
        try #require(written.status == 0, "\(written.errors)")
        let bytes = Array(try Data(contentsOf: URL(filePath: path)))
        let whole = try export(bytes, as: format, to: out).jpeg
        #expect(Self.holds("Riehen", whole))
        let kept = try tags(out)
        #expect(kept["GPS:GPSLatitude"]?.hasPrefix("47.559") == true && kept["IFD0:Artist"] == "Somebody")
        // Only JPEG has a place for it.
        #expect(kept["IPTC:City"] == (format == .jpeg ? "Riehen" : nil))
        let stripped = try export(bytes, as: format, to: out, strips: true).jpeg
        #expect(!Self.holds("Riehen", stripped) && !Self.holds("R\0i\0e\0h\0e\0n", stripped))
        let left = try tags(out)
        #expect(!left.keys.contains { $0.contains("GPS") }, "\(left.keys.sorted())")
        #expect(left["IFD0:Artist"] == "Somebody" && left["ExifIFD:DateTimeOriginal"] == "2026:05:17 09:04:31")
        #expect(left["IPTC:By-line"] == (format == .jpeg ? "Somebody" : nil))
        #expect(left["IPTC:DateCreated"] == (format == .jpeg ? "2026:05:17" : nil))
    }

    private static func holds(_ word: String, _ bytes: [UInt8]) -> Bool {
        Data(bytes).range(of: Data(word.utf8)) != nil
    }

    /// A segment of a JPEG holds 65,533 bytes; the longest value goes, and nothing else.
    @Test func `fits into a JPEG's segment without its longest value`() throws {
        let folder = try TemporaryFolder()
        let (path, out) = (folder.path + "/in.png", folder.path + "/out")
        let comment = folder.path + "/comment"
        try Data(repeating: UInt8(ascii: "x"), count: 60_000).write(to: URL(filePath: comment))
        _ = try Programs.run("/usr/bin/env", ["convert", "-size", "60x40", "gradient:red-blue", path])
        let written = try Programs.run(
            "/usr/bin/env",
            [
                "exiftool", "-q", "-overwrite_original", "-Artist=Somebody", "-EXIF:UserComment<=\(comment)",
                "-EXIF:ImageDescription=" + String(repeating: "y", count: 9_000), "-Orientation#=6", path,
            ])
        try #require(written.status == 0, "\(written.errors)")
        let bytes = Array(try Data(contentsOf: URL(filePath: path)))
        _ = try export(bytes, to: out)
        let jpeg = try tags(out)
        #expect(jpeg["IFD0:Artist"] == "Somebody" && jpeg["IFD0:ImageDescription"]?.count == 9_000)
        #expect(jpeg["ExifIFD:UserComment"] == nil && jpeg["IFD0:Orientation"] == "1")
        _ = try export(bytes, as: .png, to: out)
        let png = try tags(out)
        #expect(png["ExifIFD:UserComment"]?.count == 60_000 && png["IFD0:ImageDescription"]?.count == 9_000)
    }

    @Test func `tells the size and orientation of the picture that it is with`() throws {
        let folder = try TemporaryFolder()
        let (path, out) = (folder.path + "/in.jpg", folder.path + "/out.jpg")
        let thumb = folder.path + "/thumb.jpg"
        _ = try Programs.run("/usr/bin/env", ["convert", "-size", "600x400", "gradient:red-blue", path])
        _ = try Programs.run("/usr/bin/env", ["convert", path, "-resize", "16x16", thumb])
        // In EXIF one that is many times as long as all the rest.
        let large = folder.path + "/large.jpg"
        _ = try Programs.run(
            "/usr/bin/env", ["convert", "-size", "160x120", "xc:", "+noise", "Random", "-quality", "98", large])
        #expect(try Data(contentsOf: URL(filePath: large)).count > 20_000)
        let written = try Programs.run(
            "/usr/bin/env",
            [
                "exiftool", "-q", "-overwrite_original", "-n", "-Orientation=6", "-ExifImageWidth=600",
                "-ExifImageHeight=400", "-IFD0:ImageWidth=600", "-IFD0:ImageHeight=400", "-InteropIFD:InteropIndex=R98",
                "-InteropIFD:RelatedImageWidth=600", "-InteropIFD:RelatedImageHeight=400", "-XMP-tiff:Orientation=6",
                "-XMP-tiff:ImageWidth=600", "-XMP-tiff:ImageHeight=400", "-XMP-exif:ExifImageWidth=600",
                "-XMP-exif:ExifImageHeight=400", "-XMP-dc:Title=A title", "-XMP-xmp:ThumbnailImage<=\(thumb)",
                "-XMP-xmp:ThumbnailWidth=16", "-ThumbnailImage<=\(large)", path,
            ])
        try #require(written.status == 0, "\(written.errors)")
        let bytes = Array(try Data(contentsOf: URL(filePath: path)))
        #expect(bytes.count > 20_000)
        #expect(try export(bytes, to: out, maxSize: 300).size == PixelSize(width: 200, height: 300))
        let found = try tags(out)
        for key in [
            "ExifIFD:ExifImageWidth", "IFD0:ImageWidth", "XMP-tiff:ImageWidth", "XMP-exif:ExifImageWidth",
            "InteropIFD:RelatedImageWidth",
        ] {
            #expect(found[key] == "200", "\(key)")
        }
        for key in [
            "ExifIFD:ExifImageHeight", "IFD0:ImageHeight", "XMP-tiff:ImageHeight", "XMP-exif:ExifImageHeight",
            "InteropIFD:RelatedImageHeight",
        ] {
            #expect(found[key] == "300", "\(key)")
        }
        #expect(found["IFD0:Orientation"] == "1" && found["XMP-tiff:Orientation"] == "1")
        #expect(found["XMP-dc:Title"] == "A title" && !found.keys.contains { $0.contains("Thumbnail") })
    }

    @Test func `tells of no video that the photo had`() throws {
        let folder = try TemporaryFolder()
        guard let corpus = try Corpus.find(for: "an export of a motion photo") else { return }
        let original = corpus.appending(path: "synthetic/MVIMG_0001.jpg")
        #expect(try tags(original.path)["XMP-GCamera:MicroVideo"] == "1")
        let out = folder.path + "/out.jpg"
        _ = try export(Array(try Data(contentsOf: original)), to: out)
        let found = try tags(out)
        #expect(found["XMP-GCamera:MicroVideo"] == "0" && found["XMP-GCamera:MicroVideoOffset"] == "0")
    }
}
