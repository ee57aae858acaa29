import ControlAPI
import Foundation
import HTTPClient
import TestSupport
import Testing

@Suite("photospool verify", .tags(.neverLost, .saysWhatIsWrong)) struct VerifyTests {
    /// Orders an operation and waits for its end.
    private func run(_ installation: Installation, _ body: String) async throws -> OperationBody {
        let reply = try installation.post("/v1/operations", body: body)
        #expect(reply.status == 202)
        let id = try JSON.decode(OperationBody.self, from: reply.body).id
        try await installation.wait(for: "the operation") {
            try installation.get("/v1/operations/\(id)", as: OperationBody.self).isOver
        }
        return try installation.get("/v1/operations/\(id)")
    }

    @Test(.timeLimit(.minutes(2)))
    func `finds what changed, is cut short, gone or foreign, names each, and repairs nothing`() async throws {
        let installation = try Installation()
        for number in 1...6 {
            try Samples.variant(number).write(to: installation.drop.appending(path: "IMG_\(number).JPG"))
        }
        try await installation.start()
        try await installation.waitUntilIdle()
        let clean = try await run(installation, #"{"kind": "verify"}"#)
        #expect(clean.state == "done" && clean.done == 6 && clean.total == 6 && clean.findingsCount == 0)

        func stored(_ name: String) throws -> URL {
            let path = try #require(try installation.visibleFiles().first { $0.hasSuffix(name) })
            return installation.library.appending(path: path)
        }
        // One bit, with the modification time as it was.
        let flipped = try stored("IMG_2.JPG")
        let date = try FileManager.default.attributesOfItem(atPath: flipped.path)[.modificationDate] as? Date
        var bytes = try Data(contentsOf: flipped)
        bytes[bytes.count / 2] ^= 0x10
        let handle = try FileHandle(forUpdating: flipped)
        try handle.write(contentsOf: bytes)
        try handle.close()
        try FileManager.default.setAttributes([.modificationDate: try #require(date)], ofItemAtPath: flipped.path)
        let cut = try FileHandle(forUpdating: try stored("IMG_3.JPG"))
        try cut.truncate(atOffset: 1000)
        try cut.close()
        try FileManager.default.removeItem(at: try stored("IMG_4.JPG"))
        let foreign = try stored("IMG_1.JPG").deletingLastPathComponent().appending(path: "stranger.jpg")
        try Data("x".utf8).write(to: foreign)
        let before = try installation.visibleFiles()

        let found = try await run(installation, #"{"kind": "verify"}"#)
        #expect(found.state == "done")
        let findings = (found.findings ?? []).map { "\($0.kind) \(($0.path ?? "").split(separator: "/").last ?? "")" }
        #expect(
            findings.sorted() == [
                "changed IMG_2.JPG", "foreign stranger.jpg", "missing IMG_4.JPG", "truncated IMG_3.JPG",
            ])
        #expect(found.findingsCount == 4)
        #expect(try installation.visibleFiles() == before)

        var sampled: Set<String> = []
        for part in 1...3 {
            let some = try await run(installation, #"{"kind": "verify", "arguments": {"sample": "\#(part)/3"}}"#)
            sampled.formUnion((some.findings ?? []).compactMap(\.path))
        }
        #expect(sampled.count == 3)  // without the foreign one: only a whole run looks for those
        #expect(installation.stop() == 0)
    }

    /// One bit of it, with its size and times as they were.
    private func flip(_ url: URL, at position: Int) throws {
        let date = try FileManager.default.attributesOfItem(atPath: url.path)[.modificationDate] as? Date
        let handle = try FileHandle(forUpdating: url)
        try handle.seek(toOffset: UInt64(position))
        let byte = try #require(try handle.read(upToCount: 1)?.first)
        try handle.seek(toOffset: UInt64(position))
        try handle.write(contentsOf: Data([byte ^ 1 << UInt8.random(in: 0..<8)]))
        try handle.close()
        try FileManager.default.setAttributes([.modificationDate: try #require(date)], ofItemAtPath: url.path)
    }

    @Test(.timeLimit(.minutes(6)))
    func `R13 finds 100 of 100 faults among 1,000 originals, and takes nothing sound for one`() async throws {
        let installation = try Installation()
        for number in 1...1000 {
            let url = installation.drop.appending(path: "\(number % 10)/IMG_\(number).JPG")
            try FileManager.default.createDirectory(
                at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Samples.small(number).write(to: url)
        }
        try await installation.start()
        try await installation.wait(for: "the photos") { try installation.status().queue.imported == 1000 }
        let clean = try await run(installation, #"{"kind": "verify"}"#)
        #expect(clean.state == "done" && clean.done == 1000 && clean.findingsCount == 0, "\(clean)")

        var expected: Set<String> = []
        let chosen = try installation.visibleFiles().shuffled().prefix(100)
        for (number, path) in chosen.enumerated() {
            let url = installation.library.appending(path: path)
            let size = try #require(try url.resourceValues(forKeys: [.fileSizeKey]).fileSize)
            switch number % 4 {
            case 0:
                try flip(url, at: Int.random(in: 0..<size))
                expected.insert("changed \(path)")
            case 1:
                let handle = try FileHandle(forUpdating: url)
                try handle.truncate(atOffset: UInt64(Int.random(in: 0..<size)))
                try handle.close()
                expected.insert("truncated \(path)")
            case 2:
                try FileManager.default.removeItem(at: url)
                expected.insert("missing \(path)")
            default:
                try Data("x".utf8).write(to: url.appendingPathExtension("stranger"))
                expected.insert("foreign \(path).stranger")
            }
        }
        let found = try await run(installation, #"{"kind": "verify"}"#)
        var findings: Set<String> = []
        var page = found
        while true {
            findings.formUnion((page.findings ?? []).map { "\($0.kind) \($0.path ?? "")" })
            guard let next = page.next else { break }
            page = try installation.get("/v1/operations/\(found.id)?limit=200&after=\(next)")
        }
        print(
            "R13: \(findings.intersection(expected).count) of \(expected.count) faults found, "
                + "\(findings.subtracting(expected).count) false alarms")
        #expect(expected.count == 100 && findings == expected && found.findingsCount == 100)
        #expect(installation.stop() == 0)
    }

    @Test(.timeLimit(.minutes(2)))
    func `refuses what it does not know, and says what there is`() async throws {
        let installation = try Installation()
        try await installation.start()
        #expect(try installation.post("/v1/operations", body: #"{"kind": "mend"}"#).status == 400)
        #expect(try installation.get("/v1/operations", as: ListBody<OperationBody>.self).items.isEmpty)
        let bad = try await run(installation, #"{"kind": "verify", "arguments": {"sample": "9/7"}}"#)
        #expect(bad.state == "failed" && bad.error?.code == "E_BAD_REQUEST")
        #expect(installation.stop() == 0)
    }
}
