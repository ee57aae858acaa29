import Foundation
import Metadata
import PhotoModel
import TestSupport
import Testing

/// Streams as ffmpeg makes them.
@Suite("A stream") struct StreamTests {
    private func make(_ name: String, _ arguments: [String], in folder: TemporaryFolder) throws -> Inspection? {
        guard let ffmpeg = Programs.tool("ffmpeg") else {
            print("skipped: \(name) (ffmpeg is not installed)")
            return nil
        }
        let path = folder.path + "/" + name
        let outcome = try Programs.run(
            ffmpeg, ["-v", "error", "-y", "-f", "lavfi", "-i"] + arguments + [path])
        try #require(outcome.status == 0, "\(outcome.errors)")
        return Inspector.inspect(ByteSource(Array(try Data(contentsOf: URL(filePath: path)))))
    }

    @Test(
        arguments: [
            (322, 182, ["-pix_fmt", "yuv420p"]), (1920, 1080, ["-pix_fmt", "yuv420p"]),
            (720, 576, ["-pix_fmt", "yuv420p", "-flags", "+ilme+ildct"]),
            (323, 181, ["-vf", "format=yuv444p,scale=323:181"]),
            (322, 180, ["-pix_fmt", "yuv422p", "-profile:v", "high422"]),
            (160, 90, ["-profile:v", "baseline", "-pix_fmt", "yuv420p"]),
        ] as [(Int, Int, [String])])
    func `of H.264 in packets tells its size`(width: Int, height: Int, coding: [String]) throws {
        let inspection = try make(
            "a.mts",
            ["testsrc2=size=\(width)x\(height):rate=10:duration=1", "-c:v", "libx264"] + coding + ["-f", "mpegts"],
            in: try TemporaryFolder())
        guard let inspection else { return }
        #expect(inspection.mediaType == .mpegTS)
        #expect(inspection.facts.size == PixelSize(width: width, height: height))
    }

    @Test(arguments: ["a.mkv", "a.webm"])
    func `of Matroska tells its size as shown, and when it was made`(name: String) throws {
        let codec = name.hasSuffix("webm") ? "libvpx" : "libx264"
        let inspection = try make(
            name,
            [
                "testsrc2=size=320x180:rate=10:duration=1", "-c:v", codec, "-pix_fmt", "yuv420p", "-aspect", "4:3",
                "-metadata", "creation_time=2021-07-01T22:30:05Z",
            ], in: try TemporaryFolder())
        guard let inspection else { return }
        #expect(inspection.mediaType == .matroska)
        // ffprobe: sample_aspect_ratio 3:4, so 240 x 180.
        #expect(inspection.facts.size == PixelSize(width: 240, height: 180))
        let time = WallTime(year: 2021, month: 7, day: 1, hour: 22, minute: 30, second: 5)
        // ffmpeg writes no date into WebM, whose subset of Matroska has it.
        if name.hasSuffix("mkv") {
            #expect(inspection.dates == [CaptureDate(time: time, source: .quicktime, isUniversal: true)])
        }
    }

    @Test func `of Matroska that is cut or bent costs a moment`() throws {
        let head: [UInt8] = [0x1A, 0x45, 0xDF, 0xA3, 0x80, 0x18, 0x53, 0x80, 0x67]
        for rest: [UInt8] in [
            [], [0xFF], [0x01], [0x01, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x15, 0x49, 0xA9, 0x66, 0x88],
            [0x9F, 0x16, 0x54, 0xAE, 0x6B, 0x9A, 0xAE, 0x98, 0xE0, 0x96, 0xB0, 0x80, 0xBA, 0x88],
            Array(repeating: 0xAE, count: 4000), Array(repeating: 0x80, count: 100_000),
        ] {
            #expect(Inspector.inspect(ByteSource(head + rest)).facts.size == nil)
        }
    }
}
