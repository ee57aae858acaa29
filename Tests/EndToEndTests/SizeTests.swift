import ControlAPI
import Foundation
import HTTPClient
import PhotoModel
import TestSupport
import Testing

/// By curl, as a gallery would ask.
@Suite("Pictures of a size that is asked for", .tags(.saysWhatIsWrong)) struct SizeTests {
    private struct Answer {
        var status: Int
        var headers: [String: String]
        var body: Data
    }

    private func curl(_ installation: Installation, _ target: String, _ options: [String] = []) throws -> Answer {
        let folder = try TemporaryFolder()
        let (head, body) = (folder.path + "/head", folder.path + "/body")
        let outcome = try Programs.run(
            "/usr/bin/env",
            ["curl", "-s", "--unix-socket", installation.socket, "-D", head, "-o", body, "-w", "%{http_code}"]
                + options + ["http://localhost" + target])
        let lines = try String(contentsOfFile: head, encoding: .utf8).split(whereSeparator: \.isNewline)
        let pairs = lines.dropFirst().compactMap { line -> (String, String)? in
            guard let colon = line.firstIndex(of: ":") else { return nil }
            return (
                line[..<colon].lowercased(),
                String(line[line.index(after: colon)...]).trimmingCharacters(in: .whitespaces)
            )
        }
        // Without a body curl makes no file.
        let data = (try? Data(contentsOf: URL(filePath: body))) ?? Data()
        return Answer(
            status: Int(outcome.output) ?? 0, headers: Dictionary(pairs) { first, _ in first }, body: data)
    }

    private func identify(_ data: Data) throws -> String {
        let folder = try TemporaryFolder()
        try data.write(to: URL(filePath: folder.path + "/a"))
        return try Programs.run("/usr/bin/env", ["identify", "-format", "%m %w %h", folder.path + "/a"]).output
    }

    private func kept(_ installation: Installation) throws -> [String] {
        try installation.files(below: installation.state.appending(path: "pictures"))
    }

    private func began(_ sources: [URL], more: String = "") async throws -> (Installation, [AssetBody]) {
        let installation = try Installation(more: more)
        for source in sources { try installation.place(source, as: source.lastPathComponent) }
        try await installation.start()
        try await installation.waitUntilIdle()
        return (installation, try installation.assets())
    }

    @Test(.timeLimit(.minutes(2)))
    func `are made once, and validated, and come in parts`() async throws {
        let (installation, assets) = try await began([Samples.photo, Samples.turned, Samples.heic])
        for asset in assets {
            let (width, height) = (try #require(asset.width), try #require(asset.height))
            // Of the preview, of the original, and never enlarged.
            for side in [300, 1500, 9000] {
                let long = min(side, max(width, height))
                let scale = Double(long) / Double(max(width, height))
                let shown = "\(Int((Double(width) * scale).rounded())) \(Int((Double(height) * scale).rounded()))"
                let answer = try curl(installation, "/v1/assets/\(asset.id)/preview?size=\(side)")
                #expect(answer.status == 200)
                #expect(answer.headers["content-type"] == "image/jpeg")
                #expect(try identify(answer.body) == "JPEG \(shown)")
            }
        }
        #expect(try kept(installation).count == 9)
        let target = "/v1/assets/\(assets[0].id)/preview?size=300"
        let whole = try curl(installation, target)
        let tag = try #require(whole.headers["etag"])
        #expect(tag.hasPrefix("\"") && tag.hasSuffix("\""))
        #expect(try curl(installation, target, ["-H", "If-None-Match: \(tag)"]).status == 304)
        let part = try curl(installation, target, ["-r", "10-19"])
        #expect(part.status == 206 && part.body == whole.body[10...19])
        #expect(part.headers["content-range"] == "bytes 10-19/\(whole.body.count)")
        #expect(try curl(installation, target, ["-r", "9999999-"]).status == 416)
        // After a restart it is the very same.
        #expect(installation.stop() == 0)
        try await installation.start()
        let again = try curl(installation, target)
        #expect(again.body == whole.body && again.headers["etag"] == tag)

        for bad in ["0", "15", "20000", "-1", "abc", "1e3", "", "0300"] {
            let answer = try curl(installation, "/v1/assets/\(assets[0].id)/preview?size=\(bad)")
            #expect(answer.status == 400)
            #expect(answer.headers["content-type"] == "application/problem+json")
            #expect(String(decoding: answer.body, as: UTF8.self).contains("\"E_BAD_REQUEST\""), "\(bad)")
        }
        #expect(try curl(installation, "/v1/assets/nobody/preview?size=300").status == 404)
        let original = try curl(installation, "/v1/assets/\(assets[0].id)/original/0", ["-r", "0-3"])
        #expect(original.status == 206)
        #expect(original.headers["etag"] == "\"\(assets[0].resources[0].sha256)\"")
        #expect(installation.stop() == 0)
    }

    @Test(.timeLimit(.minutes(2)))
    func `are decoded once for fifty who ask at once, and others are answered meanwhile`() async throws {
        // Of a size that takes a while.
        let folder = try TemporaryFolder()
        let large = folder.url.appending(path: "IMG_0009.JPG")
        let made = try Programs.run(
            "/usr/bin/env", ["convert", "-size", "6000x4000", "gradient:red-blue", "-quality", "90", large.path])
        try #require(made.status == 0)
        let (installation, assets) = try await began([large], more: "[log]\nlevel = \"debug\"")
        let target = "http://localhost/v1/assets/\(assets[0].id)/preview?size=3000"
        let outcome = try Programs.run(
            "/usr/bin/env",
            ["curl", "-s", "--unix-socket", installation.socket, "-Z", "--parallel-max", "50", "--parallel-immediate"]
                + (0..<50).flatMap { ["-o", "\(folder.path)/\($0)", target] })
        #expect(outcome.status == 0, "\(outcome.errors)")
        let bodies = try (0..<50).map { try Data(contentsOf: URL(filePath: "\(folder.path)/\($0)")) }
        #expect(Set(bodies).count == 1)
        #expect(try identify(bodies[0]) == "JPEG 3000 2000")
        #expect(installation.logText.split(separator: "A picture was made.").count == 2)
        #expect(try kept(installation).count == 1)
        // Who hangs up harms nobody, and finds it finished next time.
        _ = try curl(installation, "/v1/assets/\(assets[0].id)/preview?size=1401", ["--max-time", "0.001"])
        #expect(try curl(installation, "/v1/assets/\(assets[0].id)/preview?size=1401").status == 200)
        #expect(try installation.status().state == "running")
        #expect(installation.stop() == 0)
    }

    @Test(.timeLimit(.minutes(2)))
    func `take no more room than they may, and those asked for longest ago go first`() async throws {
        let (installation, assets) = try await began([Samples.photo], more: "[preview]\ncache_size = \"200KiB\"")
        func ask(_ side: Int) throws {
            #expect(try curl(installation, "/v1/assets/\(assets[0].id)/preview?size=\(side)").status == 200)
        }
        func sum() throws -> Int {
            try kept(installation).reduce(0) { sum, name in
                let path = installation.state.appending(path: "pictures/" + name).path
                return sum + (try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? 0)
            }
        }
        try ask(300)
        for side in 500...520 {
            try ask(side)
            try ask(300)
            #expect(try sum() <= 200 << 10)
        }
        #expect(try kept(installation).contains { $0.contains("-300-") })
        #expect(try !kept(installation).contains { $0.contains("-500-") })
        #expect(try kept(installation).contains { $0.contains("-520-") })
        #expect(installation.stop() == 0)
    }

    @Test(.timeLimit(.minutes(2)))
    func `are given although no disk takes them`() async throws {
        guard try Faults.arePossible(for: "a full disk for pictures made on request") else { return }
        let installation = try Installation()
        try installation.place(Samples.photo, as: "IMG_0001.JPG")
        let place = installation.state.appending(path: "pictures").path
        try await installation.start(environment: Faults.environment(["write:ENOSPC:1+@\(place)"]))
        try await installation.waitUntilIdle()
        let asset = try #require(try installation.assets().first)
        for _ in 0..<2 {
            let answer = try curl(installation, "/v1/assets/\(asset.id)/preview?size=300")
            #expect(answer.status == 200)
            #expect(try identify(answer.body).hasPrefix("JPEG 300 "))
        }
        #expect(try kept(installation).isEmpty)
        #expect(installation.logText.contains("A picture could not be kept"))
        #expect(installation.stop() == 0)
    }
}
