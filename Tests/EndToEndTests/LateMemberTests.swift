import ControlAPI
import Foundation
import HTTPClient
import TestSupport
import Testing

@Suite("A member that comes after its shot", .tags(.exactlyOnce, .neverLost)) struct LateMemberTests {
    private static let time = "2026:05:17 09:04:31"
    private static let xmp = Data("<x:xmpmeta xmlns:x=\"adobe:ns:meta/\"></x:xmpmeta>".utf8)

    private func drop(_ data: Data, as name: String, in installation: Installation) throws {
        let target = installation.drop.appending(path: name)
        try FileManager.default.createDirectory(
            at: target.deletingLastPathComponent(), withIntermediateDirectories: true)
        try data.write(to: target)
    }

    /// The only asset, as role and path of each resource.
    private func resources(_ installation: Installation) throws -> [String] {
        let assets = try installation.assets()
        try #require(assets.count == 1, "\(assets)")
        return assets[0].resources.map { "\($0.role) \($0.path)" }
    }

    private func expectWhole(_ installation: Installation, jobs: Int) throws {
        let asset = try #require(try installation.assets().first)
        #expect(try installation.visibleFiles() == asset.resources.map(\.path).sorted())
        for resource in asset.resources {
            let stored = try Data(contentsOf: installation.library.appending(path: resource.path))
            let source = resource.sourcePath
            #expect(try stored == Data(contentsOf: URL(filePath: source)))
        }
        let all = try installation.jobs()
        #expect(all.count == jobs)
        #expect(all.allSatisfy { $0.state == "imported" && $0.assetID == asset.id }, "\(all)")
        #expect(try installation.stagedEntries().isEmpty)
    }

    enum Member: String, CaseIterable, Sendable {
        case raw = "IMG_0001.DNG"
        case jpeg = "IMG_0001.JPG"
        case sidecar = "IMG_0001.xmp"
        case adjustment = "IMG_0001.AAE"

        func data() throws -> Data {
            switch self {
            case .raw: Samples.raw(at: LateMemberTests.time)
            case .jpeg: try Data(contentsOf: Samples.photo)
            case .sidecar: LateMemberTests.xmp
            case .adjustment: Data("<plist><dict><key>adjustmentFormatIdentifier</key></dict></plist>".utf8)
            }
        }
    }

    @Test(
        .timeLimit(.minutes(2)),
        arguments: [
            [.jpeg, .raw, .sidecar, .adjustment], [.raw, .jpeg, .sidecar], [.jpeg, .sidecar, .raw], [.raw, .sidecar],
        ] as [[Member]])
    func `F06 F07 joins its asset under its name, in whatever order they come`(order: [Member]) async throws {
        let installation = try Installation()
        try await installation.start()
        for (number, member) in order.enumerated() {
            try drop(try member.data(), as: "card/" + member.rawValue, in: installation)
            try await installation.wait(for: member.rawValue) { try installation.status().queue.imported == number + 1 }
        }
        try await installation.waitUntilIdle()
        let found = try resources(installation)
        #expect(found.count == order.count)
        #expect(Set(found.map { $0.split(separator: "/").last ?? "" }) == Set(order.map { $0.rawValue[...] }))
        #expect(try installation.visibleFiles().allSatisfy { $0.hasPrefix("2026/2026-05-17/") })
        #expect(found.count { $0.hasPrefix("photo ") } == 1)
        #expect(found[0].hasPrefix("photo "))
        try expectWhole(installation, jobs: order.count)
        let asset = try #require(try installation.assets().first)
        #expect(asset.kind == (order.contains(.jpeg) ? "photo" : "raw"))
        #expect(asset.preview.state == (order.contains(.jpeg) ? "ok" : "failed"))
        if order.contains(.jpeg) {
            let previews = try installation.files(below: installation.library.appending(path: ".photospool/previews"))
            #expect(previews == [String(asset.id.suffix(2)) + "/" + asset.id + ".jpg"])
        }
        #expect(installation.stop() == 0)
    }

    @Test(.timeLimit(.minutes(2)))
    func `F10 waits for its photo's turn, and is an orphan when that failed`() async throws {
        let installation = try Installation()
        try await installation.start()
        _ = try installation.post("/v1/pause")
        try drop(try Samples.damaged(), as: "IMG_0004.JPG", in: installation)
        try drop(try Samples.variant(9), as: "IMG_0009.JPG", in: installation)
        try await installation.wait(for: "the photos") { try installation.status().queue.queued == 2 }
        // By their names they all come before their photos.
        let adjustment = try Member.adjustment.data()
        for name in ["IMG_0004.AAE", "IMG_0009.AAE"] { try drop(adjustment, as: name, in: installation) }
        try await installation.wait(for: "the sidecars") { try installation.status().queue.queued == 4 }
        try drop(try Member.raw.data(), as: "IMG_0009.DNG", in: installation)
        try await installation.wait(for: "the RAW") { try installation.status().queue.queued == 5 }
        #expect(try !installation.status().idle)
        _ = try installation.post("/v1/resume")
        try await installation.waitUntilIdle()
        let jobs = try installation.jobs().map { ($0.files[0].path.suffix(12), $0.state, $0.error?.code, $0.attempts) }
        let byName = Dictionary(uniqueKeysWithValues: jobs.map { (String($0.0), $0) })
        #expect(byName["IMG_0004.JPG"]?.1 == "failed")
        #expect(byName["IMG_0004.AAE"]?.1 == "failed")
        #expect(byName["IMG_0004.AAE"]?.2 == "E_ORPHAN")
        #expect(byName["IMG_0009.AAE"]?.1 == "imported")
        #expect(byName["IMG_0009.AAE"]?.3 == 1)
        #expect(
            try Set(installation.assets().flatMap(\.resources).map { "\($0.role) \($0.path.suffix(3))" })
                == ["photo JPG", "alternate_photo DNG", "adjustment AAE"])
        #expect(try resources(installation)[0].hasPrefix("photo "))
        // Never even for a moment an orphan.
        let said = installation.logText.split(separator: "\n").filter { $0.contains("E_ORPHAN") }
        #expect(said.allSatisfy { $0.contains("IMG_0004.AAE") })

        // That the library has its bytes, as another shot's, makes it no duplicate.
        try drop(try Samples.damaged() + Data([1]), as: "IMG_0005.JPG", in: installation)
        try await installation.wait(for: "the photo to fail") { try installation.status().queue.failed == 3 }
        try drop(adjustment, as: "IMG_0005.AAE", in: installation)
        try await installation.wait(for: "the orphan") { try installation.jobs().count == 7 }
        try await installation.waitUntilIdle()
        #expect(try installation.jobs().first?.error?.code == "E_ORPHAN")
        installation.stop()
    }

    @Test(.timeLimit(.minutes(2)))
    func `is taken along by hand too, and reported when its photo was never there`() async throws {
        let installation = try Installation()
        try drop(Self.xmp, as: "x/IMG_0002.xmp", in: installation)
        // What is younger than two seconds is refused as busy.
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSince1970: 1_779_001_200)],
            ofItemAtPath: installation.drop.appending(path: "x/IMG_0002.xmp").path)
        try installation.place(Samples.photo, as: "IMG_0001.JPG")
        try await installation.start()
        try await installation.waitUntilIdle()
        let folder = installation.drop.appending(path: "x").path
        let reply = try installation.post("/v1/import", body: "{\"paths\":[\"\(folder)\"]}")
        #expect(reply.isSuccess)
        try await installation.wait(for: "the verdict") { try installation.status().queue.failed == 1 }
        #expect(try installation.jobs("&state=failed").first?.error?.code == "E_ORPHAN")
        // Its photo comes, in a later life of the daemon: the orphan goes along.
        installation.kill()
        try await installation.start()
        try drop(try Samples.variant(2), as: "x/IMG_0002.JPG", in: installation)
        try await installation.wait(for: "the photo") { try installation.status().queue.imported == 3 }
        try await installation.waitUntilIdle()
        let assets = try installation.assets()
        #expect(assets.map(\.resources.count).sorted() == [1, 2])
        installation.stop()
    }

    @Test(.timeLimit(.minutes(2)), arguments: [true, false])
    func `F01 makes a Live Photo by its identifier, whatever it is called and whichever half comes first`(
        photoFirst: Bool
    ) async throws {
        guard let corpus = try Corpus.find(for: "a Live Photo whose halves come apart") else { return }
        let folder = corpus.appending(path: "pairs/livephoto-iphone6s")
        let installation = try Installation()
        try await installation.start()
        let halves = [("IMG_0728.JPG", "a/IMG_0728.JPG"), ("IMG_0728.MOV", "b/film.MOV")]
        for (number, (name, target)) in (photoFirst ? halves : halves.reversed()).enumerated() {
            try installation.place(folder.appending(path: name), as: target)
            try await installation.wait(for: name) { try installation.status().queue.imported == number + 1 }
        }
        let asset = try #require(try installation.assets().first)
        #expect(asset.kind == "live_photo")
        #expect(
            Set(asset.resources.map { "\($0.role) \($0.sourcePath.suffix(4))" })
                == ["photo .JPG", "paired_video .MOV"])
        #expect(asset.preview.state == "ok")
        #expect(asset.dateSource == "exif_original")
        try expectWhole(installation, jobs: 2)
        installation.stop()
    }

    @Test(.timeLimit(.minutes(2)))
    func `of another name takes that of its asset, with what belongs to it`() async throws {
        guard let corpus = try Corpus.find(for: "a Live Photo whose halves are called otherwise") else { return }
        let folder = corpus.appending(path: "pairs/livephoto-iphone6s")
        let installation = try Installation()
        try await installation.start()
        try installation.place(folder.appending(path: "IMG_0728.MOV"), as: "b/BAR.MOV")
        try await installation.wait(for: "the video") { try installation.status().queue.imported == 1 }
        try drop(try Member.adjustment.data(), as: "a/FOO.AAE", in: installation)
        try installation.place(folder.appending(path: "IMG_0728.JPG"), as: "a/FOO.JPG")
        try await installation.wait(for: "the photo") { try installation.assets().first?.resources.count == 3 }
        try await installation.waitUntilIdle()
        let asset = try #require(try installation.assets().first)
        // exiftool: both were taken on 2019-12-29.
        let day = "2019/2019-12-29"
        #expect(try installation.visibleFiles() == ["AAE", "JPG", "MOV"].map { "\(day)/BAR.\($0)" })
        #expect(asset.resources.compactMap(\.belongsTo) == ["\(day)/BAR.JPG"])
        #expect(installation.stop() == 0)
    }

    @Test(.timeLimit(.minutes(5)), .tags(.stopsAnywhere, .neverPartial))
    func `I01 joins once, killed at any call`() async throws {
        guard try Faults.arePossible(for: "killing the daemon while a member joins") else { return }
        @Sendable func installed() throws -> Installation {
            let installation = try Installation()
            try drop(try Member.jpeg.data(), as: "IMG_0001.JPG", in: installation)
            #expect(try installation.runOnce() == 0)
            try drop(try Member.raw.data(), as: "IMG_0001.DNG", in: installation)
            return installation
        }
        let whole = try installed()
        let trace = whole.folder.url.appending(path: "trace")
        #expect(try whole.runOnce(environment: Faults.environment(trace: trace, root: whole.folder.url)) == 0)
        let changes = try String(contentsOf: trace, encoding: .utf8).split(separator: "\n")
            .count { $0.prefix { $0 != " " }.hasSuffix("!") }
        #expect(changes > 20)
        let step = Faults.areExhaustive ? 1 : max(1, changes / 8)
        let points = Array(stride(from: Int.random(in: 1...step), through: changes, by: step))
        try await onOwnThreads(points, width: 2) { death in
            let installation = try installed()
            let everywhere = installation.folder.url.path
            _ = try installation.runOnce(environment: Faults.environment(["change:KILL:\(death)@\(everywhere)"]))
            for file in try installation.visibleFiles() {
                let name = String(file.split(separator: "/").last ?? "")
                let stored = try Data(contentsOf: installation.library.appending(path: file))
                #expect(try stored == Data(contentsOf: installation.drop.appending(path: name)), "death \(death)")
            }
            #expect(try installation.runOnce() == 0, Comment(rawValue: installation.logText))
            try installation.launch()
            while (try? installation.status().idle) != true { Thread.sleep(forTimeInterval: 0.05) }
            #expect(try resources(installation).count == 2, "death \(death)")
            try expectWhole(installation, jobs: 2)
            installation.stop()
        }
    }
}
