import ControlAPI
import Foundation
import HTTPClient
import TestSupport
import Testing

@Suite("The trash", .tags(.neverLost)) struct TrashTests {
    private func bytes(below url: URL) throws -> Set<Data> {
        Set(
            try FileManager.default.subpathsOfDirectory(atPath: url.path)
                .map { url.appending(path: $0) }
                .filter { try $0.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile == true }
                .map { try Data(contentsOf: $0) })
    }

    private func undo(_ installation: Installation, batch: Int64) async throws -> OperationBody {
        let reply = try installation.post(
            "/v1/operations", body: #"{"kind": "undo", "arguments": {"batch": "\#(batch)"}}"#)
        let id = try JSON.decode(OperationBody.self, from: reply.body).id
        try await installation.wait(for: "undo") {
            try installation.get("/v1/operations/\(id)", as: OperationBody.self).isOver
        }
        return try installation.get("/v1/operations/\(id)")
    }

    @Test(.timeLimit(.minutes(2)), arguments: ["keep", "move", "delete"])
    func `takes a batch back without losing a byte, and gives moved sources back`(afterImport: String) async throws {
        let installation = try Installation(dropKeys: "after_import = \"\(afterImport)\"")
        let photos = try (1...5).map(Samples.variant)
        for (number, photo) in photos.enumerated() {
            let folder = installation.drop.appending(path: "DCIM/\(number)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            try photo.write(to: folder.appending(path: "IMG_\(number).JPG"))
        }
        let before = try installation.files(below: installation.drop).sorted()
        try await installation.start()
        try await installation.waitUntilIdle()
        try await installation.wait(for: "the sources") {
            try installation.jobs().allSatisfy { $0.disposition.state != "pending" }
        }
        let batch = try #require(try installation.jobs().first).batchID
        try await installation.wait(for: "the end of the batch") {
            try installation.get("/v1/batches/\(batch)", as: BatchBody.self).closedAt != nil
        }
        let ended = try await undo(installation, batch: batch)
        #expect(ended.state == "done")
        #expect(ended.results["trashed"] == "5")
        #expect(try installation.visibleFiles().isEmpty)
        #expect(try installation.assets().isEmpty)
        let trash = try bytes(below: installation.library.appending(path: ".photospool/trash"))
        #expect(trash.isSuperset(of: photos))
        if afterImport != "delete" {
            #expect(try installation.files(below: installation.drop).filter { !$0.hasPrefix(".") }.sorted() == before)
            #expect(ended.findingsCount == 0)
        } else {
            #expect(ended.results["deleted_sources"] == "5")
        }
        // Nothing comes back by itself; what is dropped anew does.
        _ = try installation.post("/v1/rescan")
        try await installation.waitUntilIdle()
        #expect(try installation.visibleFiles().isEmpty)
        try photos[0].write(to: installation.drop.appending(path: "AGAIN.JPG"))
        try await installation.wait(for: "the photo that came again") {
            try installation.visibleFiles().count == 1
        }
        #expect(installation.stop() == 0)
    }

    @Test(.timeLimit(.minutes(4)), arguments: 0..<4)
    func `killed at any moment of an undo, goes on and ends as if nothing had been`(seed: Int) async throws {
        let installation = try Installation(dropKeys: "after_import = \"move\"")
        var photos: [String: Data] = [:]
        for number in 1...60 { photos["IMG_\(number).JPG"] = try Samples.small(number) }
        for (name, data) in photos { try data.write(to: installation.drop.appending(path: name)) }
        try await installation.start()
        try await installation.wait(for: "the sources") {
            let jobs = try installation.jobs()
            return jobs.count == 60 && jobs.allSatisfy { $0.disposition.state == "moved" }
        }
        let batch = try #require(try installation.jobs().first).batchID
        try await installation.wait(for: "the end of the batch") {
            try installation.get("/v1/batches/\(batch)", as: BatchBody.self).closedAt != nil
        }
        let reply = try installation.post(
            "/v1/operations", body: #"{"kind": "undo", "arguments": {"batch": "\#(batch)"}}"#)
        let id = try JSON.decode(OperationBody.self, from: reply.body).id
        for _ in 0..<4 {
            try await Task.sleep(for: .milliseconds(Int.random(in: 0...(60 * (seed + 1)))))
            installation.kill()
            try await installation.start()
        }
        try await installation.wait(for: "undo") {
            try installation.get("/v1/operations/\(id)", as: OperationBody.self).isOver
        }
        let ended: OperationBody = try installation.get("/v1/operations/\(id)")
        #expect(ended.state == "done" && ended.findingsCount == 0 && ended.done == 60, "\(ended)")
        #expect(ended.results == ["trashed": "60", "returned": "60", "deleted_sources": "0"], "\(ended)")
        #expect(try installation.assets().isEmpty && installation.visibleFiles().isEmpty)
        let trash = try bytes(below: installation.library.appending(path: ".photospool/trash"))
        #expect(trash.isSuperset(of: photos.values))
        for (name, data) in photos {
            #expect(try Data(contentsOf: installation.drop.appending(path: name)) == data)
        }
        _ = try installation.post("/v1/rescan")
        try await installation.waitUntilIdle()
        #expect(try installation.visibleFiles().isEmpty)
        #expect(installation.stop() == 0)
    }

    @Test(.timeLimit(.minutes(2)))
    func `gives back the very source that was moved, also under a number, and takes nobody's place`() async throws {
        let installation = try Installation(dropKeys: "after_import = \"move\"")
        try await installation.start()
        // Each of the same size, dropped under the same name, and moved behind the others.
        let photos = try (1...3).map(Samples.variant)
        var batches: [Int64] = []
        for (number, photo) in photos.enumerated() {
            try photo.write(to: installation.drop.appending(path: "IMG_1.JPG"))
            try await installation.wait(for: "photo \(number)") {
                let jobs = try installation.jobs()
                return jobs.count == number + 1 && jobs.allSatisfy { $0.disposition.state == "moved" }
            }
            let batch = try #require(try installation.jobs().first).batchID
            batches.append(batch)
            try await installation.wait(for: "the end of the batch") {
                try installation.get("/v1/batches/\(batch)", as: BatchBody.self).closedAt != nil
            }
        }
        let imported = installation.drop.appending(path: ".imported")
        #expect(try Data(contentsOf: imported.appending(path: "IMG_1-2.JPG")) == photos[1])
        let second = try await undo(installation, batch: batches[1])
        #expect(second.findingsCount == 0 && second.results["returned"] == "1", "\(second)")
        #expect(try Data(contentsOf: installation.drop.appending(path: "IMG_1.JPG")) == photos[1])
        #expect(try installation.files(below: imported) == ["IMG_1-3.JPG", "IMG_1.JPG"])
        // Its name is taken now.
        let first = try await undo(installation, batch: batches[0])
        #expect((first.findings ?? []).map(\.kind) == ["not_returned"], "\(first)")
        #expect(first.results["returned"] == "0" && first.results["trashed"] == "1")
        #expect(try Data(contentsOf: installation.drop.appending(path: "IMG_1.JPG")) == photos[1])
        #expect(try Data(contentsOf: imported.appending(path: "IMG_1.JPG")) == photos[0])
        // And what lies there is not the source any more.
        try FileManager.default.removeItem(at: installation.drop.appending(path: "IMG_1.JPG"))
        try photos[0].write(to: imported.appending(path: "IMG_1-3.JPG"), options: .atomic)
        let third = try await undo(installation, batch: batches[2])
        #expect((third.findings ?? []).map(\.kind) == ["not_returned"], "\(third)")
        #expect(!FileManager.default.fileExists(atPath: installation.drop.appending(path: "IMG_1.JPG").path))
        #expect(installation.stop() == 0)
    }

    @Test(.timeLimit(.minutes(2)))
    func `keeps what was deleted out, until it is forgotten`() async throws {
        let installation = try Installation()
        let photo = try Samples.variant(1)
        try photo.write(to: installation.drop.appending(path: "IMG_1.JPG"))
        try await installation.start()
        try await installation.waitUntilIdle()
        let asset = try #require(try installation.assets().first)
        #expect(try installation.request(.delete, "/v1/assets/\(asset.id)").status == 200)
        #expect(try installation.assets().isEmpty && installation.visibleFiles().isEmpty)
        #expect(try installation.request(.delete, "/v1/assets/\(asset.id)").status == 404)
        let trash = installation.library.appending(path: ".photospool/trash/\(asset.id)")
        #expect(try bytes(below: trash.appending(path: "originals")) == [photo])
        #expect(FileManager.default.fileExists(atPath: trash.path + "/preview.jpg"))

        try photo.write(to: installation.drop.appending(path: "IMG_2.JPG"))
        try await installation.wait(for: "the refusal") { try installation.status().queue.skipped == 1 }
        #expect(try installation.jobs("&state=skipped").first?.error?.code == "E_TOMBSTONE")
        #expect(try installation.post("/v1/assets/\(asset.id)/forget").status == 200)
        #expect(try installation.post("/v1/assets/\(asset.id)/forget").status == 404)
        try photo.write(to: installation.drop.appending(path: "IMG_3.JPG"))
        try await installation.wait(for: "the photo") { try installation.visibleFiles().count == 1 }
        #expect(installation.stop() == 0)
    }

    @Test(.timeLimit(.minutes(2)))
    func `takes assets whose previews lie on a disk of their own`() async throws {
        guard try Mount.isPossible(for: "the trash of previews on a disk of their own") else { return }
        let installation = try Installation()
        try await installation.start()
        #expect(installation.stop() == 0)
        let previews = installation.library.appending(path: ".photospool/previews")
        let disk = try Mount(at: previews, bytes: 4 << 20)
        for number in 1...2 {
            try Samples.variant(number).write(to: installation.drop.appending(path: "IMG_\(number).JPG"))
        }
        try await installation.start()
        try await installation.wait(for: "the photos") { try installation.status().queue.imported == 2 }
        // Twice: one that fails half-way would keep all others from going.
        for asset in try installation.assets() {
            #expect(asset.preview.state == "ok")
            #expect(try installation.request(.delete, "/v1/assets/\(asset.id)").isSuccess)
            let trash = installation.library.appending(path: ".photospool/trash/\(asset.id)/originals")
            #expect(try installation.files(below: trash) == [asset.resources[0].path])
        }
        #expect(try installation.assets().isEmpty)
        #expect(try installation.visibleFiles().isEmpty)
        #expect(try installation.files(below: previews).isEmpty)
        #expect(installation.stop() == 0)
        try disk.end()
    }
}
