import Foundation
import TestSupport
import Testing

/// The program as a person runs it, with neither service nor configuration.
@Suite("photospool template") struct TemplateTests {
    private struct Answer: Decodable {
        struct File: Decodable {
            var path: String
            var libraryPath: String?
            var error: Fault?

            enum CodingKeys: String, CodingKey {
                case path
                case libraryPath = "library_path"
                case error
            }
        }
        struct Fault: Decodable { var code: String }
        var template: String
        var files: [File]
    }

    private func template(_ words: [String]) throws -> Programs.Outcome {
        try Programs.run(
            Programs.path("photospool"), ["template"] + words,
            environment: [
                "HOME": "/nonexistent", "XDG_CONFIG_HOME": "/nonexistent", "PHOTOSPOOL_SOCKET": "/nonexistent/s",
            ])
    }

    private func names(_ words: [String]) throws -> [String?] {
        let outcome = try template(["--json"] + words)
        let answer = try JSONDecoder().decode(Answer.self, from: Data(outcome.output.utf8))
        return answer.files.map(\.libraryPath)
    }

    /// What exiftool reads out of a file, a tag a word.
    private func said(_ tags: [String], of url: URL) throws -> [String] {
        let outcome = try Programs.run(
            "/usr/bin/env", ["exiftool", "-s3", "-f"] + tags.map { "-" + $0 } + [url.path])
        #expect(outcome.status == 0, "\(outcome.errors)")
        return outcome.output.split(separator: "\n").map(String.init)
    }

    @Test func `fills every token with what exiftool and sha256sum say`() throws {
        let photo = Samples.photo
        let tags = try said(
            ["DateTimeOriginal", "SubSecTimeOriginal", "Make", "Model", "LensModel"], of: photo)
        let time = tags[0].split { $0 == ":" || $0 == " " }.map(String.init)
        try #require(time.count == 6)
        let sum = try Programs.run("/usr/bin/env", ["sha256sum", photo.path]).output.prefix(64)
        for (token, expected) in [
            ("{year}", time[0]), ("{month}", time[1]), ("{day}", time[2]), ("{hour}", time[3]), ("{minute}", time[4]),
            ("{second}", time[5]), ("{subsec}", tags[1]), ("{make}", tags[2]), ("{model}", tags[3]),
            ("{lens}", tags[4].replacing("/", with: "_")), ("{stem}", "IMG_0001"), ("{drop}", "drop"),
            ("{batch}", "1"), ("{seq}", "1"), ("{seq:4}", "0001"), ("{sha}", String(sum)),
            ("{sha:8}", String(sum.prefix(8))), ("{id}", "00000000-0000-7000-8000-000000000001"),
        ] {
            #expect(try names(["\(token){ext}", photo.path]) == ["\(expected).JPG"], "\(token)")
        }
        #expect(try names(["--drop", "card", "{drop}/{stem}{ext}", photo.path]) == ["card/IMG_0001.JPG"])
    }

    @Test func `says in the help of every token what the documentation says of it`() throws {
        let page = try String(
            contentsOf: URL(filePath: #filePath).deletingLastPathComponent().appending(
                path: "../../docs/configuration.md"), encoding: .utf8)
        let outcome = try template(["{yaer}-{x}{ext}", Samples.photo.path])
        let listed = try template(["{qqqqqq}{ext}", Samples.photo.path]).errors
        let known = listed.split { " .\n".contains($0) }.filter { $0.hasPrefix("{") && !$0.contains("qq") }
        #expect(known.count == 17)
        for token in known { #expect(page.contains("| `\(token)` |"), "\(token)") }
        #expect(outcome.errors.contains("has the unknown token {yaer}, at character 1; did you mean `{year}`?\n"))
    }

    @Test func `names the files of one shot alike, and counts on where a name is taken`() throws {
        let folder = try TemporaryFolder()
        for name in ["a/IMG_1.JPG", "a/IMG_1.xmp", "b/IMG_1.JPG", "b/IMG_2.JPG"] {
            let url = folder.url.appending(path: name)
            try FileManager.default.createDirectory(
                at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
            try FileManager.default.copyItem(at: Samples.photo, to: url)
        }
        let files = ["a/IMG_1.JPG", "a/IMG_1.xmp", "b/IMG_1.JPG", "b/IMG_2.JPG"].map { "\(folder.path)/\($0)" }
        let before = try Programs.run(
            "/usr/bin/find", [folder.path, "-type", "f", "-printf", "%p %s %T@ %C@ %A@ %i\n"]
        ).output
        #expect(
            try names(["{year}/{stem}{ext}"] + files)
                == ["2026/IMG_1.JPG", "2026/IMG_1.xmp", "2026/IMG_1_1.JPG", "2026/IMG_2.JPG"])
        #expect(
            try names(["{seq:3}{ext}"] + files) == ["001.JPG", "001.xmp", "002.JPG", "003.JPG"])
        let after = try Programs.run("/usr/bin/find", [folder.path, "-type", "f", "-printf", "%p %s %T@ %C@ %A@ %i\n"])
            .output
        #expect(after == before)
    }

    @Test func `says of each file that has no name why, and exits with 1`() throws {
        let folder = try TemporaryFolder()
        let (text, empty) = (folder.path + "/note.txt", folder.path + "/empty.JPG")
        try Data("no photo".utf8).write(to: URL(filePath: text))
        try Data().write(to: URL(filePath: empty))
        let gone = folder.path + "/gone.JPG"
        let words = ["{stem}{ext}", text, Samples.photo.path, empty, gone, folder.path]
        let plain = try template(words)
        #expect(plain.status == 1)
        #expect(plain.output == "\(Samples.photo.path) -> IMG_0001.JPG\n")
        let outcome = try template(["--json"] + words)
        #expect(outcome.status == 1)
        let answer = try JSONDecoder().decode(Answer.self, from: Data(outcome.output.utf8))
        #expect(answer.template == "{stem}{ext}")
        #expect(answer.files.map(\.path) == Array(words.dropFirst()))
        #expect(
            answer.files.map(\.error?.code)
                == ["E_UNSUPPORTED", nil, "E_EMPTY", "E_SOURCE_VANISHED", "E_BAD_REQUEST"])
        for path in [text, empty, gone, folder.path] { #expect(plain.errors.contains(path)) }
    }

    @Test(arguments: [
        ("{stem}", "has to end in {ext}, at character 7;"),
        ("a//{stem}{ext}", "has a component without a name, at character 3;"),
        ("{seq:99}{ext}", "at character 1."), ("../{stem}{ext}", "starts with a dot, at character 1;"),
    ])
    func `refuses a template with a fault and shows the place`(text: String, sentence: String) throws {
        let outcome = try template([text, Samples.photo.path])
        #expect(outcome.status == 64)
        #expect(outcome.output.isEmpty)
        #expect(outcome.errors.hasPrefix("photospool: The template "))
        #expect(outcome.errors.contains(sentence), "\(outcome.errors)")
    }

    /// The rule is the service's own: what is asked of a folder beforehand is what is in the library afterwards.
    @Test(.timeLimit(.minutes(2)))
    func `gives what the service gives`() async throws {
        let text = "{year}/{model}/{hour}{minute}-{sha:8}-{stem}{ext}"
        let installation = try Installation(libraryKeys: "template = \"\(text)\"")
        for sample in [Samples.photo, Samples.turned, Samples.heic] {
            try installation.place(sample, as: sample.lastPathComponent)
        }
        try Data("<x:xmpmeta xmlns:x=\"adobe:ns:meta/\"/>".utf8).write(
            to: installation.drop.appending(path: "IMG_0003.xmp"))
        let files = try installation.files(below: installation.drop).map { installation.drop.appending(path: $0).path }
        let foretold = try names([text] + files).compactMap { $0 }
        try await installation.start()
        try await installation.waitUntilIdle()
        #expect(foretold.count == 4)
        #expect(try installation.visibleFiles() == foretold.sorted())
        installation.stop()
    }
}
