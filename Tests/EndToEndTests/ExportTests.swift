import ControlAPI
import Foundation
import HTTPClient
import PhotoModel
import TestSupport
import Testing

/// By photospool and curl; exiftool and ImageMagick are the witnesses.
@Suite("An export", .tags(.neverPartial, .saysWhatIsWrong)) struct ExportTests {
    private func run(_ words: [String]) throws -> String {
        let outcome = try Programs.run("/usr/bin/env", words)
        let complaint = outcome.errors
        try #require(outcome.status == 0, "\(words): \(complaint)")
        return outcome.output
    }

    private func client(_ installation: Installation, _ words: String...) throws -> Programs.Outcome {
        try Programs.run(Programs.path("photospool"), ["--socket", installation.socket] + words)
    }

    private func tags(_ file: String, _ names: String...) throws -> [String] {
        try run(["exiftool", "-s3", "-n", "-f"] + names.map { "-" + $0 } + [file]).split(separator: "\n").map(
            String.init)
    }

    /// Mean over all samples, 0 to 1; profiles aside, both have the same.
    private func difference(_ one: String, _ other: String) throws -> Double {
        let compared = try Programs.run(
            "/usr/bin/env",
            [
                "convert", one, "-auto-orient", "-strip", "(", other, "-strip", ")", "-metric", "MAE", "-compare",
                "-format", "%[distortion]", "info:",
            ])
        return try #require(Double(compared.output))
    }

    /// A photo on its side with EXIF, XMP, a thumbnail, a place and a wide gamut, by exiftool.
    private func source(in folder: TemporaryFolder) throws -> URL {
        let url = folder.url.appending(path: "IMG_0007.JPG")
        try FileManager.default.copyItem(at: Samples.turned, to: url)
        let thumb = folder.path + "/thumb.jpg"
        _ = try run(["convert", url.path, "-strip", "-resize", "160x160", thumb])
        _ = try run([
            "exiftool", "-q", "-overwrite_original", "-Orientation#=6", "-Artist=Somebody", "-GPSLatitude=47.5596",
            "-GPSLatitudeRef=N", "-GPSLongitude=7.5886", "-GPSLongitudeRef=E", "-GPSAltitude=260",
            "-ExposureTime=1/250", "-UserComment=Riehen", "-ImageDescription=Riehen", "-XMP-dc:Subject=Riehen",
            "-IFD0:XPKeywords=Riehen",
            "-XMP-dc:Title=A title", "-XMP-xmp:Rating=4", "-XMP-exif:GPSLatitude=47.5596",
            "-XMP-exif:GPSLongitude=7.5886",
            "-XMP-tiff:Orientation#=6", "-ThumbnailImage<=\(thumb)", url.path,
        ])
        return url
    }

    private func began() async throws -> (Installation, AssetBody, TemporaryFolder) {
        let folder = try TemporaryFolder()
        let installation = try Installation()
        try installation.place(try source(in: folder), as: "IMG_0007.JPG")
        try await installation.start()
        try await installation.waitUntilIdle()
        return (installation, try #require(try installation.assets().first), folder)
    }

    @Test(.timeLimit(.minutes(2)), arguments: ExportSpec.Format.allCases)
    func `is upright, and tells what the original tells, but for the place where that is to go`(
        format: ExportSpec.Format
    ) async throws {
        let (installation, asset, folder) = try await began()
        let (width, height) = (try #require(asset.width), try #require(asset.height))
        for strips in [false, true] {
            let file = folder.path + "/out-\(strips).\(format.fileExtension)"
            let words = ["export", asset.id, "--format", format.rawValue, "-o", file, "--max-size", "800"]
            let outcome = try Programs.run(
                Programs.path("photospool"),
                ["--socket", installation.socket] + words + (strips ? ["--strip-location"] : []))
            #expect(outcome.status == 0, "\(outcome.errors)")
            let scale = 800.0 / Double(max(width, height))
            let shown = [width, height].map { "\(Int((Double($0) * scale).rounded()))" }
            #expect(try tags(file, "FileType", "ImageWidth", "ImageHeight") == [format.rawValue.uppercased()] + shown)
            #expect(try tags(file, "Artist", "ExposureTime", "EXIF:Orientation") == ["Somebody", "0.004", "1"])
            #expect(try tags(file, "ThumbnailImage") == ["-"])
            #expect(
                try run(["exiftool", "-validate", "-s3", file]).hasPrefix("0 ")
                    || !run(["exiftool", "-validate", "-warning", "-a", "-s3", file]).contains("rror"))
            let place = try tags(
                file, "EXIF:GPSLatitude", "EXIF:GPSLongitude", "XMP:GPSLatitude", "XMP-dc:Title", "XMP-tiff:Orientation"
            )
            if strips {
                #expect(place == ["-", "-", "-", "-", "-"], "\(place)")
                #expect(!(try run(["exiftool", "-a", "-G1", "-s", "-u", file])).contains("Riehen"), "\(format)")
                let bytes = try run(["exiftool", "-a", "-G1", "-s", file])
                #expect(!bytes.contains("GPS"), "\(bytes)")
            } else {
                #expect(
                    place.map { String($0.prefix(6)) } == ["47.559", "7.5886", "47.559", "A titl", "1"], "\(place)")
            }
        }
        #expect(installation.stop() == 0)
    }

    @Test(.timeLimit(.minutes(2)))
    func `keeps a wide gamut with its profile, and shows what the original shows`() async throws {
        guard let corpus = try Corpus.find(for: "an export of a wide gamut") else { return }
        let original = corpus.appending(path: "metadata/Iceland-P3.jpg")
        let installation = try Installation()
        try installation.place(original, as: "IMG_0008.JPG")
        try await installation.start()
        try await installation.waitUntilIdle()
        let asset = try #require(try installation.assets().first)
        let folder = try TemporaryFolder()
        let again = folder.path + "/again.jpg"
        _ = try run(["convert", original.path, "-quality", "90", "-sampling-factor", "2x2,1x1,1x1", again])
        for format in [ExportSpec.Format.jpeg, .png] {
            let file = folder.path + "/out." + format.fileExtension
            #expect(try client(installation, "export", asset.id, "--format", format.rawValue, "-o", file).status == 0)
            #expect(
                try tags(file, "ICC_Profile:ProfileDescription")
                    == tags(original.path, "ICC_Profile:ProfileDescription"))
            // A PNG loses nothing; a JPEG no more than ImageMagick's own of this quality and sampling.
            let distance = try difference(original.path, file)
            #expect(distance < (format == .png ? 0.0005 : 1.1 * (try difference(original.path, again))), "\(format)")
        }
        #expect(installation.stop() == 0)
    }

    @Test(.timeLimit(.minutes(2)))
    func `fits into the bytes it may have, by quality and then by size`() async throws {
        let (installation, asset, folder) = try await began()
        let whole = folder.path + "/whole.jpg"
        #expect(try client(installation, "export", asset.id, "-o", whole).status == 0)
        for (format, most, isSmaller) in [("jpeg", 60_000, false), ("jpeg", 12_000, true), ("png", 300_000, true)] {
            let file = folder.path + "/\(format)-\(most)"
            let outcome = try client(
                installation, "export", asset.id, "--format", format, "--max-bytes", "\(most)", "-o", file)
            #expect(outcome.status == 0, "\(outcome.errors)")
            let bytes = try Data(contentsOf: URL(filePath: file)).count
            #expect(bytes <= most && bytes > most / 3, "\(format) \(most): \(bytes)")
            let full = try tags(whole, "ImageWidth")
            #expect(try (tags(file, "ImageWidth") != full) == isSmaller, "\(format) \(most)")
        }
        let refused = try client(installation, "export", asset.id, "--max-bytes", "300", "-o", folder.path + "/tiny")
        #expect(refused.status == 1)
        #expect(refused.errors.contains("E_TOO_LARGE"))
        #expect(!FileManager.default.fileExists(atPath: folder.path + "/tiny"))
        #expect(installation.stop() == 0)
    }

    @Test(.timeLimit(.minutes(2)))
    func `writes over nothing, and is whole or absent`() async throws {
        let (installation, asset, folder) = try await began()
        let file = folder.path + "/there.jpg"
        try Data("mine".utf8).write(to: URL(filePath: file))
        let refused = try client(installation, "export", asset.id, "-o", file)
        #expect(refused.status == 1)
        #expect(try String(contentsOfFile: file, encoding: .utf8) == "mine")
        #expect(try client(installation, "export", asset.id, "-o", "/dev/full/x.jpg").status == 1)
        #expect(try client(installation, "export", "nobody", "-o", folder.path + "/nobody.jpg").status == 1)
        #expect(try client(installation, "export", asset.id, "--format", "bmp").status == 64)
        for bad in [
            "", "?format=bmp", "?format=jpeg&max_size=1", "?format=jpeg&max_bytes=0", "?format=jpeg&strip_location=x",
        ] {
            let reply = try installation.request(.get, "/v1/assets/\(asset.id)/export\(bad)")
            #expect(reply.status == 400 && reply.mediaType == "application/problem+json", "\(bad)")
        }
        let reply = try installation.request(.get, "/v1/assets/\(asset.id)/export?format=png&max_size=100")
        #expect(reply.status == 200 && reply.mediaType == "image/png")
        let left = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        #expect(left == ["IMG_0007.JPG", "there.jpg", "thumb.jpg"])
        #expect(installation.stop() == 0)
    }
}
