import ControlAPI
import Foundation
import TestSupport
import Testing

/// Sources that fail, and sources that somebody changes at the worst moment: the daemon is stopped there.
@Suite("A source in trouble", .tags(.neverLost, .neverPartial, .exactlyOnce)) struct SourceTroubleTests {
    private func bytes(_ installation: Installation) throws -> Set<Data> {
        Set(
            try installation.visibleFiles().map { try Data(contentsOf: installation.library.appending(path: $0)) })
    }

    @Test(.timeLimit(.minutes(2)), .tags(.harmsNobody))
    func `H06 H20 stays when it cannot be read, and only then: every third of nine`() async throws {
        guard try Faults.arePossible(for: "sources that cannot be read") else { return }
        let installation = try Installation(dropKeys: "after_import = \"move\"")
        var rules: [String] = []
        for number in 1...9 {
            let url = installation.drop.appending(path: "IMG_\(number).JPG")
            try Samples.variant(number).write(to: url)
            if number % 3 == 0 { rules.append("read:EIO:1+@\(url.path)") }
        }
        try await installation.start(environment: try Faults.environment(rules))
        try await installation.wait(for: "six photos and three failures") {
            let queue = try installation.status().queue
            return queue.imported == 6 && queue.retrying == 3
        }
        let broken = ["IMG_3.JPG", "IMG_6.JPG", "IMG_9.JPG"]
        try await installation.wait(for: "the sources to be moved") {
            try installation.files(below: installation.drop).filter { !$0.hasPrefix(".") } == broken
        }
        let jobs = try installation.jobs().filter { $0.state == "queued" }
        #expect(jobs.allSatisfy { $0.error?.code == "E_SOURCE_IO" && $0.error?.transient == true })
        #expect(try installation.visibleFiles().count == 6)
        #expect(installation.stop() == 0)

        // The card is well again, in another reader perhaps.
        try await installation.start()
        try await installation.wait(for: "the other three") { try installation.status().queue.imported == 9 }
        try await installation.wait(for: "their sources") {
            try installation.files(below: installation.drop).filter { !$0.hasPrefix(".") }.isEmpty
        }
        #expect(try installation.visibleFiles().count == 9)
        installation.stop()
    }

    @Test(.timeLimit(.minutes(2)))
    func `H17 is copied again when what was written is not what was read`() async throws {
        guard try Faults.arePossible(for: "a disk that writes other bytes") else { return }
        let installation = try Installation(dropKeys: "after_import = \"delete\"")
        try installation.place(Samples.photo, as: "IMG_0001.JPG")
        let staging = installation.library.appending(path: ".photospool/staging").path
        try await installation.start(environment: try Faults.environment(["write:FLIP:1@\(staging)"]))
        // Told while it waits for the second attempt, which may come before a busy machine gets round to ask.
        try await installation.wait(for: "the mismatch") { installation.logText.contains("E_VERIFY_MISMATCH") }
        if try installation.jobs().first?.state == "queued" {
            #expect(try installation.visibleFiles().isEmpty)
            #expect(try installation.files(below: installation.drop) == ["IMG_0001.JPG"])
        }
        try await installation.wait(for: "the source to go") {
            try installation.files(below: installation.drop).isEmpty
        }
        #expect(try bytes(installation) == [Data(contentsOf: Samples.photo)])
        #expect(try installation.jobs().first?.attempts == 2)
        installation.stop()
    }

    enum Change: CaseIterable {
        case replaced, appended, rewritten, truncated, renamed

        /// - Returns: what is in the drop folder afterwards.
        func make(to url: URL, old: Data, new: Data) throws -> Data {
            switch self {
            case .replaced:
                let temporary = url.deletingLastPathComponent().appending(path: ".upload.tmp")
                try new.write(to: temporary)
                // rename(2), as an upload ends; removeItem first would be another change.
                _ = try Programs.run("/usr/bin/env", ["mv", "-f", temporary.path, url.path])
                return new
            case .appended:
                let handle = try FileHandle(forWritingTo: url)
                try handle.seekToEnd()
                try handle.write(contentsOf: Data("more".utf8))
                try handle.close()
                return old + Data("more".utf8)
            case .rewritten:
                let handle = try FileHandle(forWritingTo: url)
                try handle.truncate(atOffset: 0)
                try handle.write(contentsOf: new)
                try handle.close()
                return new
            case .truncated:
                // Cut behind the picture: still a whole photo, and another one.
                try FileHandle(forWritingTo: url).truncate(atOffset: UInt64(old.count - 3))
                return old.dropLast(3)
            case .renamed:
                try FileManager.default.moveItem(
                    at: url, to: url.deletingLastPathComponent().appending(path: "IMG_0002.JPG"))
                return old
            }
        }
    }

    @Test(.timeLimit(.minutes(2)), arguments: Change.allCases)
    func `T10 is imported as it is in the end when it changes while it is copied`(change: Change) async throws {
        guard try Faults.arePossible(for: "a source that changes while it is copied") else { return }
        let installation = try Installation(dropKeys: "after_import = \"delete\"")
        let url = installation.drop.appending(path: "IMG_0001.JPG")
        let (old, new) = try (Samples.variant(1), Samples.variant(22))
        try old.write(to: url)
        // The second read finds the end of the file, as a rule: between the two all is read and nothing is done.
        try installation.launch(environment: try Faults.environment(["read:STOP:2@\(url.path)"]))
        try await installation.waitUntilStopped()
        let last = try change.make(to: url, old: old, new: new)
        installation.proceed()
        try await expectEnd(installation, [last], mayHave: [old])
    }

    @Test(.timeLimit(.minutes(2)), arguments: Change.allCases)
    func `T10 is not taken for the one that was imported when it changes before it is deleted`(
        change: Change
    ) async throws {
        guard try Faults.arePossible(for: "a source that changes before it is deleted") else { return }
        let installation = try Installation(dropKeys: "after_import = \"delete\"")
        let url = installation.drop.appending(path: "IMG_0001.JPG")
        let (old, new) = try (Samples.variant(1), Samples.variant(22))
        try old.write(to: url)
        let claims = installation.drop.appending(path: ".photospool/claim").path
        try installation.launch(environment: try Faults.environment(["rename:STOP:1@\(claims)"]))
        try await installation.waitUntilStopped()
        let last = try change.make(to: url, old: old, new: new)
        installation.proceed()
        try await expectEnd(installation, [old, last], mayHave: [])
    }

    /// Everything is imported, and the drop folder empty; `wanted` is in the library, and besides only `others`.
    private func expectEnd(_ installation: Installation, _ wanted: Set<Data>, mayHave others: Set<Data>) async throws {
        try await installation.wait(for: "the drop folder to be empty") {
            let stored = try bytes(installation)
            for data in stored where !wanted.contains(data) && !others.contains(data) {
                Issue.record("a file of \(data.count) bytes that nobody made")
            }
            return try installation.files(below: installation.drop).isEmpty && stored.isSuperset(of: wanted)
        }
        try await installation.waitUntilIdle()
        #expect(try installation.stagedEntries().isEmpty)
        #expect(try installation.visibleFiles().count == bytes(installation).count)
        #expect(installation.stop() == 0)
    }

    @Test(.timeLimit(.minutes(3)), arguments: [true, false])
    func `is stored again only when the library's copy cannot be read time after time`(isLost: Bool) async throws {
        guard try Faults.arePossible(for: "a copy in the library that cannot be read") else { return }
        let installation = try Installation()
        try installation.place(Samples.photo, as: "IMG_0001.JPG")
        #expect(try installation.runOnce() == 0)
        let stored = installation.library.appending(path: "2026/2026-05-17/IMG_0001.JPG").path
        try installation.place(Samples.photo, as: "again/IMG_0001.JPG")
        try await installation.start(environment: try Faults.environment(["read:EIO:1\(isLost ? "+" : "")@\(stored)"]))
        try await installation.wait(for: "the second one to end") {
            let queue = try installation.status().queue
            return queue.imported + queue.duplicate == 2
        }
        #expect(try installation.status().queue.duplicate == (isLost ? 0 : 1))
        #expect(try installation.visibleFiles().count == (isLost ? 2 : 1))
        #expect(try bytes(installation) == [Data(contentsOf: Samples.photo)])
        installation.stop()
    }
}
