import ControlAPI
import Foundation
import HTTPClient
import PhotoModel
import TestSupport
import Testing

@Suite("photospool import --dry-run") struct DryRunTests {
    private func ask(_ installation: Installation, _ paths: [String], isDry: Bool = true) throws -> Programs.Outcome {
        try Programs.run(
            Programs.path("photospool"),
            ["--socket", installation.socket, "--json", "import"] + (isDry ? ["--dry-run"] : []) + paths)
    }

    private func answer(_ installation: Installation, _ paths: [String]) throws -> ImportBody {
        try JSON.decode(ImportBody.self, from: Array(try ask(installation, paths).output.utf8))
    }

    /// Everything that is on disk, and everything the state knows.
    private func everything(_ installation: Installation) throws -> String {
        let tree = try Programs.run(
            "/bin/sh",
            [
                "-c",
                "cd \"$0\" && find drop library other -printf '%p %y %s %m %T@ %i\\n' | sort"
                    + " && find drop library other -type f -print0 | sort -z | xargs -0 sha256sum",
                installation.folder.path,
            ])
        let state = try Programs.run(
            "/usr/bin/env",
            ["sqlite3", "-readonly", installation.state.appending(path: "spool.db").path, ".dump"])
        #expect(tree.status == 0 && state.status == 0, "\(tree.errors) \(state.errors)")
        return tree.output + state.output
    }

    /// With an import root beside the drop folder.
    private func install(_ dropKeys: String = "", libraryKeys: String = "") throws -> (Installation, URL) {
        let installation = try Installation(dropKeys: dropKeys, libraryKeys: libraryKeys)
        let root = installation.folder.url.appending(path: "other")
        try FileManager.default.createDirectory(at: root, withIntermediateDirectories: true)
        try change(installation, "[control]", to: "[control]\nimport_roots = [\"\(root.path)\"]")
        return (installation, root)
    }

    private func change(_ installation: Installation, _ text: String, to other: String) throws {
        let old = try String(contentsOf: installation.configuration, encoding: .utf8)
        #expect(old.contains(text))
        try old.replacing(text, with: other).write(to: installation.configuration, atomically: true, encoding: .utf8)
    }

    /// The watcher hands nothing over, so that nothing is known but by asking.
    private func slowDown(_ installation: Installation) throws {
        try change(installation, "settle = \"100ms\"", to: "settle = \"1h\"")
    }

    /// So that nothing was written a moment ago.
    private func age(_ folder: URL) throws {
        _ = try Programs.run(
            "/bin/sh", ["-c", "find \"$0\" -type f -exec touch -d '2026-05-01 12:00' {} +", folder.path])
    }

    private func outcomes(_ body: ImportBody) -> [String: String] {
        var found: [String: String] = [:]
        for file in body.groups.flatMap(\.files) {
            let name = String(file.path.split(separator: "/").last ?? "")
            let parent = String(file.path.split(separator: "/").dropLast().last ?? "")
            found["\(parent)/\(name)"] = [
                file.outcome, file.libraryPath, file.sameAs.map { String($0.split(separator: "/").last ?? "") },
            ].compactMap { $0 }.joined(separator: " ")
        }
        return found
    }

    @Test(.timeLimit(.minutes(2)), .tags(.untouched, .saysWhatIsWrong))
    func `says of every file what would become of it, and changes nothing`() async throws {
        let (installation, other) = try install("ignore = [\"*.bak\"]")
        try installation.place(Samples.photo, as: "IMG_0001.JPG")
        try age(installation.drop)  // what was written a moment ago is refused by hand
        try await installation.start()
        try await installation.wait(for: "the first import") { try installation.status().queue.imported == 1 }
        try await installation.waitUntilIdle()
        let asset = try #require(try installation.assets().first).id

        let sidecar = Data("<x:xmpmeta xmlns:x=\"adobe:ns:meta/\"/>".utf8)
        for (name, data) in [
            ("copy.JPG", try Data(contentsOf: Samples.photo)), ("IMG_0001.JPG", try Samples.variant(1)),
            ("IMG_0002.JPG", try Data(contentsOf: Samples.turned)), ("twin.JPG", try Data(contentsOf: Samples.turned)),
            ("IMG_0003.HEIC", try Data(contentsOf: Samples.heic)), ("IMG_0003.xmp", sidecar),
            ("IMG_0009.xmp", sidecar), ("note.txt", Data("hello".utf8)), ("empty.JPG", Data()),
            (".hidden.JPG", try Samples.variant(2)),
        ] { try data.write(to: other.appending(path: name)) }
        try age(other)
        try await installation.waitUntilIdle()

        let before = try everything(installation)
        let outcome = try ask(installation, [other.path, installation.drop.path, "/etc/hostname"])
        #expect(try everything(installation) == before)
        #expect(outcome.status == 1)

        let body = try JSON.decode(ImportBody.self, from: Array(outcome.output.utf8))
        let day = "2026/2026-05-17"
        #expect(
            outcomes(body) == [
                "drop/IMG_0001.JPG": "known", "other/copy.JPG": "duplicate",
                "other/IMG_0001.JPG": "import \(day)/IMG_0001_1.JPG",
                "other/IMG_0002.JPG": "import \(day)/IMG_0002.JPG",
                "other/twin.JPG": "duplicate IMG_0002.JPG", "other/IMG_0003.HEIC": "import \(day)/IMG_0003.HEIC",
                "other/IMG_0003.xmp": "import \(day)/IMG_0003.xmp", "other/IMG_0009.xmp": "refused",
                "other/note.txt": "refused", "other/empty.JPG": "refused",
            ])
        func group(_ name: String) throws -> ImportGroupBody {
            try #require(body.groups.first { $0.files.contains { $0.path.hasSuffix("/other/" + name) } })
        }
        #expect(try group("copy.JPG").files[0].assetID == asset)
        #expect(try group("IMG_0003.HEIC").files.map(\.role) == ["photo", "sidecar"])
        #expect(
            try group("IMG_0003.HEIC").files.map(\.companionOf) == [nil, other.appending(path: "IMG_0003.HEIC").path])
        #expect(try group("IMG_0009.xmp").error?.code == "E_ORPHAN")
        #expect(try group("note.txt").error?.code == "E_UNSUPPORTED")
        #expect(try group("empty.JPG").error?.code == "E_EMPTY")
        #expect(body.ignored.map(\.rule) == ["built_in"])
        #expect(body.ignored.map(\.path) == [other.appending(path: ".hidden.JPG").path])
        #expect(body.refused.map(\.error.code) == ["E_FORBIDDEN"])
        let known = try #require(body.groups.flatMap(\.files).first { $0.outcome == "known" })
        #expect(known.assetID == asset && known.jobState == "imported")

        // What is done then is what was said.
        _ = try ask(installation, [other.path], isDry: false)
        try await installation.waitUntilIdle()
        let foretold = body.groups.flatMap(\.files).compactMap(\.libraryPath)
        #expect(try installation.visibleFiles() == (foretold + ["\(day)/IMG_0001.JPG"]).sorted())
        installation.stop()
    }

    @Test(.timeLimit(.minutes(2)), .tags(.untouched))
    func `names the pattern that passes a file over, and takes the numbers that {seq} would`() async throws {
        let (installation, _) = try install(
            "ignore = [\"*.bak\", \"raw/\"]", libraryKeys: "template = \"{seq:3}{ext}\"")
        try slowDown(installation)
        try await installation.start()
        for number in [10, 2, 1] {
            try Samples.variant(number).write(to: installation.drop.appending(path: "IMG_\(number).JPG"))
        }
        try Data("x".utf8).write(to: installation.drop.appending(path: "old.bak"))
        try FileManager.default.createDirectory(
            at: installation.drop.appending(path: "raw"), withIntermediateDirectories: true)
        try age(installation.drop)
        let body = try answer(installation, [installation.drop.path])
        #expect(
            body.ignored.map { "\($0.path.split(separator: "/").last ?? "") \($0.pattern ?? "")" }.sorted()
                == ["old.bak *.bak", "raw raw/"])
        let files = body.groups.flatMap(\.files)
        #expect(
            files.map { String($0.path.split(separator: "/").last ?? "") } == ["IMG_1.JPG", "IMG_2.JPG", "IMG_10.JPG"])
        #expect(files.map(\.libraryPath) == ["001.JPG", "002.JPG", "003.JPG"])
        installation.stop()
    }

    @Test(.timeLimit(.minutes(2)))
    func `takes files that are named together for one shot, and each of them once`() async throws {
        let (installation, other) = try install()
        let sidecar = Data("<x:xmpmeta xmlns:x=\"adobe:ns:meta/\"/>".utf8)
        for (name, data) in [
            ("A.JPG", try Data(contentsOf: Samples.photo)), ("A.xmp", sidecar), ("B.JPG", try Samples.variant(1)),
        ] { try data.write(to: other.appending(path: name)) }
        try age(other)
        try await installation.start()
        let paths = ["A.xmp", "A.JPG", "B.JPG", "A.JPG"].map { other.appending(path: $0).path }
        #expect(try answer(installation, paths).groups.map(\.files.count) == [2, 1])
        let outcome = try ask(installation, paths, isDry: false)
        #expect(outcome.status == 0, "\(outcome.output)")
        try await installation.waitUntilIdle()
        #expect(try installation.jobs().map(\.files.count).sorted() == [1, 2])
        #expect(try installation.assets().map(\.resources.count).sorted() == [1, 2])
        installation.stop()
    }

    @Test(.timeLimit(.minutes(2)))
    func `counts {seq} as the import does: not for what joins, is known or fails`() async throws {
        let (installation, other) = try install(libraryKeys: "template = \"{seq:4}{ext}\"")
        let sidecar = Data("<x:xmpmeta xmlns:x=\"adobe:ns:meta/\"/>".utf8)
        try installation.place(Samples.photo, as: "IMG_0001.JPG")
        try await installation.start()
        try await installation.wait(for: "the photo") { try installation.status().queue.imported == 1 }
        for (name, data) in [
            ("a/copy.JPG", try Data(contentsOf: Samples.photo)), ("b/A.JPG", try Samples.variant(1)),
            ("b/A.xmp", sidecar), ("b/B.JPG", try Samples.variant(1)), ("b/C.txt", Data("hello".utf8)),
            ("b/D.JPG", try Samples.variant(2)), ("c/E.JPG", try Samples.variant(3)),
        ] {
            let target = other.appending(path: name)
            try FileManager.default.createDirectory(
                at: target.deletingLastPathComponent(), withIntermediateDirectories: true)
            try data.write(to: target)
        }
        try age(other)
        // Later than its shot.
        try sidecar.write(to: installation.drop.appending(path: "IMG_0001.xmp"))
        let body = try answer(installation, [other.path])
        let foretold = body.groups.flatMap(\.files).compactMap(\.libraryPath)
        #expect(foretold == ["0002.JPG", "0002.xmp", "0003.JPG", "0004.JPG"])
        // One after the other: the numbers of shots that are imported at the same time may change places.
        for names in [["a"], ["b/A.JPG", "b/A.xmp"], ["b/B.JPG"], ["b/C.txt"], ["b/D.JPG"], ["c"]] {
            _ = try ask(installation, names.map { other.appending(path: $0).path }, isDry: false)
            try await installation.waitUntilIdle()
        }
        #expect(try installation.visibleFiles() == ["0001.JPG", "0001.xmp"] + foretold)
        installation.stop()
    }

    @Test(.timeLimit(.minutes(2)))
    func `prints a line for each file`() async throws {
        let (installation, other) = try install()
        try installation.place(Samples.photo, as: "IMG_0001.JPG")
        try await installation.start()
        try await installation.wait(for: "the import") { try installation.status().queue.imported == 1 }
        try await installation.waitUntilIdle()
        for (name, sample) in [("a.JPG", Samples.photo), ("b.JPG", Samples.turned)] {
            try FileManager.default.copyItem(at: sample, to: other.appending(path: name))
        }
        try age(other)
        let asset = try #require(try installation.assets().first).id
        let outcome = try Programs.run(
            Programs.path("photospool"), ["--socket", installation.socket, "import", "-n", other.path])
        #expect(outcome.status == 0)
        let size = try #require(try? FileManager.default.attributesOfItem(atPath: Samples.photo.path)[.size] as? Int)
        #expect(
            outcome.output.hasPrefix(
                "=  \(other.path)/a.JPG  \(size / 1024) KiB  duplicate of asset \(asset)\n+  \(other.path)/b.JPG  "))
        #expect(outcome.output.contains("-> 2026/2026-05-17/b.JPG\n"))
        #expect((outcome.output + outcome.errors).contains("1 shot would be imported, 1 duplicate, 0 refused."))
        installation.stop()
    }

    @Test(.timeLimit(.minutes(2)))
    func `says of a deleted photo that it is kept out, and of a late sidecar which asset it joins`() async throws {
        let (installation, _) = try install()
        try installation.place(Samples.photo, as: "IMG_0001.JPG")
        try installation.place(Samples.turned, as: "IMG_0002.JPG")
        try await installation.start()
        try await installation.wait(for: "the imports") { try installation.status().queue.imported == 2 }
        try await installation.waitUntilIdle()
        let assets = try installation.assets()
        let first = try #require(assets.first { $0.resources[0].path.hasSuffix("IMG_0001.JPG") }).id
        let second = try #require(assets.first { $0.resources[0].path.hasSuffix("IMG_0002.JPG") }).id
        _ = try installation.request(.delete, "/v1/assets/\(first)")
        installation.stop()
        try slowDown(installation)
        try installation.place(Samples.photo, as: "again/IMG_0001.JPG")
        try Data("<x:xmpmeta xmlns:x=\"adobe:ns:meta/\"/>".utf8).write(
            to: installation.drop.appending(path: "IMG_0002.xmp"))
        try age(installation.drop.appending(path: "again"))
        try age(installation.drop.appending(path: "IMG_0002.xmp"))
        try await installation.start()
        let body = try answer(
            installation, [installation.drop.path + "/again", installation.drop.path + "/IMG_0002.xmp"])
        #expect(body.groups.map(\.error?.code) == [nil, "E_TOMBSTONE"])
        #expect(body.groups.first?.joins == second)
        #expect(body.groups.first?.files.map(\.libraryPath) == ["2026/2026-05-17/IMG_0002.xmp"])
        installation.stop()
    }
}
