import ControlAPI
import Foundation
import TestSupport
import Testing

@Suite("Videos") struct MovieTests {
    /// 22:30 in UTC is a quarter past four on the next day in Kathmandu: told, and filed, as the clock there showed it.
    @Test(.timeLimit(.minutes(2)))
    func `are filed by the time of their zone, and have a poster the right way up`() async throws {
        guard let ffmpeg = Programs.tool("ffmpeg") else { return print("skipped: videos (ffmpeg is not installed)") }
        let installation = try Installation(more: "[import]\ntime_zone = \"Asia/Kathmandu\"\n")
        let (plain, path) = (installation.folder.path + "/plain.mp4", installation.drop.path + "/MVI_1.MP4")
        for arguments in [
            [
                "-f", "lavfi", "-i", "testsrc2=size=320x180:rate=10:duration=1", "-c:v", "libx264", "-pix_fmt",
                "yuv420p", "-metadata", "creation_time=2021-07-01T22:30:05Z", plain,
            ],
            ["-i", plain, "-c", "copy", "-map_metadata", "0", "-metadata:s:v:0", "rotate=90", path],
        ] {
            let outcome = try Programs.run(ffmpeg, ["-v", "error", "-y"] + arguments)
            try #require(outcome.status == 0, "\(outcome.errors)")
        }
        try await installation.start()
        try await installation.waitUntilIdle()
        let asset = try #require(try installation.assets().first)
        #expect(asset.capturedAt == "2021-07-02T04:15:05")
        #expect(asset.capturedOffset == "+05:45")
        #expect(asset.dateSource == "quicktime")
        #expect(asset.resources.first?.path == "2021/2021-07-02/MVI_1.MP4")
        #expect(asset.preview.state == "ok")
        #expect(asset.preview.width == 180 && asset.preview.height == 320)
        #expect(installation.stop() == 0)
    }
}
