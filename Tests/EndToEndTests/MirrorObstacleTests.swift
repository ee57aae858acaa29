import ControlAPI
import Foundation
import HTTPClient
import TestSupport
import Testing

@Suite("What a mirror cannot get", .tags(.neverLost, .saysWhatIsWrong)) struct MirrorObstacleTests {
    @Test(.timeLimit(.minutes(3)), arguments: ["EIO", "EACCES"])
    func `keeps nothing else from it, also when it is more than one`(error: String) async throws {
        guard try Faults.arePossible(for: "originals at which the mirror fails") else { return }
        let scene = try Mirrored(dropKeys: "after_import = \"delete\"")
        let installation = scene.installation
        // So that the folder is there: what has none is not looked at.
        try scene.drop([7])
        #expect(try installation.runOnce() == 0)
        let day = scene.mirror.path + "/2026/2026-05-17"
        let healed = installation.folder.url.appending(path: "healed")
        var environment = try Faults.environment(["stat:\(error):1+@\(day)/IMG_2.JPG,\(day)/IMG_4.JPG"])
        environment["FAULTS_UNTIL"] = healed.path
        try scene.drop(1...6)
        try await installation.start(environment: environment)
        try await installation.wait(for: "the other sources") {
            try installation.files(below: installation.drop).sorted() == ["IMG_2.JPG", "IMG_4.JPG"]
        }
        try await installation.waitUntilIdle()
        let reason = try await scene.waitForReason(error == "EIO" ? "E_LIBRARY_IO" : "E_LIBRARY_PERMISSION")
        #expect(reason.detail.contains("cannot get 2 files"))
        // What comes later is not kept waiting either.
        try scene.drop([8])
        try await installation.wait(for: "the next source") {
            try installation.files(below: installation.drop).sorted() == ["IMG_2.JPG", "IMG_4.JPG"]
                && installation.status().mirror?.behind == 2
        }
        try Data().write(to: healed)
        _ = try installation.post("/v1/reload")
        try await scene.waitUntilEven()
        try await installation.wait(for: "the sources") { try installation.files(below: installation.drop).isEmpty }
        try scene.expectSame(8)
        try await installation.wait(for: "peace") { try installation.status().reasons.isEmpty }
        #expect(installation.stop() == 0)
    }

    @Test(.timeLimit(.minutes(2)))
    func `may be a file that cannot be taken from it`() async throws {
        guard try Faults.arePossible(for: "files that stay on the mirror") else { return }
        let scene = try Mirrored()
        let installation = scene.installation
        try scene.drop(1...3)
        #expect(try installation.runOnce() == 0)
        let healed = installation.folder.url.appending(path: "healed")
        var environment = try Faults.environment(["rename:EPERM:1+@\(scene.mirror.path)/.photospool/trash"])
        environment["FAULTS_UNTIL"] = healed.path
        try await installation.start(environment: environment)
        let gone = try #require(try installation.assets().first { $0.resources[0].path.hasSuffix("IMG_2.JPG") })
        #expect(try installation.request(.delete, "/v1/assets/\(gone.id)").status == 200)
        #expect(try await scene.waitForReason("E_LIBRARY_PERMISSION").detail.contains("stays on the mirror"))
        // Another photo gets its name, and a third one is not kept waiting by the two.
        try Samples.variant(9).write(to: installation.drop.appending(path: "IMG_2.JPG"))
        try scene.drop([4])
        try await installation.wait(for: "the photo behind") {
            try scene.visible().contains("2026/2026-05-17/IMG_4.JPG")
        }
        try await installation.waitUntilIdle()  // what waits for somebody keeps nothing from being idle
        #expect(try installation.status().mirror?.behind == 2)
        let path = scene.mirror.appending(path: "2026/2026-05-17/IMG_2.JPG")
        #expect(try Data(contentsOf: path) == Samples.variant(2))
        try Data().write(to: healed)
        _ = try installation.post("/v1/reload")
        try await scene.waitUntilEven()
        try scene.expectSame(4)
        #expect(try Data(contentsOf: path) == Samples.variant(9))
        try await installation.wait(for: "peace") { try installation.status().reasons.isEmpty }
        #expect(installation.stop() == 0)
    }

    @Test(.timeLimit(.minutes(2)), .tags(.neverOverwritten))
    func `is not what somebody put in the place of a photo that is deleted: that stays`() async throws {
        let scene = try Mirrored()
        let installation = scene.installation
        try scene.drop(1...2)
        #expect(try installation.runOnce() == 0)
        let path = scene.mirror.appending(path: "2026/2026-05-17/IMG_2.JPG")
        let foreign = Data(repeating: 7, count: try Data(contentsOf: path).count)
        try foreign.write(to: path)
        try await installation.start()
        for asset in try installation.assets() {
            #expect(try installation.request(.delete, "/v1/assets/\(asset.id)").status == 200)
        }
        try await scene.waitUntilEven()
        #expect(try scene.visible() == ["2026/2026-05-17/IMG_2.JPG"])
        #expect(try Data(contentsOf: path) == foreign)
        let kept = try installation.files(below: scene.mirror.appending(path: ".photospool/trash"))
        #expect(kept.map { URL(filePath: $0).lastPathComponent } == ["IMG_1.JPG"])
        #expect(installation.stop() == 0)
    }

    @Test(.timeLimit(.minutes(2)))
    func `may be larger than what is free, until there is room`() async throws {
        guard try Mount.isPossible(for: "a mirror with little room") else { return }
        let scene = try Mirrored(dropKeys: "after_import = \"delete\"")
        let installation = scene.installation
        let disk = try Mount(at: scene.mirror, bytes: 16 << 20)
        try await installation.start()
        try await scene.waitUntilEven()
        let ballast = scene.mirror.appending(path: "ballast")
        try Data(count: 11 << 20).write(to: ballast)
        // What follows the picture in a JPEG belongs to it.
        try (Samples.variant(1) + Data(count: 6 << 20)).write(to: installation.drop.appending(path: "IMG_1.JPG"))
        try await installation.wait(for: "the large one") { try installation.status().queue.imported == 1 }
        try scene.drop(2...4)
        try await installation.wait(for: "the small sources") {
            try installation.files(below: installation.drop) == ["IMG_1.JPG"]
        }
        #expect(try await scene.waitForReason("E_LIBRARY_FULL").detail.contains("2026/2026-05-17/IMG_1.JPG"))
        try await installation.waitUntilIdle()
        #expect(try installation.status().mirror?.behind == 1)
        try FileManager.default.removeItem(at: ballast)
        try await installation.wait(for: "the large source") {
            try installation.files(below: installation.drop).isEmpty
        }
        try scene.expectSame(4)
        try await scene.waitUntilEven()
        try await installation.wait(for: "the mirror to be let go") { (try? disk.end()) != nil }
        #expect(installation.stop() == 0)
    }
}
