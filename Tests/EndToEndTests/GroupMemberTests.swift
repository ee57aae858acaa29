import ControlAPI
import Foundation
import HTTPClient
import TestSupport
import Testing

/// What a group's members bring along, and what becomes of it when one of them is no good.
@Suite("A member of a group", .tags(.neverLost, .saysWhatIsWrong)) struct GroupMemberTests {
    private static let heicTime = "2026-05-17T21:11:40+0200"
    private static let edit = Data("<plist><dict><key>adjustmentFormatIdentifier</key></dict></plist>".utf8)

    private func drop(_ files: [String: Data], in installation: Installation) throws {
        for (name, data) in files { try data.write(to: installation.drop.appending(path: name)) }
    }

    private func names(_ asset: AssetBody) -> [String] {
        asset.resources.map { "\($0.role) \($0.path.split(separator: "/").last ?? "")" }
    }

    /// What can be shown where its JPEG cannot.
    private func tiff(_ installation: Installation) throws -> Data {
        let path = installation.folder.path + "/picture.tif"
        let outcome = try Programs.run(
            "/usr/bin/env", ["convert", "-size", "64x48", "gradient:red-blue", "-compress", "none", path])
        try #require(outcome.status == 0, "\(outcome.errors)")
        return try Data(contentsOf: URL(filePath: path))
    }

    // MARK: Broken

    @Test(.timeLimit(.minutes(2)))
    func `that is neither photo nor video ends by itself, and the others are imported`() async throws {
        let installation = try Installation(dropKeys: "after_import = \"move\"")
        let garbage = Data("no video at all, not even a little".utf8)
        let heic = try Data(contentsOf: Samples.heic)
        try drop(["IMG_1.HEIC": heic, "IMG_1.MOV": garbage, "IMG_1.AAE": Self.edit], in: installation)
        #expect(try installation.runOnce() == 1, Comment(rawValue: installation.logText))
        try await installation.start()
        let asset = try #require(try installation.assets().first)
        #expect(names(asset) == ["photo IMG_1.HEIC", "adjustment IMG_1.AAE"])
        #expect(asset.kind == "photo")
        let failed = try installation.jobs("&state=failed")
        #expect(failed.map { $0.error?.code } == ["E_CORRUPT"])
        #expect(failed.first?.files.map(\.path) == [installation.drop.appending(path: "IMG_1.MOV").path])
        #expect(failed.first?.error?.recovery.isEmpty == false)
        // Its source stays where it was, and is what it was.
        #expect(try Data(contentsOf: installation.drop.appending(path: "IMG_1.MOV")) == garbage)
        #expect(
            try installation.files(below: installation.drop)
                == [".imported/IMG_1.AAE", ".imported/IMG_1.HEIC", "IMG_1.MOV"])
        // A good one in its place is a late member.
        try Samples.movie(at: Self.heicTime).write(to: installation.drop.appending(path: "IMG_1.MOV"))
        try await installation.wait(for: "the video") { try installation.assets()[0].resources.count == 3 }
        try await installation.waitUntilIdle()
        #expect(try installation.assets().map(\.kind) == ["live_photo"])
        #expect(try installation.jobs().map(\.state).sorted() == ["imported", "imported", "vanished"])
        installation.stop()
    }

    @Test(.timeLimit(.minutes(2)), arguments: ["rollback", "keep"])
    func `whose picture is damaged ends by itself, unless everything is to be imported`(policy: String) async throws {
        let installation = try Installation(more: "[import]\non_preview_failure = \"\(policy)\"\n")
        let (damaged, tiff) = (try Samples.damaged(), try tiff(installation))
        try drop(
            ["IMG_1.JPG": damaged, "IMG_1.TIF": tiff, "IMG_1.JPG.xmp": Data("<x:xmpmeta/>".utf8)], in: installation)
        #expect(try installation.runOnce() == (policy == "keep" ? 0 : 1))
        try await installation.start()
        let assets = try installation.assets()
        #expect(assets.map(\.preview.state) == ["ok"])
        if policy == "keep" {
            #expect(assets.map(\.resources.count) == [3])
        } else {
            #expect(assets.map(names) == [["photo IMG_1.TIF"]])
            let failed = try installation.jobs("&state=failed")
            #expect(failed.map { $0.error?.code } == ["E_CORRUPT"])
            // Its own sidecar stays with it.
            #expect(failed.first?.files.map { $0.path.suffix(9) } == ["IMG_1.JPG", "1.JPG.xmp"])
        }
        installation.stop()
    }

    /// Some cameras' RAW and bitmaps tell nobody here what they are; they are no less somebody's only copy.
    @Test(.timeLimit(.minutes(2)), arguments: ["BMP", "RAW", "MPG"])
    func `that nobody here knows goes along with its shot, as it is`(kind: String) async throws {
        let installation = try Installation(dropKeys: "after_import = \"move\"")
        let unknown = Data((0..<4096).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ 11) })
        try drop(
            ["IMG_1.JPG": try Data(contentsOf: Samples.photo), "IMG_1.\(kind)": unknown], in: installation)
        #expect(try installation.runOnce() == 0, Comment(rawValue: installation.logText))
        try await installation.start()
        let assets = try installation.assets()
        #expect(assets.map(\.resources.count) == [2])
        let path = try #require(assets.first?.resources.last?.path)
        #expect(path.hasSuffix("/IMG_1.\(kind)"))
        #expect(try Data(contentsOf: installation.library.appending(path: path)) == unknown)
        installation.stop()
    }

    @Test(.timeLimit(.minutes(2)))
    func `that is empty is refused, and its RAW is imported`() async throws {
        let installation = try Installation()
        try drop(["IMG_1.JPG": Data(), "IMG_1.TIF": try tiff(installation)], in: installation)
        #expect(try installation.runOnce() == 1)
        try await installation.start()
        #expect(try installation.assets().map(names) == [["photo IMG_1.TIF"]])
        #expect(try installation.jobs("&state=failed").map { $0.error?.code } == ["E_EMPTY"])
        installation.stop()
    }

    @Test(.timeLimit(.minutes(2)), arguments: ["IMG_1.xmp", "IMG_1.MOV"])
    func `that cannot be read holds up its shot while it is tried again, and then ends by itself`(
        name: String
    ) async throws {
        guard try Faults.arePossible(for: "a file that cannot be read") else { return }
        let installation = try Installation(more: "[import]\nmax_attempts = 2\n")
        let more = name == "IMG_1.xmp" ? Data("<x:xmpmeta/>".utf8) : Samples.movie(at: Self.heicTime)
        try drop(["IMG_1.HEIC": try Data(contentsOf: Samples.heic), name: more], in: installation)
        let path = installation.drop.appending(path: name).path
        try await installation.start(environment: Faults.environment(["read:EIO:1+@\(path)"]))
        try await installation.wait(for: "the first attempt") { try installation.status().queue.retrying == 1 }
        #expect(try installation.assets().isEmpty)
        #expect(try installation.visibleFiles().isEmpty)
        try await installation.wait(for: "the photo") { try installation.status().queue.imported == 1 }
        #expect(try installation.assets().map(names) == [["photo IMG_1.HEIC"]])
        let failed = try installation.jobs("&state=failed")
        #expect(failed.map { $0.error?.code } == ["E_SOURCE_IO"])
        #expect(failed.first?.files.map(\.path) == [path])
        installation.kill()
        // The card is well again: a person says so, and it joins.
        try await installation.start()
        #expect(try installation.post("/v1/jobs/\(failed[0].id)/retry").isSuccess)
        try await installation.wait(for: "the rest") { try installation.assets()[0].resources.count == 2 }
        installation.stop()
    }

    // MARK: Alone

    @Test(.timeLimit(.minutes(2)), .tags(.saysWhatIsWrong))
    func `that is JSON and of no photo is no photo itself`() async throws {
        let installation = try Installation()
        try drop(["data.json": Data("{\"title\": \"a.jpg\"}".utf8)], in: installation)
        #expect(try installation.runOnce() == 0)
        try await installation.start()
        #expect(try installation.jobs().map(\.state) == ["skipped"])
        #expect(try installation.jobs().map { $0.error?.code } == ["E_UNSUPPORTED"])
        #expect(try installation.visibleFiles().isEmpty)
        installation.stop()
    }

    @Test(.timeLimit(.minutes(4)))
    func `F10 that stays alone waits, is reported once, and goes along when its photo comes`() async throws {
        let installation = try Installation(dropKeys: "rescan_interval = \"10s\"")
        try drop(["IMG_9.AAE": Self.edit], in: installation)
        try await installation.start()
        try await installation.waitUntilIdle()  // what waits for somebody else does not count
        #expect(try installation.jobs().isEmpty)
        try await installation.wait(for: "the report") { try installation.jobs().count == 1 }
        for _ in 0..<20 {
            #expect(try installation.post("/v1/rescan").isSuccess)
            try await Task.sleep(for: .milliseconds(100))
        }
        try await installation.waitUntilIdle()
        let jobs = try installation.jobs()
        #expect(jobs.map(\.state) == ["failed"])
        #expect(jobs.map { $0.error?.code } == ["E_ORPHAN"])
        #expect(jobs[0].attempts == 0)
        let said = installation.logText.split(separator: "\n").count { $0.contains("E_ORPHAN") }
        #expect(said <= 1)
        try drop(["IMG_9.HEIC": try Data(contentsOf: Samples.heic)], in: installation)
        try await installation.wait(for: "the photo") { try installation.assets().first?.resources.count == 2 }
        try await installation.waitUntilIdle()
        #expect(try installation.assets().map(names) == [["photo IMG_9.HEIC", "adjustment IMG_9.AAE"]])
        #expect(try installation.status().queue.failed == 0)
        installation.stop()
    }
}
