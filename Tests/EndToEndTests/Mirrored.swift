import ControlAPI
import Foundation
import HTTPClient
import TestSupport
import Testing

/// An installation whose library has a mirror, beside it.
struct Mirrored {
    let installation: Installation
    var mirror: URL { installation.folder.url.appending(path: "mirror") }

    /// - Parameter isThere: whether it is made.
    init(dropKeys: String = "", isThere: Bool = true, isConfigured: Bool = true) throws {
        installation = try Installation(dropKeys: dropKeys)
        if isConfigured { try configure("mirror = \"\(mirror.path)\"") }
        let made = try Programs.run(
            Programs.path("photospool"), ["init", "--config", installation.configuration.path])
        #expect(made.status == 0, "\(made.errors)")
        if isThere { try make() }
    }

    /// As an administrator does it: the folder lies on the library's own disk.
    func make() throws {
        let made = try Programs.run(
            Programs.path("photospool"),
            ["init", "--mirror", "--config", installation.configuration.path, mirror.path])
        #expect(made.status == 0, "\(made.errors)")
    }

    /// Adds lines to the `[library]` table.
    func configure(_ lines: String) throws {
        let text = try String(contentsOf: installation.configuration, encoding: .utf8)
        try text.replacing("[library]\n", with: "[library]\n\(lines)\n", maxReplacements: 1)
            .write(to: installation.configuration, atomically: true, encoding: .utf8)
    }

    func drop(_ numbers: some Sequence<Int>) throws {
        for number in numbers {
            try Samples.variant(number).write(to: installation.drop.appending(path: "IMG_\(number).JPG"))
        }
    }

    private func run(_ words: [String]) throws -> String {
        let outcome = try Programs.run("/usr/bin/env", words)
        #expect(outcome.status == 0, "\(words): \(outcome.errors)")
        return outcome.output
    }

    /// What sha256sum(1) and stat(1) say of everything visible below: bytes, size, mtime to the nanosecond, mode.
    func account(of url: URL) throws -> [String] {
        let script = """
            cd "$0" && find . -path ./.photospool -prune -o -type f -print0 | sort -z |
                while IFS= read -r -d '' f; do echo "$(sha256sum < "$f") $(stat -c '%n %s %y %a' "$f")"; done
            """
        return try run(["bash", "-c", script, url.path]).split(separator: "\n").map(String.init)
    }

    func expectSame(_ count: Int, _ location: SourceLocation = #_sourceLocation) throws {
        let library = try account(of: installation.library)
        #expect(library.count == count, sourceLocation: location)
        #expect(try account(of: mirror) == library, sourceLocation: location)
        #expect(try staged() == [], sourceLocation: location)
    }

    func staged() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: mirror.path + "/.photospool/staging")
    }

    /// Everything below, hidden or not, but for the folders themselves.
    func everything(below url: URL) throws -> [String] {
        try run(["find", url.path, "-mindepth", "1"]).split(separator: "\n").map(String.init)
    }

    func visible() throws -> [String] {
        try installation.files(below: mirror).filter { !$0.hasPrefix(".photospool/") }
    }

    func waitUntilEven() async throws {
        try await installation.waitUntilIdle()
        try await installation.wait(for: "the mirror") { try installation.status().mirror?.behind == 0 }
    }

    func waitForReason(_ code: String) async throws -> ErrorBody {
        try await installation.wait(for: code) {
            try installation.status().reasons.contains { $0.code == code }
        }
        return try #require(try installation.status().reasons.first { $0.code == code })
    }

    func perform(_ body: String) async throws -> OperationBody {
        let reply = try installation.post("/v1/operations", body: body)
        #expect(reply.status == 202)
        let id = try JSON.decode(OperationBody.self, from: reply.body).id
        try await installation.wait(for: "the operation") {
            try installation.get("/v1/operations/\(id)", as: OperationBody.self).isOver
        }
        return try installation.get("/v1/operations/\(id)")
    }

    /// The disk goes, or comes back.
    func move(_ from: URL, to: URL) throws { try FileManager.default.moveItem(at: from, to: to) }
}
