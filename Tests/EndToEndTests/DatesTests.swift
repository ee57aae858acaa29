import ControlAPI
import Foundation
import TestSupport
import Testing

/// What exiftool writes into a photo, and what the catalog says of it. The service's zone is UTC, and each source was last
/// changed 2019-03-04 05:06:07.
@Suite("The date of a photo, end to end") struct DatesTests {
    private static let modified = "2019-03-04T05:06:07"

    /// Imports one photo whose EXIF holds only what `tags` say, as exiftool writes it without looking.
    private func photo(
        _ tags: [String], name: String = "IMG_0001.JPG", of sample: URL = Samples.photo
    ) async throws -> (asset: AssetBody, path: String) {
        let installation = try Installation()
        let stage = installation.folder.url.appending(path: "stage-\(name)")
        try FileManager.default.copyItem(at: sample, to: stage)
        let words = ["exiftool", "-q", "-m", "-overwrite_original", "-all="] + tags.map { "-" + $0 } + [stage.path]
        let written = try Programs.run("/usr/bin/env", words)
        #expect(written.status == 0, "\(written.errors)")
        _ = try Programs.run("/usr/bin/touch", ["-d", "\(Self.modified)Z", stage.path])
        try FileManager.default.moveItem(at: stage, to: installation.drop.appending(path: name))
        try await installation.start(environment: ["TZ": "UTC"])
        try await installation.wait(for: "the import") { try installation.status().queue.imported == 1 }
        let asset = try #require(try installation.assets().first)
        let shown = try Programs.run(
            Programs.path("photospool"), ["--socket", installation.socket, "show", asset.id])
        #expect(shown.output.contains("which cannot be") == (asset.implausibleAt != nil), "\(shown.output)")
        let path = try #require(try installation.visibleFiles().first)
        installation.stop()
        return (asset, path)
    }

    @Test(.timeLimit(.minutes(2)))
    func `G11 passes a year to come over, and keeps what the camera said`() async throws {
        let (asset, path) = try await photo([
            "DateTimeOriginal#=2050:12:31 10:11:12", "SubSecTimeOriginal=5", "OffsetTimeOriginal=+01:00",
        ])
        #expect(asset.capturedAt == Self.modified && asset.dateSource == "mtime")
        #expect(asset.implausibleAt == "2050-12-31T10:11:12.5" && asset.implausibleSource == "exif_original")
        #expect(path == "2019/2019-03-04/IMG_0001.JPG")
    }

    @Test(
        .timeLimit(.minutes(2)),
        arguments: [
            ("1970:01:01 00:00:00", "1970-01-01T00:00:00"), ("0000:00:00 00:00:00", nil),
            ("    :  :     :  :  ", nil), ("2013:13:45 25:61:61", "2013-13-45T25:61:61"),
            ("1980:01:01 00:00:00", "1980-01-01T00:00:00"),
        ])
    func `G12 files no photo under the year of a dead battery`(written: String, kept: String?) async throws {
        let (asset, path) = try await photo(["DateTimeOriginal#=\(written)", "CreateDate#=\(written)"])
        #expect(asset.capturedAt == Self.modified && asset.dateSource == "mtime")
        #expect(asset.implausibleAt == kept)
        #expect(path == "2019/2019-03-04/IMG_0001.JPG")
    }

    @Test(
        .timeLimit(.minutes(2)),
        arguments: [
            ("shot.PNG", modified, "mtime"), ("IMG_20180725_163423.PNG", "2018-07-25T16:34:23", "filename"),
        ])
    func `G13 dates a photo that says nothing by its name, else by its own file's time`(
        name: String, time: String, source: String
    ) async throws {
        let folder = try TemporaryFolder()
        let png = folder.url.appending(path: "plain.png")
        let made = try Programs.run("/usr/bin/env", ["convert", "-size", "64x48", "xc:teal", png.path])
        #expect(made.status == 0, "\(made.errors)")
        let (asset, path) = try await photo([], name: name, of: png)
        #expect(asset.capturedAt == time && asset.dateSource == source && asset.implausibleAt == nil)
        #expect(path == "\(time.prefix(4))/\(time.prefix(10))/\(name)")
    }

    @Test(.timeLimit(.minutes(2)))
    func `G15 takes the original date before the digitized and the modified one`() async throws {
        let (asset, path) = try await photo([
            "ModifyDate=2020:01:02 03:04:05", "CreateDate=2002:01:02 03:04:05", "DateTimeOriginal=2017:01:02 03:04:05",
        ])
        #expect(asset.capturedAt == "2017-01-02T03:04:05" && asset.dateSource == "exif_original")
        #expect(path == "2017/2017-01-02/IMG_0001.JPG")
    }

    @Test(.timeLimit(.minutes(2)))
    func `G16 takes the offset of the shot, not of the edit`() async throws {
        let (asset, _) = try await photo([
            "DateTimeOriginal=2026:01:02 23:30:00", "OffsetTime=+01:00", "OffsetTimeOriginal=+02:00",
        ])
        #expect(asset.capturedAt == "2026-01-02T23:30:00" && asset.capturedOffset == "+02:00")
    }
}
