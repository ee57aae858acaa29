import ControlAPI
import Foundation
import HTTPClient
import PhotoModel
import TestSupport
import Testing

@Suite("Previews that are made later", .tags(.neverLost, .stopsAnywhere, .saysWhatIsWrong), .serialized)
struct PreviewTests {
    private func run(
        _ installation: Installation, _ arguments: String = #"{"missing": "1"}"#
    ) async throws -> OperationBody {
        let reply = try installation.post(
            "/v1/operations", body: #"{"kind": "previews", "arguments": \#(arguments)}"#)
        let id = try JSON.decode(OperationBody.self, from: reply.body).id
        try await installation.wait(for: "the previews") {
            try installation.get("/v1/operations/\(id)", as: OperationBody.self).isOver
        }
        return try installation.get("/v1/operations/\(id)?limit=200")
    }

    /// As `file` and ImageMagick see what the asset says of its preview.
    private func expectPreview(_ asset: AssetBody, in installation: Installation) throws {
        let path = try #require(asset.preview.path)
        let file = installation.library.appending(path: path).path
        let seen = try Programs.run("/usr/bin/env", ["identify", "-format", "%m %w %h", file])
        #expect(seen.output == "JPEG \(asset.preview.width ?? 0) \(asset.preview.height ?? 0)", "\(seen.errors)")
    }

    private func previews(_ installation: Installation) throws -> [String] {
        try installation.files(below: installation.library.appending(path: ".photospool/previews"))
    }

    private func sql(_ installation: Installation, _ statement: String) throws -> String {
        let outcome = try Programs.run("/usr/bin/env", ["sqlite3", installation.state.path + "/spool.db", statement])
        #expect(outcome.status == 0, "\(outcome.errors)")
        return outcome.output
    }

    @Test(.timeLimit(.minutes(2)))
    func `makes what is gone, tells of an original that is damaged, and shows no picture of it`() async throws {
        let installation = try Installation()
        for number in 1...5 {
            try Samples.variant(number).write(to: installation.drop.appending(path: "IMG_\(number).JPG"))
        }
        try Samples.raw(at: "2026:05:17 09:04:31").write(to: installation.drop.appending(path: "IMG_6.DNG"))
        try Data(contentsOf: Samples.turned).write(to: installation.drop.appending(path: "IMG_7.JPG"))
        try await installation.start()
        try await installation.waitUntilIdle()
        let before = try installation.assets()
        func asset(_ number: Int, of assets: [AssetBody]) throws -> AssetBody {
            try #require(assets.first { $0.resources[0].path.contains("IMG_\(number).") })
        }
        #expect(try asset(6, of: before).preview.state == "failed")
        for number in [1, 2, 3, 7] {
            let path = try #require(try asset(number, of: before).preview.path)
            try FileManager.default.removeItem(at: installation.library.appending(path: path))
        }
        let empty = try #require(try asset(4, of: before).preview.path)
        try Data().write(to: installation.library.appending(path: empty))
        let damaged = installation.library.appending(path: try asset(2, of: before).resources[0].path)
        var bytes = try Data(contentsOf: damaged)
        bytes[bytes.count / 2] ^= 0x10
        let handle = try FileHandle(forUpdating: damaged)
        try handle.write(contentsOf: bytes)
        try handle.close()
        try FileManager.default.removeItem(
            at: installation.library.appending(path: try asset(3, of: before).resources[0].path))

        let done = try await run(installation)
        #expect(done.state == "done" && done.done == 7 && done.total == 7, "\(done)")
        #expect(done.results == ["made": "3", "failed": "3"], "\(done)")
        let findings = (done.findings ?? []).map { "\($0.kind) \(($0.path ?? "").split(separator: "/").last ?? "")" }
        #expect(findings.sorted() == ["changed IMG_2.JPG", "failed IMG_6.DNG", "missing IMG_3.JPG"], "\(done)")
        let after = try installation.assets()
        for number in [1, 4, 5, 7] {
            #expect(try asset(number, of: after) == asset(number, of: before))
            try expectPreview(try asset(number, of: after), in: installation)
        }
        for number in [2, 3] {
            let lost = try asset(number, of: after)
            #expect(lost.preview.state == "failed" && lost.preview.code == "E_NOT_FOUND" && lost.preview.path == nil)
        }
        #expect(try installation.stagedEntries().isEmpty)
        // Once more there is nothing to make, and the command says so by its exit status.
        let again = try Programs.run(
            Programs.path("photospool"), ["--socket", installation.socket, "previews", "--missing"])
        #expect(again.status == 1 && again.output.contains("missing\t"), "\(again)")
        let bare = try Programs.run(Programs.path("photospool"), ["--socket", installation.socket, "previews"])
        #expect(bare.status == 64)
        for wrong in [#"{"missing": "0"}"#, #"{"all": "1"}"#, #"{"codes": "E_NO"}"#] {
            #expect(try await run(installation, wrong).error?.code == "E_BAD_REQUEST")
        }

        // And a rebuild knows them as they are now.
        let dump = "SELECT * FROM asset ORDER BY id"
        let all = try sql(installation, dump)
        #expect(installation.stop() == 0)
        try FileManager.default.removeItem(at: installation.state)
        try FileManager.default.createDirectory(at: installation.state, withIntermediateDirectories: true)
        try await installation.start()
        _ = try installation.post("/v1/operations", body: #"{"kind": "rebuild"}"#)
        try await installation.wait(for: "the rebuild") {
            try installation.get("/v1/operations/1", as: OperationBody.self).isOver
        }
        // But of one whose only photo is gone or changed nothing is left to be listed.
        let lost = try [2, 3].map { try "'" + asset($0, of: before).id + "'" }.joined(separator: ", ")
        let kept = all.split(separator: "\n").filter { line in
            !lost.split(separator: "'").contains { $0.count > 20 && line.contains($0) }
        }
        #expect(try sql(installation, dump).split(separator: "\n") == kept)
        #expect(installation.stop() == 0)
    }

    @Test(.timeLimit(.minutes(4)), arguments: 0..<3)
    func `killed at any moment and begun again, makes each, and leaves nothing behind`(seed: Int) async throws {
        let installation = try Installation(more: "[import]\nsweep_after = \"1s\"\n")
        for number in 1...100 {
            try Samples.small(number).write(to: installation.drop.appending(path: "IMG_\(number).JPG"))
        }
        try await installation.start()
        try await installation.wait(for: "the photos") { try installation.status().queue.imported == 100 }
        try await installation.waitUntilIdle()
        let before = try installation.assets().sorted { $0.id < $1.id }
        for asset in before {
            let path = try #require(asset.preview.path)
            try FileManager.default.removeItem(at: installation.library.appending(path: path))
        }
        _ = try installation.post("/v1/operations", body: #"{"kind": "previews"}"#)
        for _ in 0..<4 {
            try await Task.sleep(for: .milliseconds(Int.random(in: 0...(200 * (seed + 1)))))
            installation.kill()
            try await installation.start()
        }
        try await installation.wait(for: "the previews") {
            try installation.get("/v1/operations/1", as: OperationBody.self).isOver
        }
        let done: OperationBody = try installation.get("/v1/operations/1")
        #expect(done.state == "done" && done.findingsCount == 0, "\(done)")
        #expect(try installation.assets().sorted { $0.id < $1.id } == before)
        #expect(try previews(installation).count == 100)
        for asset in before.prefix(5) { try expectPreview(asset, in: installation) }
        #expect(installation.stop() == 0)
        #expect(try sql(installation, "SELECT count(*) FROM journal WHERE outcome IS NULL") == "0\n")
    }

    @Test(.timeLimit(.minutes(4)), arguments: ["delete", "keep"])
    func `H02 imports originals while the disk of the previews is full, and makes their previews later by itself`(
        afterImport: String
    ) async throws {
        guard try Mount.isPossible(for: "a full disk of previews") else { return }
        let installation = try Installation(dropKeys: "after_import = \"\(afterImport)\"")
        // The library first, so that it has its folders.
        try await installation.start()
        #expect(installation.stop() == 0)
        let place = installation.library.appending(path: ".photospool/previews")
        let disk = try Mount(at: place, bytes: 4 << 20)
        let ballast = place.appending(path: "ballast")
        try await installation.start()
        try Samples.variant(1).write(to: installation.drop.appending(path: "IMG_1.JPG"))
        try await installation.wait(for: "the first") { try installation.status().queue.imported == 1 }
        #expect(try installation.assets().first?.preview.state == "ok")
        try expectPreview(try #require(try installation.assets().first), in: installation)

        _ = FileManager.default.createFile(atPath: ballast.path, contents: nil)
        let handle = try FileHandle(forWritingTo: ballast)
        do {
            while true { try handle.write(contentsOf: Data(count: 4096)) }
        } catch {}  // full now
        try handle.close()
        for number in 2...9 {
            try Samples.variant(number).write(to: installation.drop.appending(path: "IMG_\(number).JPG"))
        }
        try await installation.wait(for: "the originals") { try installation.status().queue.imported == 9 }
        let owed = try installation.assets().filter { $0.preview.state == "failed" }
        #expect(owed.count == 8 && owed.allSatisfy { $0.preview.code == "E_LIBRARY_FULL" }, "\(installation.logText)")
        #expect(try installation.visibleFiles().count == 9)
        let status = try installation.status()
        #expect(status.state == "degraded" && status.reasons.contains { $0.code == "E_LIBRARY_FULL" })
        #expect(status.queue.failed == 0 && status.queue.queued == 0)
        if afterImport == "delete" {
            try await installation.wait(for: "the sources") {
                try installation.files(below: installation.drop).isEmpty
            }
        }
        // It outlives a restart, and a life in which there is no room either.
        installation.kill()
        try await installation.start()
        try await installation.wait(for: "the reason") {
            try installation.status().reasons.contains { $0.code == "E_LIBRARY_FULL" }
        }
        try FileManager.default.removeItem(at: ballast)
        try await installation.wait(for: "the previews") {
            try installation.assets().allSatisfy { $0.preview.state == "ok" }
        }
        for asset in try installation.assets() { try expectPreview(asset, in: installation) }
        try await installation.wait(for: "the end of the outage") { try installation.status().reasons.isEmpty }
        #expect(try installation.jobs().allSatisfy { $0.attempts == 1 })
        #expect(try installation.stagedEntries().isEmpty)
        #expect(try previews(installation).filter { $0.hasPrefix(".") }.isEmpty)
        #expect(installation.stop() == 0)
        try disk.end()
    }

    @Test(.timeLimit(.minutes(3)))
    func `H02 learns that previews lie elsewhere, or have a quota, from the calls that fail, and goes on`() async throws
    {
        guard try Faults.arePossible(for: "previews with a quota") else { return }
        let installation = try Installation()
        try await installation.start()
        #expect(installation.stop() == 0)
        let place = installation.library.appending(path: ".photospool/previews").path
        try await installation.start(
            environment: try Faults.environment([
                // As a folder does that belongs to another project; then its quota is used up.
                "rename:EXDEV:1@\(place)", "write:EDQUOT:1-2@\(place)/.staging",
            ]))
        for number in 1...5 {
            try Samples.variant(number).write(to: installation.drop.appending(path: "IMG_\(number).JPG"))
            try await installation.wait(for: "photo \(number)") {
                try installation.status().queue.imported == number
            }
        }
        #expect(installation.logText.contains("E_LIBRARY_IO") && installation.logText.contains("E_LIBRARY_FULL"))
        try await installation.wait(for: "the previews") {
            try installation.assets().allSatisfy { $0.preview.state == "ok" }
        }
        for asset in try installation.assets() { try expectPreview(asset, in: installation) }
        try await installation.wait(for: "the end of the outage") { try installation.status().reasons.isEmpty }
        #expect(try installation.jobs().allSatisfy { $0.state == "imported" && $0.attempts == 1 })
        #expect(try previews(installation).count == 5 && installation.stagedEntries().isEmpty)
        #expect(installation.stop() == 0)
    }

    @Test(.timeLimit(.minutes(10)))
    func `T4 leaves every photo once, killed at any call while its preview goes to a disk of its own`() async throws {
        guard try Faults.arePossible(for: "killing the daemon at any call"),
            try Mount.isPossible(for: "a disk of previews")
        else { return }
        func withDisk(_ body: (Shoot) throws -> Void) throws {
            let shoot = try Shoot(afterImport: "delete")
            let place = shoot.installation.library.appending(path: ".photospool/previews")
            try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
            let disk = try Mount(at: place, bytes: 8 << 20)
            try body(shoot)
            try disk.end()
        }
        var count = 0
        try withDisk { shoot in
            let trace = shoot.installation.folder.url.appending(path: "trace")
            let code = try shoot.installation.runOnce(
                environment: Faults.environment(trace: trace, root: shoot.installation.folder.url))
            #expect(code == 0, Comment(rawValue: shoot.installation.logText))
            try shoot.checkEnd("undisturbed")
            let lines = try String(contentsOf: trace, encoding: .utf8).split(separator: "\n")
            #expect(lines.contains { $0.contains("previews/.staging/") })
            count = lines.count { $0.prefix { $0 != " " }.hasSuffix("!") }
        }
        #expect(count > 100)
        let step = Faults.areExhaustive ? 1 : count / 10
        for point in stride(from: Int.random(in: 1...step), through: count, by: step) {
            try withDisk { shoot in
                let situation = "killed at \(point)"
                _ = try shoot.installation.runOnce(
                    environment: Faults.environment(["change:KILL:\(point)@\(shoot.everywhere)"]))
                try shoot.checkPromises(situation)
                let code = try shoot.installation.runOnce()
                #expect(code == 0, "\(situation)\n\(shoot.installation.logText)")
                try shoot.checkEnd(situation)
                let staged = try? FileManager.default.contentsOfDirectory(
                    atPath: shoot.installation.library.appending(path: ".photospool/previews/.staging").path)
                #expect(staged?.isEmpty ?? true, Comment(rawValue: situation))
            }
        }
    }

    @Test(.timeLimit(.minutes(2)))
    func `tries again with another decoder what the one before could not do, once`() async throws {
        let installation = try Installation(more: "[import]\non_preview_failure = \"strict\"\n")
        try Samples.raw(at: "2026:05:17 09:04:31").write(to: installation.drop.appending(path: "IMG_1.DNG"))
        try Samples.damaged().write(to: installation.drop.appending(path: "IMG_2.JPG"))
        for number in 3...4 {
            try Samples.variant(number).write(to: installation.drop.appending(path: "IMG_\(number).JPG"))
        }
        try await installation.start()
        try await installation.wait(for: "the jobs") {
            let queue = try installation.status().queue
            return queue.imported == 2 && queue.failed == 2
        }
        let known = try sql(installation, "SELECT value FROM setting WHERE key = 'decoder.version'")
        let version = try Programs.run(Programs.path("photospool-decoder"), ["--version"]).output
        let movies = try Programs.run(Programs.path("photospool-decoder-av"), ["--version"]).output
        let expected =
            version.dropFirst("photospool-decoder ".count).dropLast()
            + ", movies " + movies.dropFirst("photospool-decoder-av ".count)
        #expect(known == expected)
        #expect(known.hasPrefix("0.1.0 (libheif "))
        #expect(installation.stop() == 0)
        // As another one would have left them: a job that failed, and an asset without a preview.
        _ = try sql(
            installation,
            """
            UPDATE setting SET value = 'another' WHERE key = 'decoder.version';
            UPDATE asset SET preview_state = 'failed', preview_code = 'E_DECODER_CRASH', preview_title = 'x',
                preview_recovery = 'y', preview_path = NULL WHERE id = (SELECT min(id) FROM asset);
            """)
        try await installation.start()
        try await installation.wait(for: "the preview") {
            try installation.assets().allSatisfy { $0.preview.state == "ok" }
        }
        for asset in try installation.assets() { try expectPreview(asset, in: installation) }
        // Both jobs failed again, and are told so.
        try await installation.wait(for: "the jobs") { try installation.status().queue.failed == 2 }
        #expect(installation.logText.contains("There is another decoder"))
        let operations = try installation.get("/v1/operations", as: ListBody<OperationBody>.self).items
        #expect(operations.count == 1 && operations[0].results["made"] == "1")
        #expect(try sql(installation, "SELECT value FROM setting WHERE key = 'decoder.version'") == known)
        #expect(installation.stop() == 0)
        try await installation.start()
        try await installation.waitUntilIdle()
        #expect(try installation.get("/v1/operations", as: ListBody<OperationBody>.self).items.count == 1)
        #expect(installation.stop() == 0)
    }
}
