import ControlAPI
import Foundation
import HTTPClient
import PhotoModel
import TestSupport
import Testing

@Suite("A rebuild after photos were taken out", .tags(.neverLost, .exactlyOnce, .stopsAnywhere)) struct AfterlifeTests {
    private static let time = "2026:05:17 09:04:31"
    private static let xmp = Data("<x:xmpmeta xmlns:x=\"adobe:ns:meta/\"></x:xmpmeta>".utf8)

    private func drop(_ data: Data, _ name: String, in installation: Installation) throws {
        let url = installation.drop.appending(path: name)
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try data.write(to: url)
    }

    private func perform(_ installation: Installation, _ kind: String, _ arguments: String = "{}") async throws
        -> OperationBody
    {
        let reply = try installation.post(
            "/v1/operations", body: "{\"kind\": \"\(kind)\", \"arguments\": \(arguments)}")
        let id = try JSON.decode(OperationBody.self, from: reply.body).id
        try await installation.wait(for: kind) {
            try installation.get("/v1/operations/\(id)", as: OperationBody.self).isOver
        }
        return try installation.get("/v1/operations/\(id)?limit=200")
    }

    private func asset(_ name: String, in installation: Installation) throws -> AssetBody {
        try #require(try installation.assets().first { $0.resources[0].path.hasSuffix("/" + name) }, "\(name)")
    }

    /// Everything that is known of photos, as the sqlite3 tool reads it.
    private func dump(_ installation: Installation) throws -> [String: [String]] {
        var found: [String: [String]] = [:]
        for (table, order) in [("asset", "id"), ("resource", "asset_id, position"), ("tombstone", "sha256")] {
            let outcome = try Programs.run(
                "/usr/bin/env",
                [
                    "sqlite3", "-readonly", installation.state.path + "/spool.db", ".mode insert",
                    "SELECT * FROM \(table) ORDER BY \(order)",
                ])
            #expect(outcome.status == 0, "\(outcome.errors)")
            found[table] = outcome.output.split(separator: "\n").map(String.init)
        }
        return found
    }

    private func contents(_ installation: Installation) throws -> [String] {
        try installation.files(below: installation.library).filter {
            !$0.contains("/lock") && !$0.contains("/journal/") && !$0.contains("/backup/")
        }
    }

    private func waitForEnd(of batch: Int64, in installation: Installation) async throws {
        try await installation.wait(for: "the end of the batch") {
            let body: BatchBody = try installation.get("/v1/batches/\(batch)")
            return body.closedAt != nil && body.done == body.total
        }
    }

    /// A life with everything in it: imports, duplicates, late members, an adoption, deletions, one of them forgotten and
    /// imported again, an undone batch, one photo of which was dropped again, and something that was deleted when it came
    /// again.
    /// - Parameter middle: done after the first half.
    private func live(_ installation: Installation, middle: () async throws -> Void = {}) async throws {
        for number in 1...8 { try drop(try Samples.variant(number), "a/IMG_\(number).JPG", in: installation) }
        try drop(try Samples.variant(1), "copies/IMG_1.JPG", in: installation)
        try drop(try Data(contentsOf: Samples.heic), "live/IMG_0100.HEIC", in: installation)
        try await installation.waitUntilIdle()
        try drop(Samples.raw(at: Self.time, number: 3), "a/IMG_3.DNG", in: installation)
        try drop(Self.xmp, "a/IMG_4.xmp", in: installation)
        try await installation.wait(for: "the late ones") { try installation.status().queue.imported >= 11 }
        let adopted = installation.library.appending(path: "old/a.jpg")
        try FileManager.default.createDirectory(
            at: adopted.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Samples.variant(50).write(to: adopted)
        #expect(try await perform(installation, "adopt").state == "done")
        // With a late member, with a duplicate, and one that is welcome again and comes.
        for name in ["IMG_3.JPG", "IMG_1.JPG", "IMG_2.JPG"] {
            let id = try asset(name, in: installation).id
            #expect(try installation.request(.delete, "/v1/assets/\(id)").status == 200)
            if name == "IMG_2.JPG" {
                #expect(try installation.post("/v1/assets/\(id)/forget").status == 200)
                try drop(try Samples.variant(2), "again/IMG_2.JPG", in: installation)
                try await installation.waitUntilIdle()
            }
        }
        try await middle()
        // A batch of its own, that is undone; with it goes a sidecar that joined, and a photo that is dropped again.
        try await installation.wait(for: "the end of the batches") {
            let batches: ListBody<BatchBody> = try installation.get("/v1/batches?limit=200")
            return batches.items.allSatisfy { $0.closedAt != nil }
        }
        for number in 20...24 { try drop(try Samples.variant(number), "b/IMG_\(number).JPG", in: installation) }
        try drop(Self.xmp + Data("<!-- 21 -->".utf8), "b/IMG_21.xmp", in: installation)
        try await installation.waitUntilIdle()
        let batch = try #require(try installation.jobs().first).batchID
        try await waitForEnd(of: batch, in: installation)
        try drop(try Samples.variant(22), "copies/IMG_22.JPG", in: installation)
        try await installation.waitUntilIdle()
        let undone = try await perform(installation, "undo", "{\"batch\": \"\(batch)\"}")
        #expect(undone.state == "done" && undone.results["trashed"] == "5", "\(undone)")
        try drop(try Samples.variant(20), "again/IMG_20.JPG", in: installation)
        try await installation.waitUntilIdle()
        #expect(
            try installation.request(.delete, "/v1/assets/\(try asset("IMG_20.JPG", in: installation).id)").status
                == 200)
        try drop(try Samples.variant(60), "c/IMG_60.JPG", in: installation)
        try await installation.waitUntilIdle()
        #expect(try installation.status().queue.failed == 0, "\(installation.logText)")
    }

    /// A rebuild, and then a look at every source: everything is as it was.
    private func expectRebuilt(
        _ installation: Installation, _ before: [String: [String]], _ files: [String], kills: Int = 0
    ) async throws {
        try await installation.start()
        try await installation.wait(for: "the refusal") {
            try installation.status().reasons.contains { $0.code == "E_STATE_STALE" }
        }
        let reply = try installation.post("/v1/operations", body: #"{"kind": "rebuild"}"#)
        let id = try JSON.decode(OperationBody.self, from: reply.body).id
        for _ in 0..<kills {
            try await Task.sleep(for: .milliseconds(Int.random(in: 0...15)))
            installation.kill()
            try await installation.start()
        }
        try await installation.wait(for: "the rebuild") {
            try installation.get("/v1/operations/\(id)", as: OperationBody.self).isOver
        }
        let done: OperationBody = try installation.get("/v1/operations/\(id)")
        #expect(done.state == "done" && done.findingsCount == 0, "\(done)")
        try await installation.wait(for: "the end of the outage") { try installation.status().reasons.isEmpty }
        _ = try installation.post("/v1/rescan")
        try await installation.waitUntilIdle()
        let after = try dump(installation)
        for table in before.keys.sorted() { #expect(after[table] == before[table], "\(table)") }
        #expect(try contents(installation) == files)
        #expect(try installation.stagedEntries().isEmpty)
        // What was deleted for good stays out, what was undone is welcome.
        try drop(try Samples.variant(1), "later/IMG_1.JPG", in: installation)
        try drop(try Samples.variant(21), "later/IMG_21.JPG", in: installation)
        try await installation.waitUntilIdle()
        let jobs = try installation.jobs().filter { $0.files[0].path.contains("/later/") }
        #expect(Set(jobs.map { $0.state + " " + ($0.error?.code ?? "") }) == ["imported ", "skipped E_TOMBSTONE"])
        #expect(installation.stop() == 0)
    }

    @Test(.timeLimit(.minutes(4)), arguments: zip(["keep", "move", "keep"], [0, 0, 3]))
    func `from nothing but the library knows the same photos and what is to stay out, and brings nothing back`(
        afterImport: String, kills: Int
    ) async throws {
        let installation = try Installation(dropKeys: "after_import = \"\(afterImport)\"")
        try await installation.start()
        try await live(installation)
        let (before, files) = (try dump(installation), try contents(installation))
        // IMG_3.JPG and its DNG, IMG_1.JPG, IMG_20.JPG.
        try #require(before["tombstone"]?.count == 4 && before["asset"]?.count == 9, "\(before)")
        #expect(installation.stop() == 0)
        try FileManager.default.removeItem(at: installation.state)
        try FileManager.default.createDirectory(at: installation.state, withIntermediateDirectories: true)
        try await expectRebuilt(installation, before, files, kills: kills)
    }

    @Test(.timeLimit(.minutes(4)))
    func `from a backup learns what was taken out since, and brings nothing back`() async throws {
        let installation = try Installation()
        try await installation.start()
        var backup = ""
        try await live(installation) {
            // With IMG_2 forgotten, the deleted ones, and everything that is undone later not there yet.
            backup = try #require(try await perform(installation, "backup").results["path"])
        }
        let id = try asset("IMG_5.JPG", in: installation).id
        #expect(try installation.request(.delete, "/v1/assets/\(id)").status == 200)
        // Deleted before the backup, let in after it.
        let found = try Programs.run(
            "/usr/bin/env",
            [
                "sqlite3", "-readonly", installation.state.path + "/spool.db",
                "SELECT asset_id FROM tombstone WHERE CAST(path AS TEXT) LIKE '%/IMG_1.JPG'",
            ])
        let deleted = found.output.trimmingCharacters(in: .whitespacesAndNewlines)
        #expect(try installation.post("/v1/assets/\(deleted)/forget").status == 200)
        #expect(
            try installation.request(.delete, "/v1/assets/\(try asset("a.jpg", in: installation).id)").status == 200)
        try drop(try Samples.variant(1), "again/IMG_1.JPG", in: installation)
        try await installation.waitUntilIdle()
        #expect(
            try installation.request(.delete, "/v1/assets/\(try asset("IMG_1.JPG", in: installation).id)").status
                == 200)
        let (before, files) = (try dump(installation), try contents(installation))
        #expect(installation.stop() == 0)
        try FileManager.default.removeItem(at: installation.state)
        try FileManager.default.createDirectory(at: installation.state, withIntermediateDirectories: true)
        try FileManager.default.copyItem(
            atPath: backup, toPath: installation.state.appending(path: "spool.db").path)
        try await expectRebuilt(installation, before, files)
    }
}
