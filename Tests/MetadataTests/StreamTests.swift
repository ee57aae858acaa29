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

    /// What is bent at random ends, and what it says fits where it goes; the seed is printed.
    @Test func `or a sidecar, or a motion photo, that is bent anywhere costs a moment`() throws {
        let folder = try TemporaryFolder()
        var whole = [
            Array("{\"photoTakenTime\": {\"timestamp\": \"1617923095\"}, \"geoData\": {\"latitude\": 3.5}}".utf8),
            Array(
                try Samples.motionPhoto(
                    "GCamera:MicroVideo=\"1\" GCamera:MicroVideoOffset=\"99\" exif:GPSLatitude=\"34,47.8N\">",
                    trailer: Samples.movie(at: "2026-05-17T09:04:31+0200"))
            ).prefix(900) + Array("SEFH\0\0\0\0\u{1}\0\0\0\0\0\u{30}\u{0A}\0\0\0\0\0\0\0\0".utf8)
                + [24, 0, 0, 0] + Array("SEFT".utf8),
        ]
        for (name, format) in [("a.mkv", "matroska"), ("a.mts", "mpegts")] {
            let made = try make(
                name, ["testsrc2=size=64x48:rate=5:duration=1", "-c:v", "libx264", "-f", format], in: folder)
            if made != nil {
                whole.append(Array(try Data(contentsOf: folder.url.appending(path: name)).prefix(2048)))
            }
        }
        let seed = UInt64.random(in: 0 ... .max)
        var state = seed
        func next(_ limit: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % limit
        }
        print("bent with seed \(seed)")
        for bytes in whole {
            for _ in 0..<1500 {
                var bent = bytes
                for _ in 0...next(6) { bent[next(bent.count)] = [0, 0xFF, 0x7F, 0x80, UInt8(next(256))][next(5)] }
                if next(4) == 0 { bent.removeLast(next(bent.count)) }
                let inspection = Inspector.inspect(ByteSource(bent))
                #expect(inspection.dates.allSatisfy { (0...9999).contains($0.time.year) }, "seed \(seed)")
                #expect(inspection.facts.latitude.map { abs($0) <= 90 } ?? true, "seed \(seed)")
            }
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
