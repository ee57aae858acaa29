import ControlAPI
import Foundation
import FoundationXML
import HTTPClient
import TestSupport
import Testing

@Suite("photospool manifest", .tags(.neverLost)) struct ManifestTests {
    private func run(_ installation: Installation, _ arguments: String) async throws -> OperationBody {
        let reply = try installation.post(
            "/v1/operations", body: #"{"kind": "manifest", "arguments": \#(arguments)}"#)
        let id = try JSON.decode(OperationBody.self, from: reply.body).id
        try await installation.wait(for: "the manifest") {
            try installation.get("/v1/operations/\(id)", as: OperationBody.self).isOver
        }
        return try installation.get("/v1/operations/\(id)")
    }

    private func shell(_ line: String, in folder: URL) throws -> (status: Int32, output: String) {
        let process = Process()
        process.executableURL = URL(filePath: "/bin/sh")
        process.arguments = ["-c", line]
        process.currentDirectoryURL = folder
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardError = pipe
        try process.run()
        let output = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return (process.terminationStatus, output)
    }

    @Test(.timeLimit(.minutes(2)))
    func `is checked by sha256sum, whatever the names, and finds what changed since`() async throws {
        let installation = try Installation()
        let names = ["IMG_1.JPG", "with space.JPG", "back\\slash.JPG", "-dash.JPG", "umlaut-ä.JPG"]
        for (number, name) in names.enumerated() {
            try Samples.variant(number + 1).write(to: installation.drop.appending(path: name))
        }
        try await installation.start()
        try await installation.waitUntilIdle()
        let made = try await run(installation, "{}")
        #expect(made.state == "done" && made.findingsCount == 0 && made.done == 5)
        let path = try #require(made.results["path"])
        let check = try shell("sha256sum -c --strict '\(path)'", in: installation.library)
        #expect(check.status == 0, "\(check.output)")
        #expect(check.output.split(separator: "\n").count { $0.hasSuffix(": OK") } == 5)

        let batch = try #require(try installation.jobs().first).batchID
        let mhl = try await run(installation, #"{"format": "mhl", "batch": "\#(batch)"}"#)
        #expect(mhl.state == "done" && mhl.findingsCount == 0)
        let list = installation.library.appending(path: try #require(mhl.results["path"]))
        let document = try XMLDocument(contentsOf: list)
        let root = try #require(document.rootElement())
        #expect(root.name == "hashlist" && root.attributes?.first { $0.name == "version" }?.stringValue == "2.0")
        let paths = try root.nodes(forXPath: "//*[local-name()='hash']/*[local-name()='path']").compactMap(
            \.stringValue)
        #expect(Set(paths) == Set(try installation.visibleFiles()))

        // One bit, and both ways to check say so.
        let victim = installation.library.appending(
            path: try #require(try installation.visibleFiles().first { $0.hasSuffix("IMG_1.JPG") }))
        var bytes = try Data(contentsOf: victim)
        bytes[1000] ^= 1
        try FileManager.default.removeItem(at: victim)
        try bytes.write(to: victim)
        #expect(try shell("sha256sum -c '\(path)'", in: installation.library).status == 1)
        let again = try await run(installation, #"{"format": "mhl"}"#)
        #expect(again.findings?.map(\.kind) == ["changed"])
        #expect(installation.stop() == 0)
    }
}
