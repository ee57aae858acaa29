import ControlAPI
import Foundation
import HTTPClient
import PhotoModel
import TestSupport
import Testing

@Suite("photospool sweep", .tags(.neverLost, .stopsAnywhere)) struct SweepTests {
    private func sweep(_ installation: Installation, _ arguments: String = "{}") async throws -> OperationBody {
        let reply = try installation.post("/v1/operations", body: "{\"kind\": \"sweep\", \"arguments\": \(arguments)}")
        let id = try JSON.decode(OperationBody.self, from: reply.body).id
        try await installation.wait(for: "the sweep") {
            try installation.get("/v1/operations/\(id)", as: OperationBody.self).isOver
        }
        return try installation.get("/v1/operations/\(id)?limit=200")
    }

    private func put(_ bytes: Int, _ path: String, below folder: URL) throws {
        let url = folder.appending(path: path)
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(count: bytes).write(to: url)
    }

    private func kinds(_ body: OperationBody) -> [String] {
        (body.findings ?? []).map { "\($0.kind) \(($0.path ?? "").split(separator: "/").last ?? "")" }.sorted()
    }

    /// What nobody needs: two staging folders, two previews; and what is not the service's, or not known to it.
    private func litter(_ installation: Installation) throws {
        let own = installation.library.appending(path: ".photospool")
        try put(1000, "staging/01a22d0d-0000-7000-8000-000000000001/0", below: own)
        try put(24, "staging/01a22d0d-0000-7000-8000-000000000001/preview.jpg", below: own)
        try put(0, "staging/01a22d0d-0000-7000-8000-000000000002/0", below: own)
        try put(500, "previews/aa/01a22d0d-0000-7000-8000-0000000000aa.jpg", below: own)
        try put(476, "previews/bb/01a22d0d-0000-7000-8000-0000000000bb.jpg", below: own)
        try put(7, "previews/aa/mine.jpg", below: own)
        try put(7, ".photospool/claim/999999", below: installation.drop)
    }

    @Test(.timeLimit(.minutes(2)))
    func `removes what nobody needs, tells of the rest, and tells only in a dry run`() async throws {
        let installation = try Installation()
        for number in 1...3 {
            try Samples.variant(number).write(to: installation.drop.appending(path: "IMG_\(number).JPG"))
        }
        try await installation.start()
        try await installation.waitUntilIdle()
        let clean = try installation.files(below: installation.library).filter { !$0.contains("/journal/") }
        #expect(try await sweep(installation).findingsCount == 0)
        try litter(installation)
        let before = try installation.files(below: installation.library)
        let dry = try Programs.run(
            Programs.path("photospool"), ["--socket", installation.socket, "sweep", "--dry-run"])
        #expect(dry.status == 1)
        #expect(
            dry.output.split(separator: "\n").filter { $0.contains("\t") }.map { $0.prefix { $0 != "\t" } }.sorted()
                == ["claimed", "foreign", "preview", "preview", "staging", "staging"], "\(dry)")
        #expect(try installation.files(below: installation.library) == before)

        let done = try await sweep(installation)
        #expect(done.state == "done" && kinds(done) == ["claimed 999999", "foreign mine.jpg"], "\(done)")
        #expect(done.results == ["staging": "2", "previews": "2", "bytes": "2000"], "\(done)")
        let after = try installation.files(below: installation.library).filter { !$0.contains("/journal/") }
        #expect(after == (clean + [".photospool/previews/aa/mine.jpg"]).sorted())
        #expect(try installation.stagedEntries().isEmpty)
        let journal = try installation.files(below: installation.library.appending(path: ".photospool/journal"))
        let text = try journal.map {
            try String(
                contentsOf: installation.library.appending(path: ".photospool/journal/" + $0), encoding: .utf8)
        }.joined()
        #expect(text.split(separator: "\n").count { $0.contains("\"what\":\"sweep\"") } == 2)
        for wrong in [#"{"dry_run": "x"}"#, #"{"all": "1"}"#] {
            #expect(try await sweep(installation, wrong).error?.code == "E_BAD_REQUEST")
        }
        #expect(installation.stop() == 0)
    }

    @Test(.timeLimit(.minutes(3)))
    func `takes nothing from an import that is at work`() async throws {
        let installation = try Installation(dropKeys: "after_import = \"delete\"")
        try await installation.start()
        for number in 1...300 {
            try Samples.small(number).write(to: installation.drop.appending(path: "IMG_\(number).JPG"))
        }
        try await installation.wait(for: "the first ones") { try installation.status().queue.imported > 5 }
        var runs = 0
        while try installation.status().queue.imported < 300 {
            let done = try await sweep(installation)
            #expect(done.state == "done" && done.findingsCount == 0, "\(done)")
            #expect(done.results["previews"] == "0", "\(done)")
            runs += 1
        }
        #expect(runs > 0)
        try await installation.waitUntilIdle()
        #expect(try installation.jobs().allSatisfy { $0.state == "imported" && $0.attempts == 1 })
        #expect(try installation.assets().allSatisfy { $0.preview.state == "ok" })
        #expect(try await sweep(installation, #"{"dry_run": "1"}"#).findingsCount == 0)
        #expect(installation.stop() == 0)
    }

    @Test(.timeLimit(.minutes(2)))
    func `takes no preview for nobody's in a state that is older than the library`() async throws {
        let installation = try Installation()
        try Samples.variant(1).write(to: installation.drop.appending(path: "IMG_1.JPG"))
        try await installation.start()
        try await installation.waitUntilIdle()
        #expect(installation.stop() == 0)
        let before = try installation.files(below: installation.library.appending(path: ".photospool/previews"))
        try FileManager.default.removeItem(at: installation.state)
        try FileManager.default.createDirectory(at: installation.state, withIntermediateDirectories: true)
        try await installation.start()
        #expect(try await sweep(installation).error?.code == "E_STATE_STALE")
        #expect(before.count == 1)
        #expect(try installation.files(below: installation.library.appending(path: ".photospool/previews")) == before)
        #expect(installation.stop() == 0)
    }
}
