import Foundation
import Metadata
import PhotoModel
import TestSupport
import Testing

/// Files by ImageMagick and tiffset.
@Suite("An inspection of a still") struct StillTests {
    private static func run(_ words: String..., in folder: TemporaryFolder) throws {
        let here = words.map { $0.replacing("@", with: folder.path + "/") }
        let outcome = try Programs.run("/usr/bin/env", here)
        try #require(outcome.status == 0)
    }

    private static func inspect(_ name: String, in folder: TemporaryFolder) throws -> Inspection {
        Inspector.inspect(ByteSource(Array(try Data(contentsOf: URL(filePath: folder.path + "/" + name)))))
    }

    @Test func `of a TIFF tells the page that is the picture, and that page's orientation`() throws {
        let folder = try TemporaryFolder()
        try Self.run("convert", "-size", "16x12", "xc:red", "-size", "64x48", "xc:blue", "@a.tif", in: folder)
        #expect(try Self.inspect("a.tif", in: folder).facts.size == PixelSize(width: 16, height: 12))
        try Self.run("tiffset", "-d", "0", "-s", "SubfileType", "1", "@a.tif", in: folder)
        try Self.run("tiffset", "-d", "1", "-s", "Orientation", "6", "@a.tif", in: folder)
        let inspection = try Self.inspect("a.tif", in: folder)
        #expect(inspection.mediaType == .tiff)
        #expect(inspection.facts.size == PixelSize(width: 48, height: 64))
        #expect(inspection.facts.orientation == 6)
    }
}
