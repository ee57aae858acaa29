import ControlAPI
import Foundation
import TestSupport
import Testing

@Suite("Names in the library, end to end", .tags(.neverOverwritten)) struct NamesTests {
    private func exiftool(_ words: [String]) throws {
        let outcome = try Programs.run("/usr/bin/env", ["exiftool", "-q", "-overwrite_original", "-P"] + words)
        #expect(outcome.status == 0, "\(outcome.errors)")
    }

    /// The library's originals by path, and each has its source's bytes.
    private func stored(_ installation: Installation) throws -> [String: Data] {
        var found: [String: Data] = [:]
        for path in try installation.visibleFiles() {
            found[path] = try Data(contentsOf: installation.library.appending(path: path))
        }
        return found
    }

    @Test(.timeLimit(.minutes(2)))
    func `are those of the drop's template where it has one, and no photo leads out of the library by what it says`()
        async throws
    {
        let installation = try Installation(
            dropKeys: "template = \"{drop}/{model}/{lens}/{stem}{ext}\"",
            libraryKeys: "template = \"{year}/{stem}{ext}\"")
        let stage = installation.folder.url.appending(path: "IMG_0001.JPG")
        try FileManager.default.copyItem(at: Samples.photo, to: stage)
        try exiftool(["-Model=../../../../etc", "-LensModel=.photospool", stage.path])
        try FileManager.default.moveItem(at: stage, to: installation.drop.appending(path: "IMG_0001.JPG"))
        try await installation.start()
        try await installation.wait(for: "the import") { try installation.status().queue.imported == 1 }
        #expect(try installation.visibleFiles() == ["test/_._.._.._.._etc/_photospool/IMG_0001.JPG"])
        installation.stop()
    }

    @Test(.timeLimit(.minutes(2)))
    func `G03 keeps all ten frames of one second, whose camera tells no fractions`() async throws {
        let installation = try Installation(
            libraryKeys: "template = \"{year}{month}{day}-{hour}{minute}{second}{ext}\"", more: "[import]\nworkers = 4")
        let stage = installation.folder.url.appending(path: "burst")
        try FileManager.default.createDirectory(at: stage, withIntermediateDirectories: true)
        for number in 1...10 {
            try Samples.variant(number).write(to: stage.appending(path: "DSC_000\(number).JPG"))
        }
        try exiftool(["-SubSecTimeOriginal=", "-SubSecTime=", "-SubSecTimeDigitized=", stage.path])
        let frames = try (1...10).map { try Data(contentsOf: stage.appending(path: "DSC_000\($0).JPG")) }
        try #require(Set(frames).count == 10)
        for (number, frame) in frames.enumerated() {
            try frame.write(to: installation.drop.appending(path: "DSC_000\(number + 1).JPG"))
        }
        try await installation.start()
        try await installation.wait(for: "the burst") { try installation.status().queue.imported == 10 }
        try await installation.waitUntilIdle()
        let stored = try stored(installation)
        #expect(
            Set(stored.keys)
                == Set(["20260517-090431.JPG"] + (1...9).map { "20260517-090431_\($0).JPG" }))
        #expect(Set(stored.values) == Set(frames))
        #expect(try installation.status().queue.failed == 0)
        installation.stop()
    }

    @Test(.timeLimit(.minutes(2)))
    func `G02 keeps what a counter counts that starts over on the same day, in one folder, and on the next card`()
        async throws
    {
        let installation = try Installation(libraryKeys: "template = \"{stem}{ext}\"")
        try await installation.start()
        var all: [Data] = []
        // 9998, 9999, 0001, 0002, then the card is emptied and the camera writes the same names.
        for round in 0..<2 {
            for (place, number) in ["9998", "9999", "0001", "0002"].enumerated() {
                let data = try Samples.variant(round * 10 + place)
                all.append(data)
                try data.write(to: installation.drop.appending(path: "DSC_\(number).JPG"))
            }
            try await installation.wait(for: "round \(round)") {
                try installation.status().queue.imported == 4 * (round + 1)
            }
            try await installation.waitUntilIdle()
            for name in try installation.files(below: installation.drop) {
                try FileManager.default.removeItem(at: installation.drop.appending(path: name))
            }
        }
        let stored = try stored(installation)
        #expect(
            Set(stored.keys)
                == Set(["9998", "9999", "0001", "0002"].flatMap { ["DSC_\($0).JPG", "DSC_\($0)_1.JPG"] }))
        #expect(Set(stored.values) == Set(all))
        installation.stop()
    }

    @Test(.timeLimit(.minutes(2)))
    func `G01 keeps both photos of two cards whose template gives one name, each with its sidecar`() async throws {
        let installation = try Installation(libraryKeys: "template = \"{year}/{model}{ext}\"")
        for card in 1...2 {
            let folder = installation.drop.appending(path: "card\(card)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            try Samples.variant(card).write(to: folder.appending(path: "DSC_000\(card).JPG"))
            try Data("<x:xmpmeta xmlns:x=\"adobe:ns:meta/\"/><!-- \(card) -->".utf8).write(
                to: folder.appending(path: "DSC_000\(card).xmp"))
        }
        try await installation.start()
        try await installation.wait(for: "both") { try installation.status().queue.imported == 2 }
        try await installation.waitUntilIdle()
        let stored = try stored(installation)
        #expect(
            Set(stored.keys)
                == ["2026/Sample 1.JPG", "2026/Sample 1.xmp", "2026/Sample 1_1.JPG", "2026/Sample 1_1.xmp"])
        for asset in try installation.assets() {
            let sources = Set(asset.resources.map { $0.sourcePath.split(separator: "/").dropLast().last })
            #expect(sources.count == 1, "the photo of one card with the sidecar of the other")
            for resource in asset.resources {
                #expect(try stored[resource.path] == Data(contentsOf: URL(filePath: resource.sourcePath)))
            }
        }
        installation.stop()
    }

    @Test(.timeLimit(.minutes(2)), .tags(.neverPartial))
    func `G07 shortens a name of 255 bytes that a template makes longer, and leaves nothing empty behind`()
        async throws
    {
        let installation = try Installation(libraryKeys: "template = \"{year}-{month}-{day}_{stem}{ext}\"")
        // 255 bytes each; the second of characters of three bytes; the third differs from the first behind the cut only.
        let names = [
            String(repeating: "n", count: 251) + ".JPG", "ab" + String(repeating: "漢", count: 83) + ".JPG",
            String(repeating: "n", count: 250) + "x.JPG",
        ]
        #expect(names.map(\.utf8.count) == [255, 255, 255])
        for (number, name) in names.enumerated() {
            try Samples.variant(number).write(to: installation.drop.appending(path: name))
        }
        try await installation.start()
        try await installation.wait(for: "all three") { try installation.status().queue.imported == 3 }
        try await installation.waitUntilIdle()
        let stored = try stored(installation)
        #expect(stored.count == 3)
        #expect(Set(stored.values) == Set(try (0..<3).map { try Samples.variant($0) }))
        for path in stored.keys {
            #expect((252...255).contains(path.utf8.count), "\(path.utf8.count)")
            #expect(path.hasPrefix("2026-05-17_") && path.wholeMatch(of: /.+~[0-9a-f]{8}\.JPG/) != nil, "\(path)")
            #expect(!path.contains("\u{FFFD}"))
        }
        // No file without bytes anywhere, staging included.
        let empty = try Programs.run(
            "/usr/bin/find", [installation.library.path, "-type", "f", "-empty", "-not", "-name", "lock"])
        #expect(empty.output.isEmpty, "\(empty.output)")
        installation.stop()
    }

    /// eCryptfs, and so the encrypted shares of many a NAS, takes 143 bytes and no more.
    @Test(.timeLimit(.minutes(2)), .tags(.neverLost))
    func `G07 shortens a name to what the library's disk takes, and says so in a dry run`() async throws {
        guard try Eventless.isPossible(for: "a library of short names") else { return }
        let installation = try Installation()
        let disk = try await Eventless(
            installation.folder.url.appending(path: "back"), at: installation.library, hasShortNames: true)
        defer { disk.end() }
        let refused = try Programs.run(
            "/usr/bin/touch", [installation.library.path + "/" + String(repeating: "x", count: 144)])
        try #require(refused.status != 0)
        for (number, name) in [
            String(repeating: "n", count: 251) + ".JPG", "ab" + String(repeating: "漢", count: 83) + ".JPG",
            String(repeating: "n", count: 139) + ".JPG",
        ].enumerated() {
            let url = installation.drop.appending(path: name)
            try Samples.variant(number).write(to: url)
            _ = try Programs.run("/usr/bin/touch", ["-d", "2026-05-01", url.path])
        }
        let configuration = try String(contentsOf: installation.configuration, encoding: .utf8)
        try configuration.replacing("settle = \"100ms\"", with: "settle = \"1h\"").write(
            to: installation.configuration, atomically: true, encoding: .utf8)
        try await installation.start()
        let asked = try Programs.run(
            Programs.path("photospool"),
            ["--socket", installation.socket, "--json", "import", "-n", installation.drop.path])
        let foretold = try JSON.decode(ImportBody.self, from: Array(asked.output.utf8)).groups.flatMap(\.files)
        _ = try Programs.run(
            Programs.path("photospool"), ["--socket", installation.socket, "import", installation.drop.path])
        try await installation.wait(for: "all three") { try installation.status().queue.imported == 3 }
        let stored = try stored(installation)
        #expect(Set(stored.values) == Set(try (0..<3).map { try Samples.variant($0) }))
        #expect(Set(stored.keys) == Set(foretold.compactMap(\.libraryPath)))
        let sizes = stored.keys.map { ($0.split(separator: "/").last ?? "").utf8.count }.sorted()
        #expect(sizes.last == 143 && (sizes.first ?? 0) >= 140, "\(sizes)")
        installation.stop()
    }

    /// FAT, exFAT and what else knows Windows' names only: by a stand-in, and by vfat where the kernel has it.
    @Test(.timeLimit(.minutes(2)), .tags(.neverLost, .neverOverwritten), arguments: ["stand-in", "vfat"])
    func `finds a name for what the library's disk forbids, and says so in a dry run`(disk: String) async throws {
        let installation = try Installation(libraryKeys: "template = \"{hour}:{minute}/{stem}{ext}\"")
        var (share, mount): (Eventless?, Mount?)
        if disk == "vfat" {
            mount = try Mount.foldingDisk("vfat", at: installation.library, for: "a library of Windows' names")
            if mount == nil { return }
        } else {
            guard try Eventless.isPossible(for: "a library of Windows' names") else { return }
            share = try await Eventless(
                installation.folder.url.appending(path: "back"), at: installation.library, hasNamesOfWindows: true)
        }
        defer {
            share?.end()
            withExtendedLifetime(mount) {}
        }
        let refused = try Programs.run("/usr/bin/touch", [installation.library.path + "/a:b"])
        try #require(refused.status != 0)
        let names: [[UInt8]] =
            ["a:b.JPG", "a?b.JPG", "a\"*<>|\\b.JPG", "end. .JPG", "plain.JPG"].map { Array($0.utf8) }
            + [[0x62, 0xF1] + Array(".JPG".utf8)]
        for (number, name) in names.enumerated() {
            let target = Array((installation.drop.path + "/").utf8) + name
            let made = try Programs.run(
                "/usr/bin/python3",
                [
                    "-c",
                    "import os, sys; target = bytes.fromhex(sys.argv[1]); open(target, 'wb').write("
                        + "open(sys.argv[2], 'rb').read() + sys.argv[3].encode()); os.utime(target, (1777600000, 1777600000))",
                    target.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined(), Samples.photo.path,
                    "variant \(number)",
                ])
            try #require(made.status == 0, "\(made.errors)")
        }
        let text = try String(contentsOf: installation.configuration, encoding: .utf8)
        try text.replacing("settle = \"100ms\"", with: "settle = \"1h\"").write(
            to: installation.configuration, atomically: true, encoding: .utf8)
        try await installation.start()
        let asked = try Programs.run(
            Programs.path("photospool"),
            ["--socket", installation.socket, "--json", "import", "-n", installation.drop.path])
        let foretold = try JSON.decode(ImportBody.self, from: Array(asked.output.utf8)).groups.flatMap(\.files)
        _ = try Programs.run(
            Programs.path("photospool"), ["--socket", installation.socket, "import", installation.drop.path])
        try await installation.wait(for: "all of them") { try installation.status().queue.imported == names.count }
        let stored = try stored(installation)
        #expect(Set(stored.values) == Set(try names.indices.map { try Samples.variant($0) }))
        #expect(Set(stored.keys) == Set(foretold.compactMap(\.libraryPath)))
        #expect(
            stored.keys.sorted()
                == ["a______b", "a_b", "a_b_1", "b_", "end. ", "plain"].map { "09_04/\($0).JPG" })
        #expect(try installation.stagedEntries().isEmpty)
        // Nothing is left of the trial, and the catalog knows each by a path that leads to it.
        #expect(try installation.files(below: installation.library).allSatisfy { !$0.contains("names \"") })
        for resource in try installation.assets().flatMap(\.resources) {
            #expect(FileManager.default.fileExists(atPath: installation.library.path + "/" + resource.path))
        }
        installation.stop()
    }

    /// 40 names that are bytes and nothing else: not UTF-8, newlines, escapes, a dash in front, dots and spaces behind, of
    /// 255 bytes, composed and decomposed, that Windows reserves. The corpus makes them.
    @Test(.timeLimit(.minutes(3)), .tags(.harmsNobody))
    func `G09 imports every awkward name there is, with its bytes or with what stands for them`() async throws {
        guard let corpus = try Corpus.find(for: "awkward names") else { return }
        let installation = try Installation(libraryKeys: "template = \"{stem}{ext}\"")
        let made = try Programs.run(
            "/bin/sh", [corpus.appending(path: "make-names.sh").path, installation.drop.path])
        try #require(made.status == 0, "\(made.errors)")
        // By find and sort, as bytes: what is not hidden, not a partial transfer and no system's own.
        let listed = try Programs.run(
            "/bin/sh",
            [
                "-c",
                """
                cd "$0" && LC_ALL=C find . -name '.?*' -not -name . -prune -o -type f -not -name '*.partial' \
                    -not -name '*.tmp' -not -name 'Thumbs.db' -print0 | sort -z | xargs -0 sha256sum -z | cut -z -c1-64 \
                    | tr '\\0' '\\n' | sort -u
                """, installation.drop.path,
            ])
        let sums = listed.output.split(separator: "\n")
        try #require(sums.count > 35)
        try await installation.start()
        try await installation.wait(for: "all of them") {
            let queue = try installation.status().queue
            return queue.imported + queue.failed == sums.count
        }
        try await installation.waitUntilIdle()
        #expect(try installation.jobs("&state=failed").map(\.files.first?.path) == [])
        let stored = try Programs.run(
            "/bin/sh",
            [
                "-c",
                """
                cd "$0" && find . -path ./.photospool -prune -o -type f -print0 | xargs -0 sha256sum -z | cut -z -c1-64 \
                    | tr '\\0' '\\n' | sort
                """, installation.library.path,
            ])
        #expect(stored.output.split(separator: "\n") == sums)
        // What may stand in a name stands in it; control bytes do not.
        let python = """
            import os, stat, sys
            names = lambda root: {n for f, _, ns in os.walk(root.encode()) if b'/.' not in f for n in ns
                               if stat.S_ISREG(os.lstat(f + b'/' + n).st_mode)}
            have = names(sys.argv[2])
            for name in names(sys.argv[1]):
                if name in (b'UPPER.JPEG', b'hardlink.jpg'): continue  # one file of two names
                if name.startswith(b'.') or name.endswith((b'.partial', b'.tmp')) or name == b'Thumbs.db': continue
                name = bytes(95 if b < 32 or b == 127 else b for b in name)
                if name not in have: print('missing', name)
            """
        let compared = try Programs.run(
            "/usr/bin/python3", ["-c", python, installation.drop.path, installation.library.path])
        #expect(compared.output.isEmpty && compared.status == 0, "\(compared)")
        installation.stop()
    }
}
