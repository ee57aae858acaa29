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
