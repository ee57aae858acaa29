import ControlAPI
import Foundation
import HTTPClient
import PhotoModel
import Synchronization
import TestSupport
import Testing

@Suite("photospool adopt", .tags(.neverLost, .exactlyOnce, .stopsAnywhere)) struct AdoptTests {
    private static let time = "2026:05:17 09:04:31"
    private static let xmp = Data("<x:xmpmeta xmlns:x=\"adobe:ns:meta/\"></x:xmpmeta>".utf8)

    private func put(_ data: Data, _ name: String, in installation: Installation) throws {
        let url = installation.library.appending(path: name)
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try data.write(to: url)
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSince1970: 1_500_000_000)], ofItemAtPath: url.path)
    }

    private func adopt(
        _ installation: Installation, _ body: String = #"{"kind": "adopt"}"#
    ) async throws -> OperationBody {
        let reply = try installation.post("/v1/operations", body: body)
        let id = try JSON.decode(OperationBody.self, from: reply.body).id
        try await installation.wait(for: "the adoption") {
            try installation.get("/v1/operations/\(id)", as: OperationBody.self).isOver
        }
        return try installation.get("/v1/operations/\(id)?limit=200")
    }

    private func findings(_ body: OperationBody) -> Set<String> {
        Set((body.findings ?? []).map { "\($0.kind) \($0.path ?? "")" })
    }

    /// Bytes, times and inodes of what a person sees in the library.
    private func picture(_ installation: Installation) throws -> [String: String] {
        var found: [String: String] = [:]
        for path in try installation.visibleFiles() {
            let url = installation.library.appending(path: path)
            let attributes = try FileManager.default.attributesOfItem(atPath: url.path)
            let date = try #require(attributes[.modificationDate] as? Date)
            found[path] =
                "\(attributes[.systemFileNumber] ?? 0) \(date.timeIntervalSince1970) "
                + "\(try Data(contentsOf: url).hashValue)"
        }
        return found
    }

    private func existing(_ installation: Installation) throws {
        try put(try Samples.variant(1), "old/2017/a.jpg", in: installation)
        try put(Self.xmp, "old/2017/a.xmp", in: installation)
        try put(try Samples.variant(2), "old/2017/b.JPG", in: installation)
        try put(Samples.raw(at: Self.time, number: 2), "old/2017/b.DNG", in: installation)
        try put(Samples.raw(at: "2019:01:02 03:04:05", number: 3), "old/c.DNG", in: installation)
        try put(try Samples.variant(3), "old/c.jpg", in: installation)
        try put(try Data(contentsOf: Samples.heic), "d.heic", in: installation)
        try put(try Samples.variant(1), "old/2018/copy.jpg", in: installation)
        try put(try Samples.damaged(), "old/broken.jpg", in: installation)
        try put(Data("Dear diary".utf8), "old/notes.txt", in: installation)
        try put(Self.xmp + Data(" ".utf8), "old/lonely.xmp", in: installation)
        try put(try Samples.variant(9), ".hidden/e.jpg", in: installation)
    }

    @Test(.timeLimit(.minutes(3)))
    func `lists what lies in the library, where it lies, and touches nothing; imports then know it`() async throws {
        let installation = try Installation()
        try await installation.start()
        try existing(installation)
        let before = try picture(installation)
        let done = try await adopt(installation)
        #expect(done.state == "done", "\(done)\n\(installation.logText)")
        #expect(
            findings(done) == [
                "duplicate old/2018/copy.jpg", "unsupported old/notes.txt", "alone old/lonely.xmp",
            ], "\(done)")
        #expect(try picture(installation) == before)
        #expect(done.done == 11)
        let assets = try installation.assets()
        let shots = Set(assets.map { $0.resources.map { "\($0.role) \($0.path)" }.joined(separator: ", ") })
        #expect(
            shots == [
                "photo old/2017/a.jpg, sidecar old/2017/a.xmp", "photo old/2017/b.JPG, alternate_photo old/2017/b.DNG",
                "photo old/c.jpg", "photo old/c.DNG", "photo d.heic", "photo old/broken.jpg",
            ])
        let first = try #require(assets.first { $0.resources[0].path == "old/2017/a.jpg" })
        #expect(first.capturedAt == "2026-05-17T09:04:31.87" && first.preview.state == "ok")
        #expect(assets.first { $0.resources[0].path == "old/broken.jpg" }?.preview.state == "failed")
        for asset in assets {
            guard let path = asset.preview.path else { continue }
            #expect(FileManager.default.fileExists(atPath: installation.library.appending(path: path).path))
        }
        #expect(try installation.stagedEntries().isEmpty)

        // Once more there is nothing to do, and a sidecar that an editor wrote since joins its photo.
        try put(Self.xmp + Data("  ".utf8), "d.heic.xmp", in: installation)
        #expect(findings(try await adopt(installation)) == findings(done))
        #expect(try installation.assets().count == assets.count)
        #expect(
            try installation.assets().first { $0.id == assets.first { $0.resources[0].path == "d.heic" }?.id }?
                .resources.map(\.path) == ["d.heic", "d.heic.xmp"])

        // The same bytes from a card are known.
        try Samples.variant(2).write(to: installation.drop.appending(path: "IMG_0002.JPG"))
        try await installation.wait(for: "the duplicate") { try installation.status().queue.duplicate == 1 }
        let verify = try await adopt(installation, #"{"kind": "verify"}"#)
        #expect(
            findings(verify) == ["foreign old/2018/copy.jpg", "foreign old/notes.txt", "foreign old/lonely.xmp"])

        // And the journal tells all of it again to a state that knows nothing.
        let all = try installation.assets().sorted { $0.id < $1.id }
        #expect(installation.stop() == 0)
        try FileManager.default.removeItem(at: installation.state)
        try FileManager.default.createDirectory(at: installation.state, withIntermediateDirectories: true)
        try await installation.start()
        let rebuilt = try await adopt(installation, #"{"kind": "rebuild"}"#)
        #expect(rebuilt.state == "done" && rebuilt.findingsCount == 0, "\(rebuilt)")
        #expect(try installation.assets().sorted { $0.id < $1.id } == all)
        #expect(try picture(installation).filter { $0.key != "d.heic.xmp" } == before)
        #expect(installation.stop() == 0)
    }

    @Test(.timeLimit(.minutes(2)))
    func `keeps to the folder that was named, and refuses one that is none`() async throws {
        let installation = try Installation()
        try await installation.start()
        try existing(installation)
        let path = installation.library.path + "/old/2017"
        #expect(try await adopt(installation, #"{"kind": "adopt", "arguments": {"path": "\#(path)"}}"#).state == "done")
        #expect(try installation.assets().count == 2)
        for path in ["../drop", "/etc", "nowhere", ".photospool", "old/../.hidden", "d.heic"] {
            let refused = try await adopt(installation, #"{"kind": "adopt", "arguments": {"path": "\#(path)"}}"#)
            #expect(refused.state == "failed" && refused.error != nil, "\(path)")
        }
        let outcome = try Programs.run(
            Programs.path("photospool"), ["--socket", installation.socket, "adopt", "old"])
        #expect(outcome.status == 1, "\(outcome)")
        #expect(outcome.output.contains("duplicate\told/2018/copy.jpg"))
        #expect(try installation.assets().count == 5)
        #expect(installation.stop() == 0)
    }

    @Test(.timeLimit(.minutes(5)), arguments: 0..<4)
    func `killed at any moment and begun again, lists everything once and leaves nothing behind`(seed: Int) async throws
    {
        let installation = try Installation(more: "[import]\nsweep_after = \"1s\"\n")
        try await installation.start()
        for number in 1...120 {
            try put(try Samples.small(number), "f\(number % 7)/g/IMG_\(number).jpg", in: installation)
        }
        let before = try picture(installation)
        _ = try installation.post("/v1/operations", body: #"{"kind": "adopt"}"#)
        for _ in 0..<4 {
            try await Task.sleep(for: .milliseconds(Int.random(in: 0...(200 * (seed + 1)))))
            installation.kill()
            try await installation.start()
        }
        try await installation.wait(for: "the adoption") {
            try installation.get("/v1/operations/1", as: OperationBody.self).isOver
        }
        let done: OperationBody = try installation.get("/v1/operations/1")
        #expect(done.state == "done" && done.findingsCount == 0, "\(done)")
        let assets = try installation.assets()
        #expect(assets.count == 120 && Set(assets.flatMap(\.resources).map(\.path)).count == 120)
        #expect(assets.allSatisfy { $0.preview.state == "ok" })
        #expect(try picture(installation) == before)
        #expect(installation.stop() == 0)
    }

    @Test(.timeLimit(.minutes(2)))
    func `leaves what is being written for the next run, and what somebody moved to be moved back`() async throws {
        let installation = try Installation()
        try Samples.variant(5).write(to: installation.drop.appending(path: "IMG_5.JPG"))
        try await installation.start()
        try await installation.waitUntilIdle()
        let stored = try #require(try installation.visibleFiles().first)
        try FileManager.default.moveItem(
            at: installation.library.appending(path: stored), to: installation.library.appending(path: "moved.jpg"))
        try put(try Samples.variant(6), "growing.jpg", in: installation)
        let isOver = Mutex(false)
        let file = installation.library.appending(path: "growing.jpg")
        let writer = Thread {
            guard let handle = try? FileHandle(forWritingTo: file) else { return }
            while !isOver.withLock({ $0 }) {
                _ = try? handle.seekToEnd()
                try? handle.write(contentsOf: Data("more".utf8))
                usleep(500)
            }
        }
        writer.start()
        let first = try await adopt(installation)
        isOver.withLock { $0 = true }
        #expect(findings(first) == ["changed growing.jpg", "moved moved.jpg"], "\(first)")
        #expect(try installation.assets().count == 1)
        #expect(try installation.stagedEntries().isEmpty)
        try await installation.wait(for: "the writer") { writer.isFinished }
        #expect(findings(try await adopt(installation)) == ["moved moved.jpg"])
        #expect(try installation.assets().count == 2)
        #expect(installation.stop() == 0)
    }
}
