import ControlAPI
import Foundation
import HTTPClient
import TestSupport
import Testing

/// A device that closes a file early and goes on with it later.
@Suite("A file that was taken early", .tags(.neverPartial, .neverLost)) struct ArrivalTests {
    private func append(_ data: Data, to url: URL) throws {
        let handle = try FileHandle(forWritingTo: url)
        try handle.seekToEnd()
        try handle.write(contentsOf: data)
        try handle.close()
    }

    /// Queued, because it may still be arriving.
    private func waits(_ installation: Installation) throws -> Bool {
        try installation.jobs("&state=queued").contains { $0.error?.code == "E_SOURCE_BUSY" && $0.notBefore != nil }
    }

    @Test(.timeLimit(.minutes(2)), arguments: [Samples.photo, Samples.heic])
    func `B04 B09 waits for the rest, and the library holds the whole file only`(sample: URL) async throws {
        let installation = try Installation()
        let data = try Data(contentsOf: sample)
        let source = installation.drop.appending(path: sample.lastPathComponent)
        try await installation.start()
        for share in [3, 6] {
            let part = data.prefix(data.count * share / 10)
            let there = (try? Data(contentsOf: source).count) ?? 0  // not there yet
            if there == 0 { try Data().write(to: source) }
            try append(part.dropFirst(there), to: source)
            try await installation.wait(for: "the daemon to see that it is cut") {
                try waits(installation)
                    && installation.jobs().contains { $0.files[0].size == part.count && $0.error != nil }
            }
            #expect(try !installation.status().idle)
            #expect(try installation.visibleFiles().isEmpty)
        }
        try append(data.dropFirst(data.count * 6 / 10), to: source)
        try await installation.wait(for: "the whole file") { try installation.status().queue.imported == 1 }
        try await installation.waitUntilIdle()
        let asset = try #require(try installation.assets().first)
        #expect(asset.preview.state == "ok")
        #expect(try installation.visibleFiles() == asset.resources.map(\.path))
        #expect(try Data(contentsOf: installation.library.appending(path: asset.resources[0].path)) == data)
        let jobs = try installation.jobs()
        #expect(jobs.map(\.state) == ["imported"])
        #expect(jobs.map(\.attempts) == [1])
        #expect(try installation.stagedEntries().isEmpty)
        #expect(installation.stop() == 0)
    }

    @Test(.timeLimit(.minutes(3)))
    func `is decided after a minute in which nobody touches it, by hand as well`() async throws {
        let installation = try Installation()
        let data = try Data(contentsOf: Samples.photo)
        let cut = installation.drop.appending(path: "IMG_0001.JPG")
        try installation.place(Samples.corrupt, as: "IMG_0004.JPG")
        try await installation.start()
        _ = try installation.post("/v1/pause")
        let ignored = installation.drop.appending(path: ".hidden.JPG")
        try data.prefix(data.count / 2).write(to: ignored)
        try data.prefix(data.count * 2 / 3).write(to: cut)
        // What is younger than two seconds is refused as busy; the other of the two times stays young.
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSince1970: 1_779_001_200)], ofItemAtPath: ignored.path)
        #expect(try installation.post("/v1/import", body: "{\"paths\":[\"\(ignored.path)\"]}").isSuccess)
        try await installation.wait(for: "the queue") { try installation.status().queue.queued == 3 }
        let start = ContinuousClock.now
        _ = try installation.post("/v1/resume")
        try await installation.wait(for: "all to wait") { try installation.status().queue.retrying == 3 }
        try await installation.waitUntilIdle()
        #expect(ContinuousClock.now - start > .seconds(50))
        let jobs = try installation.jobs()
        #expect(jobs.map(\.state).sorted() == ["failed", "imported", "imported"])
        #expect(jobs.allSatisfy { $0.attempts == 1 })
        #expect(try installation.assets().map(\.preview.state) == ["partial", "partial"])
        #expect(try installation.jobs("&state=failed").first?.error?.code == "E_CORRUPT")
        installation.stop()
    }

    @Test(.timeLimit(.minutes(1))) func `is decided at once where nobody waits`() throws {
        let installation = try Installation()
        let data = try Data(contentsOf: Samples.photo)
        try data.prefix(data.count / 2).write(to: installation.drop.appending(path: "IMG_0001.JPG"))
        #expect(try installation.runOnce() == 0)
        #expect(try installation.visibleFiles().count == 1)
    }
}
