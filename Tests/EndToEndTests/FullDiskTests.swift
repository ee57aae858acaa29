import ControlAPI
import Foundation
import TestSupport
import Testing

/// Small filesystems of their own, which take root to mount.
@Suite("A disk that is full, read-only or gone", .tags(.neverLost, .neverPartial, .saysWhatIsWrong), .serialized)
struct FullDiskTests {
    /// A photo of `bytes` bytes: the picture, and random bytes behind its end.
    private func photo(_ number: Int, bytes: Int) throws -> Data {
        var data = try Samples.variant(number)
        var generator = SystemRandomNumberGenerator()
        let rest = (0..<max(0, bytes - data.count) / 8).map { _ in UInt64.random(in: 0 ... .max, using: &generator) }
        unsafe rest.withUnsafeBytes { unsafe data.append(contentsOf: $0) }
        return data
    }

    /// To the last byte.
    ///
    /// - Returns: what to remove to have room again.
    private func fill(_ folder: URL) throws -> URL {
        let ballast = folder.appending(path: "ballast")
        _ = FileManager.default.createFile(atPath: ballast.path, contents: nil)
        let handle = try FileHandle(forWritingTo: ballast)
        do {
            while true { try handle.write(contentsOf: Data(count: 4096)) }
        } catch {}  // full now
        try handle.close()
        return ballast
    }

    private func checkWhole(_ installation: Installation, among photos: [String: Data]) throws {
        for path in try installation.visibleFiles() {
            let name = URL(filePath: path).lastPathComponent
            #expect(try Data(contentsOf: installation.library.appending(path: path)) == photos[name])
        }
    }

    @Test(.timeLimit(.minutes(5)))
    func `H01 keeps what does not fit into the library, says so, and goes on by itself when there is room`()
        async throws
    {
        guard try Mount.isPossible(for: "a full library") else { return }
        let installation = try Installation(dropKeys: "after_import = \"delete\"")
        let disk = try Mount(at: installation.library, bytes: 20 << 20)
        var photos: [String: Data] = [:]
        for number in 1...8 { photos["IMG_\(number).JPG"] = try photo(number, bytes: 5 << 20) }
        for (name, data) in photos { try data.write(to: installation.drop.appending(path: name)) }
        try await installation.start()
        var rounds = 0
        while true {
            var isFull = false
            try await installation.wait(for: "the library to be full, or all to be imported") {
                try checkWhole(installation, among: photos)
                let status = try installation.status()
                // The disk can be promised away while the first photos are still on their way to it.
                isFull = status.queue.importing == 0 && status.reasons.contains { $0.code == "E_LIBRARY_FULL" }
                return isFull || status.queue.imported == 8
            }
            guard isFull else { break }
            rounds += 1
            #expect(try installation.status().queue.failed == 0)
            let stored = try installation.visibleFiles()
            #expect((1...3).contains(stored.count))
            try await installation.wait(for: "what is owed to the sources") {
                let left = try installation.files(below: installation.drop).count
                return try left == 8 - installation.status().queue.imported
            }
            // A person makes room, who has copies elsewhere.
            for path in stored {
                try FileManager.default.removeItem(at: installation.library.appending(path: path))
            }
            try await installation.wait(for: "work to go on") { try !installation.visibleFiles().isEmpty }
        }
        #expect(rounds >= 2)
        try await installation.wait(for: "the last source") {
            try installation.files(below: installation.drop).isEmpty
        }
        #expect(try installation.status().reasons.isEmpty)
        #expect(try installation.jobs().allSatisfy { $0.attempts == 1 })
        #expect(installation.stop() == 0)
        try disk.end()
    }

    @Test(.timeLimit(.minutes(5)))
    func `T8 keeps its word when the disk of the state is full, and goes on when there is room`() async throws {
        guard try Mount.isPossible(for: "a full state directory") else { return }
        let installation = try Installation(dropKeys: "after_import = \"delete\"")
        let disk = try Mount(at: installation.state, bytes: 16 << 20)
        try await installation.start()
        try installation.place(Samples.photo, as: "IMG_0001.JPG")
        try await installation.wait(for: "the first photo") { try installation.status().queue.imported == 1 }

        let ballast = try fill(installation.state)
        var photos: [String: Data] = [:]
        for number in 2...40 {
            photos["IMG_\(number).JPG"] = try Samples.variant(number)
            try photos["IMG_\(number).JPG"]?.write(to: installation.drop.appending(path: "IMG_\(number).JPG"))
        }
        photos["IMG_0001.JPG"] = try Data(contentsOf: Samples.photo)
        try await installation.wait(for: "the state to be full") {
            try installation.status().reasons.contains { $0.code == "E_STATE_IO" }
        }
        try checkWhole(installation, among: photos)
        #expect(try installation.status().state == "degraded")

        try FileManager.default.removeItem(at: ballast)
        try await installation.wait(for: "work to go on") { try installation.status().queue.imported == 40 }
        try await installation.wait(for: "the last source") {
            try installation.files(below: installation.drop).isEmpty
        }
        #expect(try installation.visibleFiles().count == 40)
        #expect(try installation.status().reasons.isEmpty)
        #expect(try installation.stagedEntries().isEmpty)
        try checkWhole(installation, among: photos)
        #expect(installation.stop() == 0)
        try disk.end()
    }

    @Test(.timeLimit(.minutes(5)))
    func `T8 starts on a state and a library that are both full, says so, and goes on as each gets room`() async throws
    {
        guard try Mount.isPossible(for: "a state and a library that are full") else { return }
        let installation = try Installation(dropKeys: "after_import = \"delete\"")
        let disks = try [installation.state, installation.library].map { try Mount(at: $0, bytes: 16 << 20) }
        try installation.place(Samples.photo, as: "IMG_0001.JPG")
        #expect(try installation.runOnce() == 0)
        var photos = ["IMG_0001.JPG": try Data(contentsOf: Samples.photo)]
        for number in 2...6 {
            photos["IMG_\(number).JPG"] = try Samples.variant(number)
            try photos["IMG_\(number).JPG"]?.write(to: installation.drop.appending(path: "IMG_\(number).JPG"))
        }
        let ballast = try [installation.state, installation.library.appending(path: ".photospool")].map(fill)
        func codes() throws -> [String] { try installation.status().reasons.map(\.code) }
        func sources() throws -> Int { try installation.files(below: installation.drop).count }

        try await installation.start()
        try await installation.wait(for: "both to be said") {
            try codes().contains("E_STATE_IO") || codes().contains("E_LIBRARY_FULL")
        }
        #expect(try installation.status().state == "degraded")
        #expect(try sources() == 5)
        try checkWhole(installation, among: photos)
        // The state has room, the library has none: photos are queued now, and wait.
        try FileManager.default.removeItem(at: ballast[0])
        try await installation.wait(for: "the queue") { try installation.status().queue.queued == 5 }
        try await installation.wait(for: "the library to be said full") { try codes() == ["E_LIBRARY_FULL"] }
        #expect(try sources() == 5)
        #expect(try installation.visibleFiles().count == 1)
        try FileManager.default.removeItem(at: ballast[1])
        try await installation.wait(for: "work to go on") { try installation.status().queue.imported == 6 }
        try await installation.wait(for: "the last source") { try sources() == 0 }
        #expect(try codes().isEmpty)
        #expect(try installation.jobs().allSatisfy { $0.attempts == 1 })
        #expect(try installation.stagedEntries().isEmpty)
        #expect(try installation.visibleFiles().count == 6)
        try checkWhole(installation, among: photos)
        #expect(installation.stop() == 0)
        for disk in disks { try disk.end() }
    }

    @Test(.timeLimit(.minutes(3)))
    func `P10 that is read-only is said, costs no attempt, and is written again when it can be`() async throws {
        guard try Mount.isPossible(for: "P10 a library that turns read-only") else { return }
        let installation = try Installation(dropKeys: "after_import = \"delete\"")
        let disk = try Mount(at: installation.library, bytes: 16 << 20)
        try Samples.variant(1).write(to: installation.drop.appending(path: "IMG_1.JPG"))
        #expect(try installation.runOnce() == 0)
        try disk.remount(readOnly: true)
        try await installation.start()
        for number in 2...4 {
            try Samples.variant(number).write(to: installation.drop.appending(path: "IMG_\(number).JPG"))
        }
        try await installation.wait(for: "it to be said") {
            try installation.status().reasons.contains { $0.code == "E_LIBRARY_OFFLINE" }
        }
        try await installation.wait(for: "the queue") { try installation.status().queue.queued == 3 }
        #expect(try installation.status().state == "degraded")
        #expect(try installation.status().reasons.first?.recovery.contains("mount it writable") == true)
        #expect(try installation.files(below: installation.drop).count == 3)
        // Several probes later it is still said, once in the log.
        let start = try installation.status().uptime
        try await installation.wait(for: "more probes") { try installation.status().uptime >= start + 7 }
        #expect(try installation.status().reasons.map(\.code) == ["E_LIBRARY_OFFLINE"])
        #expect(!installation.logText.contains("Work goes on"))
        try disk.remount(readOnly: false)
        try await installation.wait(for: "work to go on") { try installation.status().queue.imported == 4 }
        try await installation.wait(for: "the sources") { try installation.files(below: installation.drop).isEmpty }
        #expect(try installation.jobs().allSatisfy { $0.attempts == 1 })
        #expect(try installation.visibleFiles().count == 4)
        #expect(installation.stop() == 0)
        try disk.end()
    }

    @Test(.timeLimit(.minutes(3)))
    func `H30 makes its staging folder again when somebody removes it under the running daemon`() async throws {
        let installation = try Installation()
        try await installation.start()
        var expected = 0
        for round in 1...5 {
            for number in 1...4 {
                expected += 1
                try Samples.variant(expected).write(
                    to: installation.drop.appending(path: "IMG_\(round)_\(number).JPG"))
            }
            // Between two imports, or in the middle of one.
            try await Task.sleep(for: .milliseconds(100 * round))
            try? FileManager.default.removeItem(at: installation.library.appending(path: ".photospool/staging"))
            let count = expected
            try await installation.wait(for: "\(count) photos") { try installation.status().queue.imported == count }
        }
        #expect(try installation.status().queue.failed == 0)
        #expect(try installation.visibleFiles().count == expected)
        #expect(try installation.jobs().allSatisfy { $0.attempts <= 2 })
        #expect(installation.stop() == 0)
    }

    @Test(.timeLimit(.minutes(2)))
    func `H23 imports from a read-only card once, and says that its sources were kept`() async throws {
        guard try Mount.isPossible(for: "a read-only card") else { return }
        let installation = try Installation(dropKeys: "after_import = \"move\"")
        let card = installation.folder.url.appending(path: "card")
        try FileManager.default.createDirectory(at: card, withIntermediateDirectories: true)
        try FileManager.default.copyItem(at: Samples.photo, to: card.appending(path: "IMG_0001.JPG"))
        let mount = try Mount(readOnly: card, at: installation.drop)
        try await installation.start()
        try await expectKept(installation, reason: "EROFS")
        installation.stop()
        try mount.end()
    }

    /// Imported, kept, said why, and not tried again by a rescan or the next start.
    private func expectKept(_ installation: Installation, reason: String) async throws {
        try await installation.wait(for: "the decision") {
            try installation.jobs().first?.disposition.state == "kept"
        }
        let job = try #require(try installation.jobs().first)
        #expect(job.state == "imported")
        #expect(job.error == nil)
        #expect(job.disposition.code == "E_DISPOSITION")
        #expect(job.disposition.detail?.contains(reason) == true)
        #expect(try installation.visibleFiles() == ["2026/2026-05-17/IMG_0001.JPG"])
        _ = try installation.post("/v1/rescan")
        try await installation.waitUntilIdle()
        installation.stop()
        try await installation.start()
        try await installation.waitUntilIdle()
        #expect(try installation.jobs().count == 1)
        #expect(try installation.visibleFiles().count == 1)
        #expect(try installation.files(below: installation.drop).contains("IMG_0001.JPG"))
        #expect(try installation.jobs().first?.disposition.state == "kept")
    }

    @Test(.timeLimit(.minutes(2)), arguments: ["delete", "move"])
    func `H25 keeps a source in a folder it may not write to, and the import stands`(afterImport: String) async throws {
        let installation = try Installation(dropKeys: "after_import = \"\(afterImport)\"")
        try installation.place(Samples.photo, as: "IMG_0001.JPG")
        guard let locked = LockedFolder(installation.drop) else {
            print("skipped: a folder that may not be written to (root without chattr)")
            return
        }
        try await installation.start()
        try await expectKept(installation, reason: "(E")
        installation.stop()
        locked.unlock()
    }

    @Test(.timeLimit(.minutes(2)))
    func `E_LIBRARY_PERMISSION is tried again and works once it may`() async throws {
        let installation = try Installation()
        try await installation.start()
        let year = installation.library.appending(path: "2026")
        try FileManager.default.createDirectory(at: year, withIntermediateDirectories: true)
        guard let locked = LockedFolder(year) else {
            print("skipped: a library that may not be written to (root without chattr)")
            return
        }
        try installation.place(Samples.photo, as: "IMG_0001.JPG")
        try await installation.wait(for: "the refusal") {
            try installation.jobs().first?.error?.code == "E_LIBRARY_PERMISSION"
        }
        #expect(try installation.visibleFiles().isEmpty)
        #expect(try installation.stagedEntries().isEmpty)
        locked.unlock()
        try await installation.wait(for: "the retry") { try installation.status().queue.imported == 1 }
        #expect(installation.stop() == 0)
    }
}

/// A folder nobody can write to, root included, where the filesystem knows immutable ones.
final class LockedFolder: Sendable {
    private let path: String

    init?(_ folder: URL) {
        path = folder.path
        if geteuid() == 0 {
            guard (try? Programs.run("/usr/bin/env", ["chattr", "+i", path]).status) == 0 else { return nil }
        } else {
            unsafe chmod(path, 0o555)
        }
    }

    deinit { unlock() }

    func unlock() {
        if geteuid() == 0 {
            // Where it fails the folder was never locked.
            _ = try? Programs.run("/usr/bin/env", ["chattr", "-i", path])
        } else {
            unsafe chmod(path, 0o755)
        }
    }
}
