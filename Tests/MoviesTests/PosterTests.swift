import Codecs
import Foundation
import Movies
import PhotoModel
import TestSupport
import Testing

/// Movies are made by the ffmpeg program, and what it shows of them is what the posters are held against.
@Suite("The poster of a movie", .timeLimit(.minutes(5))) struct PosterTests {
    private let folder: TemporaryFolder
    private let ffmpeg: String?

    init() throws {
        folder = try TemporaryFolder()
        ffmpeg = Programs.tool("ffmpeg")
        if ffmpeg == nil { print("skipped: a movie's poster (ffmpeg is not installed)") }
    }

    private static func poster(
        _ path: String, _ type: MediaType, spec: PreviewSpec = PreviewSpec()
    ) throws -> EncodedPreview {
        let file = try FileHandle(forReadingFrom: URL(filePath: path))
        let size = try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int64 ?? 0
        return try PosterDecoder().preview(of: file.fileDescriptor, size: size, type: type, spec: spec)
    }

    private func make(_ name: String, _ arguments: [String]) throws -> String {
        let path = folder.path + "/" + name
        let outcome = try Programs.run(try #require(ffmpeg), ["-v", "error", "-y"] + arguments + [path])
        try #require(outcome.status == 0, "\(outcome.errors)")
        return path
    }

    /// Red, green, blue and white in the corners, as raw pixels of `size`, by ImageMagick.
    private func pixels(_ path: String, width: Int, height: Int) throws -> [UInt8] {
        let raw = path + ".rgb"
        let outcome = try Programs.run(
            "/usr/bin/env", ["convert", path, "-resize", "\(width)x\(height)!", "-depth", "8", "rgb:" + raw])
        try #require(outcome.status == 0, "\(outcome.errors)")
        return Array(try Data(contentsOf: URL(filePath: raw)))
    }

    private func pixels(_ preview: EncodedPreview) throws -> [UInt8] {
        let path = folder.path + "/\(UUID().uuidString).jpg"
        try Data(preview.jpeg).write(to: URL(filePath: path))
        return try pixels(path, width: preview.size.width, height: preview.size.height)
    }

    private static func likeness(_ left: [UInt8], _ right: [UInt8]) -> Double {
        guard left.count == right.count, !left.isEmpty else { return 0 }
        let error = zip(left, right).reduce(0.0) { sum, pair in
            let difference = Double(pair.0) - Double(pair.1)
            return sum + difference * difference
        }
        return error == 0 ? .infinity : 10 * log10(255 * 255 * Double(left.count) / error)
    }

    /// What the ffmpeg program shows of the first key frame, turned as it turns it.
    private func shown(_ path: String, _ filter: String = "null", size: PixelSize) throws -> [UInt8] {
        let png = try make("shown.png", ["-skip_frame", "nokey", "-i", path, "-frames:v", "1", "-vf", filter])
        return try pixels(png, width: size.width, height: size.height)
    }

    private static let pattern = ["-f", "lavfi", "-i", "testsrc2=size=320x180:rate=10:duration=1,gblur=sigma=4"]
    private static let codec = ["-c:v", "libx264", "-crf", "8", "-pix_fmt", "yuv420p"]
    private static let sd = ["-colorspace", "smpte170m", "-color_primaries", "smpte170m", "-color_trc", "bt709"]

    /// The display matrix, once (E20). ffmpeg writes it as asked for and turns its own output by it.
    @Test(arguments: [0, 90, 180, 270]) func `E20 is upright whatever the display matrix`(degrees: Int) throws {
        guard ffmpeg != nil else { return }
        let plain = try make("plain.mp4", Self.pattern + Self.codec + Self.sd)
        let path = try make(
            "turned.mov", ["-i", plain, "-c", "copy", "-metadata:s:v:0", "rotate=\(degrees)"])
        let poster = try Self.poster(path, .quicktime)
        let isSide = degrees % 180 == 90
        #expect(poster.size == PixelSize(width: isSide ? 180 : 320, height: isSide ? 320 : 180))
        #expect(Self.likeness(try pixels(poster), try shown(path, size: poster.size)) > 32)
    }

    /// Every container that is promised, and codings of phones and cameras; 10 bits, other samplings, and what swscale has
    /// to write out anew (packed 4:2:2, RGB, a palette).
    @Test(arguments: [
        ("a.mp4", MediaType.mp4, ["-c:v", "libx265", "-crf", "8", "-x265-params", "log-level=none"]),
        (
            "b.mov", .quicktime,
            ["-c:v", "libx265", "-crf", "8", "-pix_fmt", "yuv420p10le", "-x265-params", "log-level=none"]
        ),
        ("c.avi", .avi, ["-c:v", "mjpeg", "-q:v", "2", "-pix_fmt", "yuvj422p"]),
        ("d.mts", .mpegTS, ["-c:v", "libx264", "-crf", "8", "-f", "mpegts"]),
        ("e.m2ts", .mpegTS, ["-c:v", "mpeg2video", "-q:v", "2", "-mpegts_m2ts_mode", "1", "-f", "mpegts"]),
        ("f.mkv", .matroska, ["-c:v", "ffv1", "-pix_fmt", "yuv444p"]),
        ("g.avi", .avi, ["-c:v", "rawvideo", "-pix_fmt", "yuyv422"]),
        ("h.avi", .avi, ["-c:v", "rawvideo", "-pix_fmt", "bgr24"]),
        ("i.mov", .quicktime, ["-c:v", "qtrle", "-pix_fmt", "rgb24"]),
        ("j.mp4", .mp4, ["-c:v", "mpeg4", "-q:v", "2"]),
        ("k.mov", .quicktime, ["-c:v", "prores_ks", "-profile:v", "3"]),
    ])
    func `is the first picture of every container and coding`(
        name: String, type: MediaType, coding: [String]
    ) throws {
        guard ffmpeg != nil else { return }
        let path = try make(name, Self.pattern + coding)
        let poster = try Self.poster(path, type)
        #expect(poster.size == PixelSize(width: 320, height: 180))
        #expect(!poster.isPartial)
        #expect(Self.likeness(try pixels(poster), try shown(path, size: poster.size)) > 32)
    }

    /// Two seconds of black, then a picture: it is the picture. Nothing but black: it is black, not a failure.
    @Test func `is the first key frame that is not black`() throws {
        guard ffmpeg != nil else { return }
        let source = "color=black:size=320x180:rate=10:duration=2[a];color=0x3060C0:size=320x180:rate=10:duration=2[b]"
        let path = try make(
            "late.mp4",
            ["-filter_complex", source + ";[a][b]concat=n=2:v=1"] + Self.codec + ["-g", "5", "-bf", "2"] + Self.sd)
        let found = try pixels(try Self.poster(path, .mp4))
        // Of the middle of the picture.
        let middle = Array(found[(90 * 320 + 160) * 3..<(90 * 320 + 160) * 3 + 3])
        #expect(zip(middle, [0x30, 0x60, 0xC0] as [UInt8]).allSatisfy { abs(Int($0) - Int($1)) <= 6 }, "\(middle)")
        let black = try make(
            "black.mp4", ["-f", "lavfi", "-i", "color=black:size=320x180:rate=10:duration=2"] + Self.codec)
        #expect(try pixels(try Self.poster(black, .mp4)).allSatisfy { $0 <= 4 })
        #expect(try Self.poster(path, .mp4).jpeg == (try Self.poster(path, .mp4)).jpeg)
    }

    /// 720 x 576 shown as 16:9: pixels 64/45 as wide as high. By width, as players do.
    @Test func `has square pixels`() throws {
        guard ffmpeg != nil else { return }
        let path = try make(
            "wide.mp4",
            ["-f", "lavfi", "-i", "testsrc2=size=720x576:rate=5:duration=1,gblur=sigma=4,setsar=64/45"] + Self.codec
                + Self.sd)
        let poster = try Self.poster(path, .mp4)
        #expect(poster.size == PixelSize(width: 1024, height: 576))
        #expect(
            Self.likeness(
                try pixels(poster), try shown(path, "scale=1024:576:flags=lanczos,setsar=1", size: poster.size)) > 30)
    }

    /// ITU-R BT.2408: reference white is 203 cd/m2, PQ code 0.5807, in video range 573,
    /// and comes out as a light grey; 18 % of it (36.5 cd/m2, code 0.4111, 424) stays as dark as in sRGB, where it is 118.
    @Test func `E11 tones down PQ`() throws {
        guard ffmpeg != nil else { return }
        let path = try make(
            "hdr.mkv",
            [
                "-f", "lavfi", "-i",
                "color=gray:size=320x180:rate=5:duration=1,format=yuv420p10le,geq=lum='if(lt(X,160),424,573)':cb=512:cr=512",
                "-c:v", "ffv1", "-colorspace", "bt2020nc", "-color_primaries", "bt2020", "-color_trc", "smpte2084",
                "-color_range", "tv",
            ])
        let found = try pixels(try Self.poster(path, .matroska))
        let dark = Int(found[(90 * 320 + 40) * 3])
        let light = Int(found[(90 * 320 + 280) * 3])
        #expect(abs(dark - 118) <= 6, "\(dark)")
        #expect((200...250).contains(light), "\(light)")
    }

    /// Cut, empty, or something else (D03, E26): a code, and soon.
    @Test func `D03 of what is no movie is a code`() throws {
        guard ffmpeg != nil else { return }
        let path = try make("whole.mp4", Self.pattern + Self.codec + ["-movflags", "faststart"])
        let whole = try Data(contentsOf: URL(filePath: path))
        for (count, codes) in [
            (whole.count / 12, [Problem.Code.truncated, .corrupt]), (40, [.corrupt, .truncated]),
            (8, [.corrupt, .truncated]),
        ] {
            let cut = folder.path + "/cut.mp4"
            try whole.prefix(count).write(to: URL(filePath: cut))
            do {
                _ = try Self.poster(cut, .mp4)
            } catch let failure as CodecFailure {
                #expect(codes.contains(failure.code), "\(count): \(failure)")
            }
        }
        do {
            _ = try Self.poster(path, .mp4, spec: PreviewSpec(maxPixels: Pixels(1000)))
            Issue.record("too many pixels")
        } catch let failure as CodecFailure { #expect(failure.code == .tooLarge) }
        do {
            _ = try Self.poster(path, .jpeg)
            Issue.record("no movie")
        } catch let failure as CodecFailure { #expect(failure.code == .unsupported) }
    }

    /// Real ones, held against what the ffmpeg program shows first. The jellyfish are in P3, which it leaves as it is.
    @Test func `of phones and cameras is what ffmpeg shows`() throws {
        guard ffmpeg != nil else { return }
        for row in try Corpus.rows(for: "posters of real movies")
        where row.path.hasPrefix("video/") && row["notes"].contains("ffmpeg decodes a frame") {
            let type: MediaType =
                switch row["format"] {
                case "MOV": .quicktime
                case "AVI": .avi
                case "M2TS": .mpegTS
                default: .mp4
                }
            let poster = try Self.poster(row.absolutePath, type)
            let (width, height) = (Int(row["display_width"]) ?? 0, Int(row["display_height"]) ?? 0)
            #expect(
                poster.size == PreviewGeometry.size(of: PixelSize(width: width, height: height), maxSize: 1200),
                "\(row.path)")
            // 709 is what players take for HD that says nothing; ffmpeg's own program takes 601.
            let matrix = height > 576 || width >= 1280 ? "scale=in_color_matrix=bt709," : ""
            let expected = try shown(
                row.absolutePath,
                "\(matrix)scale=\(poster.size.width):\(poster.size.height):flags=lanczos+accurate_rnd",
                size: poster.size)
            let least = row.path.hasSuffix("Jellyfish.mov") ? 25.0 : 28
            #expect(Self.likeness(try pixels(poster), expected) > least, "\(row.path)")
        }
    }
}
