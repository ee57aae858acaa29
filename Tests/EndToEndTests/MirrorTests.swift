import ControlAPI
import Foundation
import HTTPClient
import TestSupport
import Testing

/// An installation whose library has a mirror, beside it.
struct Mirrored {
    let installation: Installation
    var mirror: URL { installation.folder.url.appending(path: "mirror") }

    /// - Parameter isThere: whether its folder is.
    init(dropKeys: String = "", isThere: Bool = true, isConfigured: Bool = true) throws {
        installation = try Installation(dropKeys: dropKeys)
        if isThere { try FileManager.default.createDirectory(at: mirror, withIntermediateDirectories: true) }
        if isConfigured { try configure("mirror = \"\(mirror.path)\"") }
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

@Suite("A mirror", .tags(.neverLost)) struct MirrorTests {
    @Test(.timeLimit(.minutes(2)))
    func `gets every original, byte for byte, with its time and mode, and the journal`() async throws {
        let scene = try Mirrored()
        let installation = scene.installation
        try scene.drop(1...4)
        try installation.place(Samples.heic, as: "live/IMG_0100.HEIC")
        try Data("<x:xmpmeta xmlns:x=\"adobe:ns:meta/\"></x:xmpmeta>".utf8).write(
            to: installation.drop.appending(path: "IMG_1.xmp"))
        try await installation.start()
        try await scene.waitUntilEven()
        try scene.expectSame(6)
        let status = try installation.status()
        #expect(status.state == "running")
        #expect(status.mirror?.path == scene.mirror.path)
        #expect((status.mirror?.freeBytes ?? 0) > 0)
        #expect(installation.logText.contains("An empty directory was made the mirror of the library."))
        // A late member comes by itself.
        try Samples.raw(at: "2026:05:17 09:04:31", number: 2).write(
            to: installation.drop.appending(path: "IMG_2.DNG"))
        try await installation.wait(for: "the raw") { try installation.status().queue.imported == 6 }
        try await scene.waitUntilEven()
        try scene.expectSame(7)
        #expect(installation.stop() == 0)
        // The journal as a whole, by cmp(1), once a run has ended in peace.
        #expect(try installation.runOnce() == 0)
        let journal = ".photospool/journal"
        for name in try FileManager.default.contentsOfDirectory(
            atPath: installation.library.appending(path: journal).path)
        {
            let pair = [installation.library, scene.mirror].map { $0.appending(path: "\(journal)/\(name)").path }
            #expect(try Programs.run("/usr/bin/env", ["cmp"] + pair).status == 0)
        }
    }

    @Test(.timeLimit(.minutes(3)), .tags(.saysWhatIsWrong), arguments: ["delete", "move"])
    func `that is away degrades, stops no import, holds sources, and catches up`(afterImport: String) async throws {
        let scene = try Mirrored(dropKeys: "after_import = \"\(afterImport)\"")
        let installation = scene.installation
        func sources() throws -> [String] {
            try installation.files(below: installation.drop).filter { !$0.hasPrefix(".") }
        }
        try scene.drop([1])
        try await installation.start()
        try await installation.wait(for: "the first source") { try sources().isEmpty }
        try scene.expectSame(1)

        let away = installation.folder.url.appending(path: "away")
        try scene.move(scene.mirror, to: away)
        try scene.drop(2...4)
        try await installation.wait(for: "the imports") { try installation.status().queue.imported == 4 }
        let reason = try await scene.waitForReason("E_LIBRARY_OFFLINE")
        try await installation.waitUntilIdle()
        #expect(reason.detail.contains(scene.mirror.path))
        let status = try installation.status()
        #expect(status.state == "degraded")
        #expect(status.mirror?.behind == 3)
        #expect(status.mirror?.freeBytes == nil)
        #expect(try await scene.waitForReason("E_LIBRARY_OFFLINE").detail.contains("3 files behind"))
        #expect(try installation.request(.get, "/readyz").status == 200)
        #expect(try sources() == ["IMG_2.JPG", "IMG_3.JPG", "IMG_4.JPG"])
        #expect(try installation.jobs().map(\.disposition.state).filter { $0 == "pending" }.count == 3)
        // A duplicate of something that is not there yet waits as well; one of something that is does not.
        try Samples.variant(2).write(to: installation.drop.appending(path: "TWO.JPG"))
        try Samples.variant(1).write(to: installation.drop.appending(path: "ONE.JPG"))
        try await installation.wait(for: "the duplicates") { try installation.status().queue.duplicate == 2 }
        try await installation.wait(for: "the duplicate's source") { try !sources().contains("ONE.JPG") }
        // Nor does a restart bring anything about.
        installation.stop()
        try await installation.start()
        _ = try await scene.waitForReason("E_LIBRARY_OFFLINE")
        try await installation.waitUntilIdle()
        #expect(try sources() == ["IMG_2.JPG", "IMG_3.JPG", "IMG_4.JPG", "TWO.JPG"])

        try scene.move(away, to: scene.mirror)
        try await installation.wait(for: "the sources") { try sources().isEmpty }
        try scene.expectSame(4)
        #expect(try installation.status().state == "running")
        #expect(try installation.status().mirror?.behind == 0)
        #expect(installation.stop() == 0)
    }

    @Test(.timeLimit(.minutes(2)), .tags(.saysWhatIsWrong))
    func `is not made of the bare mount point of a known one`() async throws {
        let scene = try Mirrored()
        let installation = scene.installation
        try scene.drop([1])
        try await installation.start()
        try await scene.waitUntilEven()
        let disk = installation.folder.url.appending(path: "disk")
        try scene.move(scene.mirror, to: disk)
        try FileManager.default.createDirectory(at: scene.mirror, withIntermediateDirectories: true)
        try scene.drop([2])
        try await installation.wait(for: "the import") { try installation.status().queue.imported == 2 }
        let reason = try await scene.waitForReason("E_MARKER")
        #expect(reason.recovery.contains("photospool init --mirror"))
        try await installation.waitUntilIdle()
        #expect(try scene.everything(below: scene.mirror) == [])
        installation.stop()
        try await installation.start()
        _ = try await scene.waitForReason("E_MARKER")
        #expect(try scene.everything(below: scene.mirror) == [])
        try FileManager.default.removeItem(at: scene.mirror)
        try scene.move(disk, to: scene.mirror)
        try await scene.waitUntilEven()
        try scene.expectSame(2)
        #expect(installation.stop() == 0)
    }

    @Test(.timeLimit(.minutes(2)), .tags(.saysWhatIsWrong))
    func `of another library is not written to`() async throws {
        let other = try Mirrored()
        #expect(try other.installation.runOnce() == 0)
        let scene = try Mirrored(isThere: false)
        try scene.move(other.mirror, to: scene.mirror)
        let before = try scene.everything(below: scene.mirror)
        try scene.drop([1])
        try await scene.installation.start()
        #expect(try await scene.waitForReason("E_MARKER").detail.contains("another library"))
        try await scene.installation.waitUntilIdle()
        #expect(try scene.everything(below: scene.mirror) == before)
        #expect(scene.installation.stop() == 0)
    }

    @Test(.timeLimit(.minutes(2)))
    func `that is configured later gets what the library holds already`() async throws {
        let scene = try Mirrored(isConfigured: false)
        let installation = scene.installation
        try scene.drop(1...8)
        try await installation.start()
        try await installation.waitUntilIdle()
        #expect(try installation.status().mirror == nil)
        try scene.configure("mirror = \"\(scene.mirror.path)\"")
        #expect(try installation.post("/v1/reload").status == 200)
        try await scene.waitUntilEven()
        try scene.expectSame(8)
        #expect(installation.stop() == 0)
    }

    @Test(.timeLimit(.minutes(2)), .tags(.neverOverwritten, .saysWhatIsWrong))
    func `keeps what has the name already, and counts it when it is the same`() async throws {
        let scene = try Mirrored()
        let installation = scene.installation
        #expect(try installation.runOnce() == 0)  // the marker
        let day = scene.mirror.appending(path: "2026/2026-05-17")
        try FileManager.default.createDirectory(at: day, withIntermediateDirectories: true)
        let foreign = Data(repeating: 7, count: try Samples.variant(1).count)
        try foreign.write(to: day.appending(path: "IMG_1.JPG"))
        try Samples.variant(2).write(to: day.appending(path: "IMG_2.JPG"))
        try Data("a file where a folder would be".utf8).write(to: day.appending(path: "x"))
        let inode = try FileManager.default.attributesOfItem(atPath: day.path + "/IMG_2.JPG")[.systemFileNumber] as? Int
        try scene.drop(1...3)
        try await installation.start()
        let reason = try await scene.waitForReason("E_CONFLICT")
        #expect(reason.detail.contains("2026/2026-05-17/IMG_1.JPG"))
        try await installation.waitUntilIdle()  // what waits for somebody keeps nothing from being idle
        #expect(try installation.status().mirror?.behind == 1)
        #expect(try Data(contentsOf: day.appending(path: "IMG_1.JPG")) == foreign)
        #expect(
            try FileManager.default.attributesOfItem(atPath: day.path + "/IMG_2.JPG")[.systemFileNumber] as? Int
                == inode)
        #expect(try Data(contentsOf: day.appending(path: "IMG_3.JPG")) == Samples.variant(3))
        try FileManager.default.removeItem(at: day.appending(path: "IMG_1.JPG"))
        try FileManager.default.removeItem(at: day.appending(path: "x"))
        _ = try installation.post("/v1/reload")
        try await scene.waitUntilEven()
        #expect(try Data(contentsOf: day.appending(path: "IMG_1.JPG")) == Samples.variant(1))
        #expect(try installation.status().reasons.isEmpty)
        #expect(installation.stop() == 0)
    }

    @Test(.timeLimit(.minutes(2)), .tags(.saysWhatIsWrong))
    func `does not get what is damaged in the library, whose source stays`() async throws {
        let scene = try Mirrored(dropKeys: "after_import = \"delete\"", isThere: false)
        let installation = scene.installation
        try scene.drop(1...3)
        try await installation.start()
        try await installation.wait(for: "the imports") { try installation.status().queue.imported == 3 }
        let original = installation.library.appending(path: "2026/2026-05-17/IMG_2.JPG")
        let handle = try FileHandle(forUpdating: original)
        try handle.seek(toOffset: 1000)
        let byte = try #require(try handle.read(upToCount: 1)?.first)
        try handle.seek(toOffset: 1000)
        try handle.write(contentsOf: Data([byte ^ 0x10]))
        try handle.close()
        try FileManager.default.createDirectory(at: scene.mirror, withIntermediateDirectories: true)
        #expect(try await scene.waitForReason("E_VERIFY_MISMATCH").detail.contains("IMG_2.JPG"))
        try await installation.wait(for: "the other sources") {
            try installation.files(below: installation.drop) == ["IMG_2.JPG"]
        }
        #expect(try scene.visible() == ["2026/2026-05-17/IMG_1.JPG", "2026/2026-05-17/IMG_3.JPG"])
        #expect(try scene.staged() == [])
        // Put back from its source, it goes on.
        try Samples.variant(2).write(to: original)
        _ = try installation.post("/v1/reload")
        try await scene.waitUntilEven()
        #expect(
            try Data(contentsOf: scene.mirror.appending(path: "2026/2026-05-17/IMG_2.JPG")) == Samples.variant(2))
        #expect(installation.stop() == 0)
    }

    @Test(.timeLimit(.minutes(10)), .tags(.stopsAnywhere, .neverPartial))
    func `is whole after a death at any change of it`() async throws {
        guard try Faults.arePossible(for: "killing the daemon while it mirrors") else { return }
        @Sendable func scene() throws -> Mirrored {
            let scene = try Mirrored(dropKeys: "after_import = \"delete\"")
            try scene.drop(1...3)
            return scene
        }
        let undisturbed = try scene()
        let trace = undisturbed.installation.folder.url.appending(path: "trace")
        #expect(
            try undisturbed.installation.runOnce(
                environment: Faults.environment(trace: trace, root: undisturbed.mirror)) == 0)
        let lines = try String(contentsOf: trace, encoding: .utf8).split(separator: "\n")
        let count = lines.count { $0.prefix { $0 != " " }.hasSuffix("!") }
        #expect(count > 30)
        let step = Faults.areExhaustive ? 1 : 5
        let points = Array(stride(from: Int.random(in: 1...step), through: count, by: step))
        try await onOwnThreads(points, width: 2) { point in
            let scene = try scene()
            let code = try scene.installation.runOnce(
                environment: Faults.environment(["change:KILL:\(point)@\(scene.mirror.path)"]))
            // How often it looks at the mirror is a matter of time, so a late point may lie behind the end.
            #expect(code == nil || (code == 0 && point > count / 2), "\(point)")
            // What it has lies there whole; what is not there has its source.
            for path in try scene.visible() {
                let name = URL(filePath: path).lastPathComponent
                let number = try #require(Int(name.dropFirst(4).dropLast(4)))
                #expect(try Data(contentsOf: scene.mirror.appending(path: path)) == Samples.variant(number))
            }
            let there = Set(try scene.visible().map { URL(filePath: $0).lastPathComponent })
            let sources = Set(
                try scene.installation.files(below: scene.installation.drop).map {
                    URL(filePath: $0).lastPathComponent
                })
            #expect(there.union(sources).isSuperset(of: ["IMG_1.JPG", "IMG_2.JPG", "IMG_3.JPG"]), "\(point)")
            #expect(try scene.installation.runOnce() == 0, "\(point)\n\(scene.installation.logText)")
            try scene.expectSame(3)
            #expect(try scene.installation.files(below: scene.installation.drop).isEmpty, "\(point)")
        }
    }

    /// Each of these is met once, with the second original.
    @Test(
        .timeLimit(.minutes(2)), .tags(.neverPartial),
        arguments: [
            "write:FLIP:2", "write:EIO:2", "write:SHORT:2", "sync:EIO:2", "close:EIO:1", "read:EIO:2", "rename:EIO:2",
            "open:EACCES:2",
        ])
    func `throws a copy away at any failure, and makes it anew`(fault: String) async throws {
        guard try Faults.arePossible(for: "failures of the mirror's disk") else { return }
        let scene = try Mirrored(dropKeys: "after_import = \"delete\"")
        let installation = scene.installation
        #expect(try installation.runOnce() == 0)  // the marker
        try scene.drop(1...4)
        let trace = installation.folder.url.appending(path: "trace")
        let staging = scene.mirror.appending(path: ".photospool/staging")
        // A rename is told by where it leads.
        let place = fault.hasPrefix("rename") ? scene.mirror.path + "/2026" : staging.path + "/original"
        try await installation.start(
            environment: Faults.environment(["\(fault)@\(place)"], trace: trace, root: staging))
        try await installation.wait(for: "the sources") { try installation.files(below: installation.drop).isEmpty }
        try scene.expectSame(4)
        try await scene.waitUntilEven()
        #expect(try installation.status().reasons.isEmpty)
        // A file for each original, and one more for the copy that was thrown away; a short write is no failure.
        let lines = try String(contentsOf: trace, encoding: .utf8).split(separator: "\n")
        let isFailure = fault != "write:SHORT:2"
        #expect(lines.count { $0.hasPrefix("open! ok ") && $0.hasSuffix("/original") } == (isFailure ? 5 : 4))
        #expect(installation.logText.contains("The mirror is written again.") == isFailure)
        #expect(installation.stop() == 0)
    }

    @Test(.timeLimit(.minutes(2)))
    func `that hangs holds up neither imports nor the end`() async throws {
        guard try Faults.arePossible(for: "a mirror that hangs") else { return }
        let scene = try Mirrored()
        let installation = scene.installation
        #expect(try installation.runOnce() == 0)  // the marker
        try await installation.start(
            environment: Faults.environment(["write:HANG:1@\(scene.mirror.path)/.photospool/staging"]))
        try scene.drop(1...4)
        try await installation.wait(for: "the imports") { try installation.status().queue.imported == 4 }
        #expect(try installation.status().mirror?.behind == 4)
        #expect(try scene.visible() == [])
        #expect(installation.stop() == 0)
        #expect(installation.logText.contains("The mirror does not answer"))
    }

    @Test(.timeLimit(.minutes(3)), .tags(.saysWhatIsWrong))
    func `that is full says so, stops no import, and goes on by itself; its disk can be unmounted when it is even`()
        async throws
    {
        guard try Mount.isPossible(for: "a full mirror") else { return }
        let scene = try Mirrored(dropKeys: "after_import = \"delete\"")
        let installation = scene.installation
        let disk = try Mount(at: scene.mirror, bytes: 8 << 20)
        try scene.drop([1])
        try await installation.start()
        try await scene.waitUntilEven()
        let ballast = scene.mirror.appending(path: "ballast")
        _ = FileManager.default.createFile(atPath: ballast.path, contents: nil)
        let handle = try FileHandle(forWritingTo: ballast)
        do { while true { try handle.write(contentsOf: Data(count: 64 << 10)) } } catch {}  // full now
        try handle.close()
        try scene.drop(2...4)
        try await installation.wait(for: "the imports") { try installation.status().queue.imported == 4 }
        #expect(try await scene.waitForReason("E_LIBRARY_FULL").detail.contains("mirror"))
        #expect(try installation.files(below: installation.drop).count == 3)
        #expect(try scene.visible() == ["2026/2026-05-17/IMG_1.JPG", "ballast"])
        try FileManager.default.removeItem(at: ballast)
        try await installation.wait(for: "the sources") {
            try installation.files(below: installation.drop).isEmpty
        }
        try scene.expectSame(4)
        try await scene.waitUntilEven()
        try await installation.wait(for: "the mirror to be let go") { (try? disk.end()) != nil }
        #expect(installation.stop() == 0)
    }

    @Test(.timeLimit(.minutes(2)))
    func `has a trash of its own for what is deleted or undone`() async throws {
        let scene = try Mirrored()
        let installation = scene.installation
        try scene.drop(1...3)
        try await installation.start()
        try await scene.waitUntilEven()
        let assets = try installation.assets()
        let gone = try #require(assets.first { $0.resources[0].path.hasSuffix("IMG_2.JPG") })
        #expect(try installation.request(.delete, "/v1/assets/\(gone.id)").status == 200)
        try await scene.waitUntilEven()
        try scene.expectSame(2)
        let trash = ".photospool/trash/\(gone.id)/originals/2026/2026-05-17/IMG_2.JPG"
        for place in [installation.library, scene.mirror] {
            #expect(try Data(contentsOf: place.appending(path: trash)) == Samples.variant(2))
        }
        // While the mirror is away it is owed.
        let away = installation.folder.url.appending(path: "away")
        try scene.move(scene.mirror, to: away)
        let batch = try #require(try installation.jobs().first).batchID
        try await installation.wait(for: "the end of the batch") {
            try installation.get("/v1/batches/\(batch)", as: BatchBody.self).closedAt != nil
        }
        let undone = try await scene.perform(#"{"kind": "undo", "arguments": {"batch": "\#(batch)"}}"#)
        #expect(undone.results["trashed"] == "2")
        #expect(try installation.status().mirror?.behind == 2)
        // Another photo gets a name that is still to leave the mirror.
        try Samples.variant(9).write(to: installation.drop.appending(path: "IMG_1.JPG"))
        try await installation.wait(for: "the new photo") { try installation.visibleFiles().count == 1 }
        try scene.move(away, to: scene.mirror)
        try await scene.waitUntilEven()
        try scene.expectSame(1)
        #expect(
            try Data(contentsOf: scene.mirror.appending(path: "2026/2026-05-17/IMG_1.JPG")) == Samples.variant(9))
        let kept = try installation.files(below: scene.mirror.appending(path: ".photospool/trash"))
        #expect(kept.map { URL(filePath: $0).lastPathComponent }.sorted() == ["IMG_1.JPG", "IMG_2.JPG", "IMG_3.JPG"])
        #expect(installation.stop() == 0)
    }

    @Test(.timeLimit(.minutes(3)), arguments: [true, false])
    func `makes a library when the library is lost, with a new state or the old one`(isNewState: Bool) async throws {
        let scene = try Mirrored(dropKeys: "after_import = \"delete\"")
        let installation = scene.installation
        try scene.drop(1...5)
        try installation.place(Samples.heic, as: "IMG_0100.HEIC")
        #expect(try installation.runOnce() == 0)
        try await installation.start()
        try await scene.waitUntilEven()
        let before = try installation.assets().sorted { $0.id < $1.id }
        #expect(before.count == 6)
        let account = try scene.account(of: installation.library)
        installation.stop()

        try FileManager.default.removeItem(at: installation.library)
        if isNewState {
            try FileManager.default.removeItem(at: installation.state)
            try FileManager.default.createDirectory(at: installation.state, withIntermediateDirectories: true)
        }
        // As docs/recovery.md says.
        try scene.move(
            scene.mirror.appending(path: ".photospool/mirror.json"),
            to: scene.mirror.appending(path: ".photospool/library.json"))
        let text = try String(contentsOf: installation.configuration, encoding: .utf8)
        try text.replacing("mirror = \"\(scene.mirror.path)\"\n", with: "")
            .replacing("path = \"\(installation.library.path)\"", with: "path = \"\(scene.mirror.path)\"")
            .write(to: installation.configuration, atomically: true, encoding: .utf8)
        try await installation.start()
        if isNewState {
            _ = try await scene.waitForReason("E_STATE_STALE")
            let rebuilt = try await scene.perform(#"{"kind": "rebuild"}"#)
            #expect(rebuilt.state == "done" && rebuilt.findingsCount == 0)
        }
        try await installation.wait(for: "peace") { try installation.status().reasons.isEmpty }
        let after = try installation.assets().sorted { $0.id < $1.id }
        #expect(after.map(\.id) == before.map(\.id))
        #expect(after.map { $0.resources.map(\.sha256) } == before.map { $0.resources.map(\.sha256) })
        #expect(after.map { $0.resources.map(\.path) } == before.map { $0.resources.map(\.path) })
        #expect(try scene.account(of: scene.mirror) == account)
        #expect(try await scene.perform(#"{"kind": "verify"}"#).findingsCount == 0)
        // It goes on as a library.
        try scene.drop([7])
        try await installation.wait(for: "the next photo") { try scene.visible().count == 7 }
        #expect(installation.stop() == 0)
    }

    @Test(.timeLimit(.minutes(2)), .tags(.neverOverwritten, .saysWhatIsWrong))
    func `keeps its copy of the journal where the library's is another`() throws {
        let scene = try Mirrored()
        let installation = scene.installation
        try scene.drop([1])
        #expect(try installation.runOnce() == 0)
        let folder = scene.mirror.appending(path: ".photospool/journal")
        let name = try #require(try FileManager.default.contentsOfDirectory(atPath: folder.path).first)
        let original = installation.library.appending(path: ".photospool/journal/\(name)")
        let good = try Data(contentsOf: original)
        #expect(try Data(contentsOf: folder.appending(path: name)) == good)
        // A bit of the library's goes; what is added to it since is well.
        let handle = try FileHandle(forUpdating: original)
        try handle.seek(toOffset: UInt64(good.count / 2))
        try handle.write(contentsOf: Data([good[good.count / 2] ^ 1]))
        try handle.close()
        try scene.drop([2])
        #expect(try installation.runOnce() == 0)
        try scene.expectSame(2)
        #expect(try Data(contentsOf: folder.appending(path: name)) == good)
        #expect(installation.logText.contains("holds other lines than the library's journal"))
    }

    @Test(.timeLimit(.minutes(2)), .tags(.saysWhatIsWrong))
    func `is refused where it and the library or a drop folder lie inside each other`() async throws {
        let scene = try Mirrored(isConfigured: false)
        let installation = scene.installation
        try scene.drop([1])
        try await installation.start()
        try await installation.waitUntilIdle()
        let link = installation.folder.url.appending(path: "link")
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: installation.drop)
        let text = try String(contentsOf: installation.configuration, encoding: .utf8)
        for path in [
            installation.library.path, installation.library.path + "/second", installation.drop.path + "/second",
            installation.folder.path, link.path,
        ] {
            try text.write(to: installation.configuration, atomically: true, encoding: .utf8)
            try scene.configure("mirror = \"\(path)\"")
            let check = try Programs.run(
                Programs.path("photospoold"),
                ["--config", installation.configuration.path, "--state-dir", installation.state.path, "--check-config"])
            #expect(check.status == 78, "\(path)")
            #expect(check.errors.contains("E_OVERLAP"), "\(path)")
            #expect(try installation.post("/v1/reload").status != 200)
            #expect(try installation.status().mirror == nil)
        }
        #expect(installation.stop() == 0)
        #expect(try installation.runOnce() == 78)
    }

    @Test(.timeLimit(.minutes(2)))
    func `is not looked into as a drop folder`() async throws {
        let scene = try Mirrored(dropKeys: "after_import = \"delete\"")
        let installation = scene.installation
        let copy = installation.drop.appending(path: "second")
        try FileManager.default.createDirectory(
            at: copy.appending(path: ".photospool"), withIntermediateDirectories: true)
        try Data("{}".utf8).write(to: copy.appending(path: ".photospool/mirror.json"))
        try Samples.variant(1).write(to: copy.appending(path: "IMG_1.JPG"))
        try scene.drop([2])
        try await installation.start()
        try await scene.waitUntilEven()
        #expect(try installation.visibleFiles() == ["2026/2026-05-17/IMG_2.JPG"])
        #expect(FileManager.default.fileExists(atPath: copy.path + "/IMG_1.JPG"))
        // Nor is the mirror itself, when the drop folder comes to lead there.
        try await installation.wait(for: "the source") {
            try installation.files(below: installation.drop).filter { !$0.contains("/") }.isEmpty
        }
        let aside = installation.folder.url.appending(path: "aside")
        try scene.move(installation.drop, to: aside)
        try FileManager.default.createSymbolicLink(
            at: installation.drop, withDestinationURL: scene.mirror.appending(path: "2026"))
        _ = try await scene.waitForReason("E_OVERLAP")
        #expect(try scene.visible() == ["2026/2026-05-17/IMG_2.JPG"])
        #expect(installation.stop() == 0)
    }

    @Test(.timeLimit(.minutes(2)))
    func `that is behind makes --once end with 75, and one that is even with 0`() async throws {
        let scene = try Mirrored(dropKeys: "after_import = \"delete\"", isThere: false)
        let installation = scene.installation
        #expect(try installation.runOnce() == 0)  // nothing is owed
        try scene.drop(1...3)
        #expect(try installation.runOnce() == 75)
        #expect(try installation.visibleFiles().count == 3)
        #expect(try installation.files(below: installation.drop).count == 3)
        try FileManager.default.createDirectory(at: scene.mirror, withIntermediateDirectories: true)
        #expect(try installation.runOnce() == 0)
        try scene.expectSame(3)
        #expect(try installation.files(below: installation.drop).isEmpty)
        // A job that failed comes first.
        try scene.move(scene.mirror, to: installation.folder.url.appending(path: "away"))
        try scene.drop([4])
        try Samples.damaged().write(to: installation.drop.appending(path: "IMG_5.JPG"))
        #expect(try installation.runOnce() == 1)
    }

    @Test(.timeLimit(.minutes(2)), .tags(.saysWhatIsWrong))
    func `is verified alike, and gets again what it lacks`() async throws {
        let scene = try Mirrored()
        let installation = scene.installation
        try scene.drop(1...5)
        try await installation.start()
        try await scene.waitUntilEven()
        let order = #"{"kind": "verify", "arguments": {"mirror": "1"}}"#
        let clean = try await scene.perform(order)
        #expect(clean.state == "done" && clean.done == 5 && clean.total == 5 && clean.findingsCount == 0)
        let day = scene.mirror.appending(path: "2026/2026-05-17")
        var flipped = try Data(contentsOf: day.appending(path: "IMG_1.JPG"))
        flipped[1000] ^= 1
        try flipped.write(to: day.appending(path: "IMG_1.JPG"))
        try Data(try Samples.variant(2).prefix(100)).write(to: day.appending(path: "IMG_2.JPG"))
        try FileManager.default.removeItem(at: day.appending(path: "IMG_3.JPG"))
        try Data("x".utf8).write(to: day.appending(path: "stranger.jpg"))
        let found = try await scene.perform(order)
        let findings = (found.findings ?? []).map { "\($0.kind) \(($0.path ?? "").split(separator: "/").last ?? "")" }
        #expect(
            findings.sorted() == [
                "changed IMG_1.JPG", "foreign stranger.jpg", "missing IMG_3.JPG", "truncated IMG_2.JPG",
            ])
        // The library has nothing of it.
        #expect(try await scene.perform(#"{"kind": "verify"}"#).findingsCount == 0)
        try await installation.wait(for: "what was missing") {
            FileManager.default.fileExists(atPath: day.path + "/IMG_3.JPG")
        }
        _ = try await scene.waitForReason("E_CONFLICT")
        #expect(try Data(contentsOf: day.appending(path: "IMG_1.JPG")) == flipped)
        for name in ["IMG_1.JPG", "IMG_2.JPG", "stranger.jpg"] {
            try FileManager.default.removeItem(at: day.appending(path: name))
        }
        _ = try installation.post("/v1/reload")
        try await scene.waitUntilEven()
        try scene.expectSame(5)
        #expect(try await scene.perform(order).findingsCount == 0)
        #expect(installation.stop() == 0)
    }

    @Test(.timeLimit(.minutes(2)))
    func `may be another disk of the same library, which is brought up to date`() async throws {
        let scene = try Mirrored(dropKeys: "after_import = \"delete\"")
        let installation = scene.installation
        try scene.drop(1...3)
        try await installation.start()
        try await scene.waitUntilEven()
        let first = installation.folder.url.appending(path: "first")
        try scene.move(scene.mirror, to: first)
        let made = try Programs.run(
            Programs.path("photospool"), ["init", "--mirror", "--config", installation.configuration.path])
        #expect(made.status == 0, "\(made.errors)")
        try scene.drop([4])
        try await installation.wait(for: "the second disk") { try scene.visible().count == 4 }
        try await scene.waitUntilEven()
        try scene.expectSame(4)
        let second = installation.folder.url.appending(path: "second")
        try scene.move(scene.mirror, to: second)
        try scene.move(first, to: scene.mirror)
        try await installation.wait(for: "the first disk again") { try scene.visible().count == 4 }
        try await scene.waitUntilEven()
        try scene.expectSame(4)
        try await installation.wait(for: "the sources") {
            try installation.files(below: installation.drop).isEmpty
        }
        #expect(installation.stop() == 0)
    }
}
