import ControlAPI
import Foundation
import HTTPClient
import TestSupport
import Testing

@Suite("A mirror in trouble", .tags(.neverLost, .saysWhatIsWrong)) struct MirrorTroubleTests {
    @Test(.timeLimit(.minutes(2)), .tags(.neverOverwritten, .saysWhatIsWrong))
    func `keeps what has the name already, and counts it when it is the same`() async throws {
        let scene = try Mirrored()
        let installation = scene.installation
        #expect(try installation.runOnce() == 0)  // the marker
        let day = scene.mirror.appending(path: "2026/2026-05-17")
        try FileManager.default.createDirectory(at: day, withIntermediateDirectories: true)
        let foreign = Data(repeating: 7, count: try Samples.variant(1).count)
        try foreign.write(to: day.appending(path: "IMG_1.JPG"))
        try Samples.variant(2).write(to: day.appending(path: "IMG_2.JPG"))
        try Data("a file where a folder would be".utf8).write(to: day.appending(path: "x"))
        let inode = try FileManager.default.attributesOfItem(atPath: day.path + "/IMG_2.JPG")[.systemFileNumber] as? Int
        try scene.drop(1...3)
        try await installation.start()
        let reason = try await scene.waitForReason("E_CONFLICT")
        #expect(reason.detail.contains("2026/2026-05-17/IMG_1.JPG"))
        try await installation.waitUntilIdle()  // what waits for somebody keeps nothing from being idle
        #expect(try installation.status().mirror?.behind == 1)
        #expect(try Data(contentsOf: day.appending(path: "IMG_1.JPG")) == foreign)
        #expect(
            try FileManager.default.attributesOfItem(atPath: day.path + "/IMG_2.JPG")[.systemFileNumber] as? Int
                == inode)
        #expect(try Data(contentsOf: day.appending(path: "IMG_3.JPG")) == Samples.variant(3))
        try FileManager.default.removeItem(at: day.appending(path: "IMG_1.JPG"))
        try FileManager.default.removeItem(at: day.appending(path: "x"))
        _ = try installation.post("/v1/reload")
        try await scene.waitUntilEven()
        #expect(try Data(contentsOf: day.appending(path: "IMG_1.JPG")) == Samples.variant(1))
        #expect(try installation.status().reasons.isEmpty)
        #expect(installation.stop() == 0)
    }

    @Test(.timeLimit(.minutes(2)), .tags(.saysWhatIsWrong))
    func `does not get what is damaged in the library, whose source stays`() async throws {
        let scene = try Mirrored(dropKeys: "after_import = \"delete\"", isThere: false)
        let installation = scene.installation
        try scene.drop(1...3)
        try await installation.start()
        try await installation.wait(for: "the imports") { try installation.status().queue.imported == 3 }
        let original = installation.library.appending(path: "2026/2026-05-17/IMG_2.JPG")
        let handle = try FileHandle(forUpdating: original)
        try handle.seek(toOffset: 1000)
        let byte = try #require(try handle.read(upToCount: 1)?.first)
        try handle.seek(toOffset: 1000)
        try handle.write(contentsOf: Data([byte ^ 0x10]))
        try handle.close()
        try scene.make()
        #expect(try await scene.waitForReason("E_VERIFY_MISMATCH").detail.contains("IMG_2.JPG"))
        try await installation.wait(for: "the other sources") {
            try installation.files(below: installation.drop) == ["IMG_2.JPG"]
        }
        #expect(try scene.visible() == ["2026/2026-05-17/IMG_1.JPG", "2026/2026-05-17/IMG_3.JPG"])
        #expect(try scene.staged() == [])
        // Put back from its source, it goes on.
        try Samples.variant(2).write(to: original)
        _ = try installation.post("/v1/reload")
        try await scene.waitUntilEven()
        #expect(
            try Data(contentsOf: scene.mirror.appending(path: "2026/2026-05-17/IMG_2.JPG")) == Samples.variant(2))
        #expect(installation.stop() == 0)
    }

    @Test(.timeLimit(.minutes(10)), .tags(.stopsAnywhere, .neverPartial))
    func `is whole after a death at any change of it`() async throws {
        guard try Faults.arePossible(for: "killing the daemon while it mirrors") else { return }
        @Sendable func scene() throws -> Mirrored {
            let scene = try Mirrored(dropKeys: "after_import = \"delete\"")
            try scene.drop(1...3)
            return scene
        }
        let undisturbed = try scene()
        let trace = undisturbed.installation.folder.url.appending(path: "trace")
        #expect(
            try undisturbed.installation.runOnce(
                environment: Faults.environment(trace: trace, root: undisturbed.mirror)) == 0)
        let lines = try String(contentsOf: trace, encoding: .utf8).split(separator: "\n")
        let count = lines.count { $0.prefix { $0 != " " }.hasSuffix("!") }
        #expect(count > 30)
        let step = Faults.areExhaustive ? 1 : 5
        let points = Array(stride(from: Int.random(in: 1...step), through: count, by: step))
        try await onOwnThreads(points, width: 2) { point in
            let scene = try scene()
            let code = try scene.installation.runOnce(
                environment: Faults.environment(["change:KILL:\(point)@\(scene.mirror.path)"]))
            // How often it looks at the mirror is a matter of time, so a late point may lie behind the end.
            #expect(code == nil || (code == 0 && point > count / 2), "\(point)")
            // What it has lies there whole; what is not there has its source.
            for path in try scene.visible() {
                let name = URL(filePath: path).lastPathComponent
                let number = try #require(Int(name.dropFirst(4).dropLast(4)))
                #expect(try Data(contentsOf: scene.mirror.appending(path: path)) == Samples.variant(number))
            }
            let there = Set(try scene.visible().map { URL(filePath: $0).lastPathComponent })
            let sources = Set(
                try scene.installation.files(below: scene.installation.drop).map {
                    URL(filePath: $0).lastPathComponent
                })
            #expect(there.union(sources).isSuperset(of: ["IMG_1.JPG", "IMG_2.JPG", "IMG_3.JPG"]), "\(point)")
            #expect(try scene.installation.runOnce() == 0, "\(point)\n\(scene.installation.logText)")
            try scene.expectSame(3)
            #expect(try scene.installation.files(below: scene.installation.drop).isEmpty, "\(point)")
        }
    }

    /// Each of these is met once, with the second original.
    @Test(
        .timeLimit(.minutes(2)), .tags(.neverPartial),
        arguments: [
            "write:FLIP:2", "write:EIO:2", "write:SHORT:2", "sync:EIO:2", "close:EIO:1", "read:EIO:2", "rename:EIO:2",
            "open:EACCES:2",
        ])
    func `throws a copy away at any failure, and makes it anew`(fault: String) async throws {
        guard try Faults.arePossible(for: "failures of the mirror's disk") else { return }
        let scene = try Mirrored(dropKeys: "after_import = \"delete\"")
        let installation = scene.installation
        #expect(try installation.runOnce() == 0)  // the marker
        try scene.drop(1...4)
        let trace = installation.folder.url.appending(path: "trace")
        let staging = scene.mirror.appending(path: ".photospool/staging")
        // A rename is told by where it leads.
        let place = fault.hasPrefix("rename") ? scene.mirror.path + "/2026" : staging.path + "/original"
        try await installation.start(
            environment: Faults.environment(["\(fault)@\(place)"], trace: trace, root: staging))
        try await installation.wait(for: "the sources") { try installation.files(below: installation.drop).isEmpty }
        try scene.expectSame(4)
        try await scene.waitUntilEven()
        #expect(try installation.status().reasons.isEmpty)
        // A file for each original, and one more for the copy that was thrown away; a short write is no failure.
        let lines = try String(contentsOf: trace, encoding: .utf8).split(separator: "\n")
        let isFailure = fault != "write:SHORT:2"
        #expect(lines.count { $0.hasPrefix("open! ok ") && $0.hasSuffix("/original") } == (isFailure ? 5 : 4))
        #expect(installation.logText.contains("The mirror is written again.") == isFailure)
        #expect(installation.stop() == 0)
    }

    @Test(.timeLimit(.minutes(2)))
    func `that hangs holds up neither imports nor the end`() async throws {
        guard try Faults.arePossible(for: "a mirror that hangs") else { return }
        let scene = try Mirrored()
        let installation = scene.installation
        #expect(try installation.runOnce() == 0)  // the marker
        try await installation.start(
            environment: Faults.environment(["write:HANG:1@\(scene.mirror.path)/.photospool/staging"]))
        try scene.drop(1...4)
        try await installation.wait(for: "the imports") { try installation.status().queue.imported == 4 }
        #expect(try installation.status().mirror?.behind == 4)
        #expect(try scene.visible() == [])
        #expect(installation.stop() == 0)
        #expect(installation.logText.contains("The mirror does not answer"))
    }

    @Test(.timeLimit(.minutes(2)))
    func `that hangs while it is verified does not hold up the end`() async throws {
        guard try Faults.arePossible(for: "a mirror that hangs") else { return }
        let scene = try Mirrored()
        let installation = scene.installation
        try scene.drop(1...2)
        #expect(try installation.runOnce() == 0)
        let met = installation.folder.url.appending(path: "met")
        var environment = try Faults.environment(["read:HANG:1@\(scene.mirror.path)/2026"])
        environment["FAULTS_MET"] = met.path
        try await installation.start(environment: environment)
        try await scene.waitUntilEven()
        let order = try installation.post(
            "/v1/operations", body: #"{"kind": "verify", "arguments": {"mirror": "1"}}"#)
        #expect(order.status == 202)
        try await installation.wait(for: "the call that hangs") {
            try FileManager.default.fileExists(atPath: met.path) && !String(contentsOf: met, encoding: .utf8).isEmpty
        }
        #expect(installation.stop() == 0)
        #expect(installation.logText.contains("it goes on at the next start"))
        let id = try JSON.decode(OperationBody.self, from: order.body).id
        try await installation.start()
        try await installation.wait(for: "the operation") {
            try installation.get("/v1/operations/\(id)", as: OperationBody.self).isOver
        }
        let ended = try installation.get("/v1/operations/\(id)", as: OperationBody.self)
        #expect(ended.state == "done" && ended.done == 2 && ended.findingsCount == 0)
        #expect(installation.stop() == 0)
    }

    @Test(.timeLimit(.minutes(3)), .tags(.saysWhatIsWrong))
    func `that is full says so, stops no import, and goes on by itself; its disk can be unmounted when it is even`()
        async throws
    {
        guard try Mount.isPossible(for: "a full mirror") else { return }
        let scene = try Mirrored(dropKeys: "after_import = \"delete\"")
        let installation = scene.installation
        let disk = try Mount(at: scene.mirror, bytes: 8 << 20)
        try scene.drop([1])
        try await installation.start()
        try await scene.waitUntilEven()
        let ballast = scene.mirror.appending(path: "ballast")
        _ = FileManager.default.createFile(atPath: ballast.path, contents: nil)
        let handle = try FileHandle(forWritingTo: ballast)
        do { while true { try handle.write(contentsOf: Data(count: 64 << 10)) } } catch {}  // full now
        try handle.close()
        try scene.drop(2...4)
        try await installation.wait(for: "the imports") { try installation.status().queue.imported == 4 }
        #expect(try await scene.waitForReason("E_LIBRARY_FULL").detail.contains("mirror"))
        #expect(try installation.files(below: installation.drop).count == 3)
        #expect(try scene.visible() == ["2026/2026-05-17/IMG_1.JPG", "ballast"])
        try FileManager.default.removeItem(at: ballast)
        try await installation.wait(for: "the sources") {
            try installation.files(below: installation.drop).isEmpty
        }
        try scene.expectSame(4)
        try await scene.waitUntilEven()
        try await installation.wait(for: "the mirror to be let go") { (try? disk.end()) != nil }
        #expect(installation.stop() == 0)
    }

    @Test(.timeLimit(.minutes(2)))
    func `has a trash of its own for what is deleted or undone`() async throws {
        let scene = try Mirrored()
        let installation = scene.installation
        try scene.drop(1...3)
        try await installation.start()
        try await scene.waitUntilEven()
        let assets = try installation.assets()
        let gone = try #require(assets.first { $0.resources[0].path.hasSuffix("IMG_2.JPG") })
        #expect(try installation.request(.delete, "/v1/assets/\(gone.id)").status == 200)
        try await scene.waitUntilEven()
        try scene.expectSame(2)
        let trash = ".photospool/trash/\(gone.id)/originals/2026/2026-05-17/IMG_2.JPG"
        for place in [installation.library, scene.mirror] {
            #expect(try Data(contentsOf: place.appending(path: trash)) == Samples.variant(2))
        }
        // While the mirror is away it is owed.
        let away = installation.folder.url.appending(path: "away")
        try scene.move(scene.mirror, to: away)
        let batch = try #require(try installation.jobs().first).batchID
        try await installation.wait(for: "the end of the batch") {
            try installation.get("/v1/batches/\(batch)", as: BatchBody.self).closedAt != nil
        }
        let undone = try await scene.perform(#"{"kind": "undo", "arguments": {"batch": "\#(batch)"}}"#)
        #expect(undone.results["trashed"] == "2")
        #expect(try installation.status().mirror?.behind == 2)
        // Another photo gets a name that is still to leave the mirror.
        try Samples.variant(9).write(to: installation.drop.appending(path: "IMG_1.JPG"))
        try await installation.wait(for: "the new photo") { try installation.visibleFiles().count == 1 }
        try scene.move(away, to: scene.mirror)
        try await scene.waitUntilEven()
        try scene.expectSame(1)
        #expect(
            try Data(contentsOf: scene.mirror.appending(path: "2026/2026-05-17/IMG_1.JPG")) == Samples.variant(9))
        let kept = try installation.files(below: scene.mirror.appending(path: ".photospool/trash"))
        #expect(kept.map { URL(filePath: $0).lastPathComponent }.sorted() == ["IMG_1.JPG", "IMG_2.JPG", "IMG_3.JPG"])
        #expect(installation.stop() == 0)
    }
}
