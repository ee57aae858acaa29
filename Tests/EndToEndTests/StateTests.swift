import ControlAPI
import Foundation
import PhotoModel
import Store
import TestSupport
import Testing

@Suite("A state that is not what it should be", .tags(.neverLost, .saysWhatIsWrong)) struct StateTests {
    private func add(_ number: Int, to installation: Installation) throws {
        try Samples.variant(number).write(to: installation.drop.appending(path: "IMG_\(number).JPG"))
    }

    /// While the state is older than the library, nothing is imported and no source goes.
    private func expectStale(_ installation: Installation, stored: [String]) async throws {
        try add(9, to: installation)
        try await installation.start()
        try await installation.wait(for: "the refusal") {
            try installation.status().reasons.contains { $0.code == "E_STATE_STALE" }
        }
        try await installation.wait(for: "the photo to be queued") { try installation.status().queue.queued >= 1 }
        #expect(try installation.status().state == "degraded")
        #expect(try installation.visibleFiles() == stored)
        #expect(try installation.files(below: installation.drop).contains("IMG_9.JPG"))
        installation.stop()
    }

    @Test(.timeLimit(.minutes(2)))
    func `T9 stops imports and deletions when an older copy of it was restored`() async throws {
        let installation = try Installation(dropKeys: "after_import = \"delete\"")
        try add(1, to: installation)
        #expect(try installation.runOnce() == 0)
        let copy = installation.folder.url.appending(path: "backup")
        try FileManager.default.copyItem(at: installation.state, to: copy)
        try add(2, to: installation)
        #expect(try installation.runOnce() == 0)
        let stored = try installation.visibleFiles()
        #expect(stored.count == 2)

        try FileManager.default.removeItem(at: installation.state)
        try FileManager.default.copyItem(at: copy, to: installation.state)
        try await expectStale(installation, stored: stored)
    }

    @Test(.timeLimit(.minutes(2)))
    func `T9 stops imports and deletions when it was removed and the library was not`() async throws {
        let installation = try Installation(dropKeys: "after_import = \"delete\"")
        try add(1, to: installation)
        #expect(try installation.runOnce() == 0)
        let stored = try installation.visibleFiles()
        try FileManager.default.removeItem(at: installation.state)
        try FileManager.default.createDirectory(at: installation.state, withIntermediateDirectories: true)
        try await expectStale(installation, stored: stored)
    }

    @Test(.timeLimit(.minutes(2)), arguments: [100, 4096, 20_000])
    func `T9 J02 is refused with words, and left as it is, when it is damaged`(offset: Int) async throws {
        let installation = try Installation(dropKeys: "after_import = \"delete\"")
        try add(1, to: installation)
        #expect(try installation.runOnce() == 0)
        // Whoever opens it and is the last to leave brings the write-ahead log home, which would heal the damage.
        _ = try Store(
            directory: Path(installation.state.path), log: { _ in }, now: Timestamp(seconds: 1_779_001_200)
        ).setting("library_id")
        #expect(!FileManager.default.fileExists(atPath: installation.state.path + "/spool.db-wal"))
        let file = installation.state.appending(path: "spool.db")
        let handle = try FileHandle(forUpdating: file)
        try handle.seek(toOffset: UInt64(offset))
        try handle.write(contentsOf: Data(repeating: 0xA5, count: 4096))
        try handle.close()
        let damaged = try Data(contentsOf: file)
        try add(2, to: installation)
        #expect(try installation.runOnce() == 75)
        #expect(installation.logText.contains("E_STATE_IO"))
        #expect(try Data(contentsOf: file) == damaged)
        #expect(try installation.visibleFiles().count == 1)
        #expect(try installation.files(below: installation.drop).contains("IMG_2.JPG"))
    }

    @Test(.timeLimit(.minutes(2)))
    func `T9 is refused with words while nothing can be written to it`() async throws {
        guard try Mount.isPossible(for: "T9 a state that is read-only") else { return }
        let installation = try Installation(dropKeys: "after_import = \"delete\"")
        try add(1, to: installation)
        #expect(try installation.runOnce() == 0)
        try add(2, to: installation)
        let mount = try Mount(readOnly: installation.state, at: installation.state)
        #expect(try installation.runOnce() == 75)
        #expect(installation.logText.contains("E_STATE_IO"))
        #expect(installation.logText.contains("EROFS"))
        #expect(try installation.files(below: installation.drop) == ["IMG_2.JPG"])
        #expect(try installation.visibleFiles().count == 1)
        try mount.end()
        #expect(try installation.runOnce() == 0)
        #expect(try installation.visibleFiles().count == 2)
    }

    @Test(.timeLimit(.minutes(4)))
    func `T9 waits while another program holds it, and goes on`() async throws {
        let installation = try Installation(dropKeys: "after_import = \"delete\"")
        try add(1, to: installation)
        try await installation.start()
        try await installation.wait(for: "the first photo") { try installation.status().queue.imported == 1 }
        // As an administrator does it who looks into the database with a transaction open.
        let holder = Process()
        holder.executableURL = URL(filePath: "/usr/bin/python3")
        let held = installation.folder.url.appending(path: "held")
        holder.arguments = [
            "-c",
            """
            import sqlite3, sys, time
            base = sqlite3.connect(sys.argv[1], isolation_level=None)
            base.execute("BEGIN IMMEDIATE"); open(sys.argv[2], "w"); time.sleep(600)
            """, installation.state.path + "/spool.db", held.path,
        ]
        try holder.run()
        defer { kill(holder.processIdentifier, SIGKILL) }
        try await installation.wait(for: "the lock") { FileManager.default.fileExists(atPath: held.path) }
        try add(2, to: installation)
        try await installation.wait(for: "the state to be said unwritable") {
            try installation.status().reasons.contains { $0.code == "E_STATE_IO" }
        }
        #expect(try installation.files(below: installation.drop) == ["IMG_2.JPG"])
        #expect(try installation.visibleFiles().count == 1)
        kill(holder.processIdentifier, SIGKILL)
        holder.waitUntilExit()
        try await installation.wait(for: "the second photo") { try installation.status().queue.imported == 2 }
        try await installation.wait(for: "its source") { try installation.files(below: installation.drop).isEmpty }
        try await installation.wait(for: "the reason to go") { try installation.status().reasons.isEmpty }
        #expect(installation.stop() == 0)
    }
}
