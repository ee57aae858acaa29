import ControlAPI
import Foundation
import TestSupport
import Testing

/// Files of one shot that come together: one job, one commit, one stem, one number.
@Suite("A group", .tags(.exactlyOnce, .neverLost)) struct GroupTests {
    private static let xmp = Data("<x:xmpmeta xmlns:x=\"adobe:ns:meta/\"></x:xmpmeta>".utf8)
    private static let edit = Data("<plist><dict><key>adjustmentFormatIdentifier</key></dict></plist>".utf8)
    /// Of IMG_0001.JPG and IMG_0003.HEIC among the samples, by exiftool.
    private static let jpegTime = "2026:05:17 09:04:31"
    private static let heicTime = "2026-05-17T21:11:40+0200"

    private func drop(_ files: [String: Data], in installation: Installation) throws {
        for (name, data) in files {
            let target = installation.drop.appending(path: name)
            try FileManager.default.createDirectory(
                at: target.deletingLastPathComponent(), withIntermediateDirectories: true)
            try data.write(to: target)
        }
    }

    /// Each asset as its resources, `role name`, sorted by the leading name.
    private func assets(_ installation: Installation) throws -> [[String]] {
        try installation.assets().map { asset in
            asset.resources.map { "\($0.role) \($0.path.split(separator: "/").last ?? "")" }
        }.sorted { ($0.first ?? "") < ($1.first ?? "") }
    }

    /// Every file that was dropped is in the library once, with its bytes, and nothing else is.
    private func expectAll(_ files: [String: Data], in installation: Installation) throws {
        let stored = try installation.visibleFiles().map {
            try Data(contentsOf: installation.library.appending(path: $0))
        }
        #expect(stored.count == files.count)
        #expect(Set(stored) == Set(files.values))
        #expect(try installation.assets().flatMap(\.resources).count == files.count)
        #expect(try installation.stagedEntries().isEmpty)
    }

    @Test(.timeLimit(.minutes(2)))
    func `F01 F06 of HEIC, MOV and AAE is one Live Photo of one stem`() async throws {
        let installation = try Installation()
        let files = [
            "IMG_1.HEIC": try Data(contentsOf: Samples.heic), "IMG_1.MOV": Samples.movie(at: Self.heicTime),
            "IMG_1.AAE": Self.edit,
        ]
        try drop(files, in: installation)
        #expect(try installation.runOnce() == 0, Comment(rawValue: installation.logText))
        try await installation.start()
        #expect(try assets(installation) == [["photo IMG_1.HEIC", "paired_video IMG_1.MOV", "adjustment IMG_1.AAE"]])
        let asset = try #require(try installation.assets().first)
        #expect(asset.kind == "live_photo")
        #expect(asset.motion == "paired")
        #expect(asset.preview.state == "ok")
        #expect(try installation.jobs().map(\.state) == ["imported"])
        #expect(try installation.jobs()[0].files.count == 3)
        try expectAll(files, in: installation)
        installation.stop()
    }

    @Test(.timeLimit(.minutes(2)))
    func `F06 of HEIC and AAE is renamed alike`() async throws {
        let installation = try Installation(
            libraryKeys: "template = \"{year}/{month}{day}_{hour}{minute}{second}{ext}\"")
        let files = ["IMG_1.HEIC": try Data(contentsOf: Samples.heic), "IMG_1.AAE": Self.edit]
        try drop(files, in: installation)
        #expect(try installation.runOnce() == 0, Comment(rawValue: installation.logText))
        #expect(try installation.visibleFiles() == ["2026/0517_211140.AAE", "2026/0517_211140.HEIC"])
        try await installation.start()
        #expect(try assets(installation) == [["photo 0517_211140.HEIC", "adjustment 0517_211140.AAE"]])
        try expectAll(files, in: installation)
        installation.stop()
    }

    @Test(.timeLimit(.minutes(2)), arguments: ["livephoto-iphone6s/IMG_0728", "livephoto-train/train"])
    func `F01 that a phone made is one Live Photo of one stem`(pair: String) async throws {
        guard let corpus = try Corpus.find(for: "Live Photos of phones") else { return }
        let installation = try Installation()
        let folder = corpus.appending(path: "pairs").appending(path: pair).deletingLastPathComponent()
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
            try installation.place(folder.appending(path: name), as: name)
        }
        #expect(try installation.runOnce() == 0)
        try await installation.start()
        let asset = try #require(try installation.assets().first)
        #expect(try installation.assets().count == 1)
        #expect(asset.kind == "live_photo")
        #expect(asset.resources.map(\.role) == ["photo", "paired_video"])
        #expect(Set(asset.resources.map { String($0.path.dropLast(4)) }).count == 1)
        #expect(asset.dateSource == "exif_original")
        installation.stop()
    }

    @Test(.timeLimit(.minutes(2)))
    func `F01 is also what has one identifier and two names, when both come at once`() async throws {
        guard let corpus = try Corpus.find(for: "a Live Photo of two names") else { return }
        let folder = corpus.appending(path: "pairs/livephoto-iphone6s")
        let installation = try Installation(more: "[import]\nworkers = 4\n")
        try installation.place(folder.appending(path: "IMG_0728.JPG"), as: "IMG_0728.JPG")
        try installation.place(folder.appending(path: "IMG_0728.MOV"), as: "film.MOV")
        #expect(try installation.runOnce() == 0)
        try await installation.start()
        let asset = try #require(try installation.assets().first)
        #expect(try installation.assets().count == 1)
        #expect(asset.kind == "live_photo")
        #expect(Set(asset.resources.map(\.role)) == ["photo", "paired_video"])
        #expect(try installation.visibleFiles().count == 2)
        installation.stop()
    }

    @Test(.timeLimit(.minutes(4)))
    func `F03 of RAW and JPEG has one number, and the numbers step by shot`() async throws {
        let installation = try Installation(libraryKeys: "template = \"{year}/shot {seq:4}{ext}\"")
        var files: [String: Data] = [:]
        for number in 1...50 {
            let minute = number < 10 ? "0\(number)" : "\(number)"
            files["IMG_\(number).JPG"] = try Samples.small(number)
            files["IMG_\(number).DNG"] = Samples.raw(at: "2026:05:17 09:\(minute):00", number: number)
        }
        try drop(files, in: installation)
        #expect(try installation.runOnce() == 0, Comment(rawValue: installation.logText))
        try await installation.start()
        let assets = try installation.assets()
        #expect(assets.count == 50)
        var numbers: Set<Int> = []
        for asset in assets {
            let names = asset.resources.map { String($0.path.split(separator: "/").last ?? "") }
            #expect(names.count == 2)
            #expect(Set(names.map { $0.dropLast(4) }).count == 1, "\(names)")
            #expect(Set(names.map { $0.suffix(4) }) == [".JPG", ".DNG"])
            #expect(Set(asset.resources.map { $0.sourcePath.dropLast(4) }).count == 1)
            numbers.insert(Int(names[0].dropLast(4).suffix(4)) ?? 0)
        }
        #expect(numbers == Set(1...50))
        try expectAll(files, in: installation)
        installation.stop()
    }

    @Test(.timeLimit(.minutes(2)))
    func `F07 of RAW and JPEG takes along sidecars of both styles, each with the file that it is of`() async throws {
        // A name of that stem is taken, so all are renamed: alike.
        let installation = try Installation()
        try installation.place(Samples.photo, as: "other/IMG_1.JPG")
        #expect(try installation.runOnce() == 0)
        let files = [
            "IMG_1.JPG": try Samples.variant(1), "IMG_1.CR2": Samples.raw(at: Self.jpegTime), "IMG_1.xmp": Self.xmp,
            "IMG_1.CR2.xmp": Self.xmp + Data("raw".utf8), "IMG_1.JPG.xmp": Self.xmp + Data("jpeg".utf8),
            "IMG_1.DNG": Samples.raw(at: Self.jpegTime, number: 1),
        ]
        try drop(files, in: installation)
        #expect(try installation.runOnce() == 0, Comment(rawValue: installation.logText))
        try await installation.start()
        let asset = try #require(try installation.assets().first { $0.resources.count > 1 })
        let found = asset.resources.map { resource in
            [resource.role, resource.path, resource.belongsTo ?? ""].map { $0.split(separator: "/").last ?? "" }
        }
        #expect(
            found == [
                ["photo", "IMG_1_1.JPG", ""], ["alternate_photo", "IMG_1_1.CR2", ""],
                ["alternate_photo", "IMG_1_1.DNG", ""], ["sidecar", "IMG_1_1.CR2.xmp", "IMG_1_1.CR2"],
                ["sidecar", "IMG_1_1.JPG.xmp", "IMG_1_1.JPG"], ["sidecar", "IMG_1_1.xmp", "IMG_1_1.CR2"],
            ])
        for resource in asset.resources {
            let name = String(resource.sourcePath.split(separator: "/").last ?? "")
            #expect(try Data(contentsOf: installation.library.appending(path: resource.path)) == files[name])
        }
        #expect(try installation.assets().count == 2)
        installation.stop()
    }

    @Test(.timeLimit(.minutes(2)), arguments: [heicTime, "2026-05-17T08:00:00+0200"])
    func `F12 leaves the drop folder empty when its sources move, also where it was two shots`(
        time: String
    ) async throws {
        let installation = try Installation(dropKeys: "after_import = \"move\"\nmove_to = \"MOVED\"")
        let moved = installation.folder.url.appending(path: "moved")
        try FileManager.default.createDirectory(at: moved, withIntermediateDirectories: true)
        let text = try String(contentsOf: installation.configuration, encoding: .utf8)
        try text.replacing("MOVED", with: moved.path).write(
            to: installation.configuration, atomically: true, encoding: .utf8)
        let files = [
            "IMG_1.HEIC": try Data(contentsOf: Samples.heic), "IMG_1.MOV": Samples.movie(at: time),
            "IMG_1.AAE": Self.edit,
        ]
        try drop(files, in: installation)
        try await installation.start()
        let count = time == Self.heicTime ? 1 : 2
        try await installation.wait(for: "the import") {
            try installation.jobs().count { $0.disposition.state == "moved" } == count
        }
        #expect(try installation.files(below: installation.drop).isEmpty)
        #expect(try installation.files(below: moved) == files.keys.sorted())
        #expect(try assets(installation).count == count)
        try expectAll(files, in: installation)
        installation.stop()
    }

    // MARK: Parting

    @Test(.timeLimit(.minutes(2)))
    func `is parted by capture time where two cameras counted alike, and each shot has a stem of its own`()
        async throws
    {
        let installation = try Installation(dropKeys: "after_import = \"delete\"")
        let files = [
            "IMG_0001.JPG": try Data(contentsOf: Samples.photo),
            "IMG_0001.DNG": Samples.raw(at: "2026:05:17 18:30:00"), "IMG_0001.JPG.xmp": Self.xmp,
            "IMG_0001.xmp": Self.xmp + Data("raw".utf8), "IMG_0001.AAE": Self.edit,
        ]
        try drop(files, in: installation)
        try await installation.start()
        try await installation.wait(for: "both shots") {
            try installation.jobs().count { $0.disposition.state == "deleted" } == 2
        }
        #expect(
            try assets(installation) == [
                ["photo IMG_0001.JPG", "adjustment IMG_0001.AAE", "sidecar IMG_0001.JPG.xmp"],
                ["photo IMG_0001_1.DNG", "sidecar IMG_0001_1.xmp"],
            ])
        let jobs = try installation.jobs()
        #expect(jobs.map(\.state) == ["imported", "imported"])
        #expect(jobs.map(\.attempts) == [1, 1])
        #expect(Set(jobs.map(\.batchID)).count == 1)
        let batch: BatchBody = try installation.get("/v1/batches/\(jobs[0].batchID)")
        #expect((batch.total, batch.done, batch.failed) == (2, 2, 0))
        try expectAll(files, in: installation)
        #expect(try installation.files(below: installation.drop).isEmpty)
        // A sidecar that comes late, and whose name says of which of both it is.
        try drop(["IMG_0001.DNG.xmp": Self.xmp + Data("late".utf8)], in: installation)
        try await installation.wait(for: "the sidecar") {
            try assets(installation).last == [
                "photo IMG_0001_1.DNG", "sidecar IMG_0001_1.xmp", "sidecar IMG_0001_1.DNG.xmp",
            ]
        }
        try await installation.wait(for: "its disposition") {
            try installation.jobs().count { $0.disposition.state == "deleted" } == 3
        }
        // The card once more: both are known, each where it is.
        try drop(files, in: installation)
        try await installation.wait(for: "the duplicates") { try installation.status().queue.duplicate == 1 }
        try await installation.waitUntilIdle()
        #expect(try installation.visibleFiles().count == 6)
        installation.stop()
    }

    @Test(.timeLimit(.minutes(2)))
    func `F07 is parted, and sidecars that came meanwhile join the part that they are of`() async throws {
        // One worker, and names by which the sidecars' turns come before that of the second shot.
        let installation = try Installation(more: "[import]\nworkers = 1\n")
        try await installation.start()
        _ = try installation.post("/v1/pause")
        try drop(
            [
                "IMG_0001.JPG": try Data(contentsOf: Samples.photo),
                "IMG_0001.NEF": Samples.raw(at: "2026:05:17 18:30:00"),
            ], in: installation)
        try await installation.wait(for: "the shot") { try installation.status().queue.queued == 1 }
        for (number, name) in ["IMG_0001.dop", "IMG_0001.AAE"].enumerated() {
            try drop([name: name.hasSuffix("AAE") ? Self.edit : Self.xmp], in: installation)
            try await installation.wait(for: name) { try installation.status().queue.queued == number + 2 }
        }
        _ = try installation.post("/v1/resume")
        try await installation.waitUntilIdle()
        #expect(
            try assets(installation) == [
                ["photo IMG_0001.JPG", "adjustment IMG_0001.AAE"], ["photo IMG_0001_1.NEF", "sidecar IMG_0001_1.dop"],
            ])
        #expect(try installation.jobs().map(\.state) == ["imported", "imported", "imported", "imported"])
        // Two that come late and together, of one stem: each for itself.
        let late = Data("<x:xmpmeta xmlns:x=\"adobe:ns:meta/\"> </x:xmpmeta>".utf8)
        try drop(["IMG_0001.pp3": late, "IMG_0001.JPG.xmp": late + Data([10])], in: installation)
        try await installation.wait(for: "the sidecars") { try installation.status().queue.imported == 6 }
        #expect(
            try assets(installation).map { $0.last ?? "" } == [
                "sidecar IMG_0001.JPG.xmp", "sidecar IMG_0001_1.pp3",
            ])
        #expect(!installation.logText.contains("E_ORPHAN"))
        installation.stop()
    }

    @Test(.timeLimit(.minutes(2)))
    func `is parted by content identifier, whatever the clocks say`() async throws {
        guard let corpus = try Corpus.find(for: "the halves of two Live Photos") else { return }
        let installation = try Installation()
        // The still of one phone, and the video of another at what its clock showed then.
        let files = [
            "IMG_0001.JPG": try Data(contentsOf: corpus.appending(path: "pairs/livephoto-iphone6s/IMG_0728.JPG")),
            "IMG_0001.MOV": Samples.movie(at: "2019-12-29T19:01:15-0800", identifier: "another"),
        ]
        try drop(files, in: installation)
        #expect(try installation.runOnce() == 0)
        try await installation.start()
        #expect(try assets(installation).map(\.count) == [1, 1])
        #expect(try Set(installation.assets().map(\.kind)) == ["photo", "video"])
        installation.stop()
    }

    @Test(.timeLimit(.minutes(2)))
    func `is parted also where the library has one of its shots already`() async throws {
        let installation = try Installation()
        try installation.place(Samples.photo, as: "first/IMG_0001.JPG")
        #expect(try installation.runOnce() == 0)
        try drop(
            [
                "again/IMG_0001.JPG": try Data(contentsOf: Samples.photo),
                "again/IMG_0001.MOV": Samples.movie(at: "2026-05-17T12:00:00+0200"),
            ], in: installation)
        #expect(try installation.runOnce() == 0)
        try await installation.start()
        #expect(try assets(installation) == [["photo IMG_0001.JPG"], ["video IMG_0001_1.MOV"]])
        #expect(try installation.jobs().map(\.state).sorted() == ["duplicate", "imported", "imported"])
        installation.stop()
    }
}
