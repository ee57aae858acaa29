import Foundation
import Metadata
import PhotoModel
import TestSupport
import Testing

@Suite("A motion photo") struct MotionTests {
    private static let movie = Array(Samples.movie(at: "2026-05-17T09:04:31+0200"))

    private func inspect(_ bytes: [UInt8]) -> Inspection { Inspector.inspect(ByteSource(bytes)) }

    private static func google(_ properties: String) throws -> [UInt8] {
        try Array(Samples.motionPhoto(properties, trailer: movie))
    }

    @Test(arguments: [true, false])
    func `of Google is one by what lies behind its picture`(isMicro: Bool) throws {
        let size = Self.movie.count
        let properties =
            isMicro
            ? "GCamera:MicroVideo=\"1\" GCamera:MicroVideoVersion=\"1\" GCamera:MicroVideoOffset=\"\(size)\">"
            : "Camera:MotionPhoto=\"1\"><Container:Directory><rdf:Seq><rdf:li><Container:Item Item:Mime=\"image/jpeg\" "
                + "Item:Semantic=\"Primary\" Item:Length=\"0\"/></rdf:li><rdf:li><Container:Item "
                + "Item:Semantic=\"MotionPhoto\" Item:Mime=\"video/mp4\" Item:Length=\"\(size)\"/></rdf:li></rdf:Seq>"
                + "</Container:Directory>"
        let photo = try Self.google(properties)
        #expect(inspect(photo).holdsVideo)
        #expect(inspect(photo).mediaType == .jpeg)
        // The word alone makes none.
        let cut = inspect(Array(photo.dropLast(size)))
        #expect(!cut.holdsVideo)
        #expect(cut.notes.contains { $0.contains("video inside") })
        let other = inspect(try Self.google(properties.replacing("=\"1\"", with: "=\"0\"")))
        #expect(!other.holdsVideo)
        #expect(other.notes.isEmpty)
    }

    @Test func `of Samsung is one by the directory at its end`() throws {
        func little(_ value: Int, _ width: Int) -> [UInt8] {
            (0..<width).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
        }
        func photo(type: Int) throws -> [UInt8] {
            let name = Array("MotionPhoto_Data".utf8)
            let data = little(0, 2) + little(type, 2) + little(name.count, 4) + name + Self.movie
            let directory =
                Array("SEFH".utf8) + little(107, 4) + little(1, 4) + little(0, 2) + little(type, 2)
                + little(data.count, 4) + little(data.count, 4)
            return try Array(Data(contentsOf: Samples.photo)) + data + directory + little(directory.count, 4)
                + Array("SEFT".utf8)
        }
        #expect(inspect(try photo(type: 0x0A30)).holdsVideo)
        #expect(!inspect(try photo(type: 0x0A01)).holdsVideo)
    }

    @Test func `of HEIF has a box for its video`() throws {
        let box = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: (8 + Self.movie.count) >> $0) }
        let photo = try Array(Data(contentsOf: Samples.heic)) + box + Array("mpvd".utf8) + Self.movie
        #expect(inspect(photo).holdsVideo)
        #expect(inspect(photo).mediaType == .heic)
        #expect(!inspect(Array(try Data(contentsOf: Samples.heic))).holdsVideo)
    }

    /// exiftool finds a video in one of the corpus, ffprobe a movie's head in another where its XMP says; a third says that it
    /// has one, and has none. Gain maps are none.
    @Test func `is found in the corpus where others find one`() throws {
        let folders = ["jpeg/", "heic/", "pairs/", "metadata/", "oddities/"]
        for row in try Corpus.rows(for: "motion photos") where folders.contains(where: row.path.hasPrefix) {
            guard ["JPEG", "HEIC", "HEIF", "MPO"].contains(row["format"]) else { continue }
            let isOne =
                row["notes"].contains("a whole MP4 is embedded") || row.path.hasSuffix("motion_photo_pixel_synth.jpg")
            #expect(inspect(try row.contents()).holdsVideo == isOne, "\(row.path)")
        }
    }
}
