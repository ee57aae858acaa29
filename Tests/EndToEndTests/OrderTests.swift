import Foundation
import TestSupport
import Testing

/// In which order one import changes the disk, as seen from outside.
@Suite("The order of durable steps", .tags(.neverLost)) struct OrderTests {
    /// One call: what, and on what; paths below the installation.
    private struct Call: Equatable, CustomStringConvertible {
        var what: String
        var path: String
        /// Of a rename.
        var to: String?

        init?(_ line: Substring, root: String) {
            let words = line.split(separator: " ", maxSplits: 2)
            guard words.count == 3, words[1] == "ok" else { return nil }
            what = String(words[0].prefix { $0 != "!" })
            let ends = words[2].replacing(root + "/", with: "").split(separator: " -> ")
            path = String(ends[0])
            to = ends.count == 2 ? String(ends[1]) : nil
        }

        var description: String { "\(what) \(path)\(to.map { " -> " + $0 } ?? "")" }
    }

    private func trace(_ installation: Installation) throws -> [Call] {
        let file = installation.folder.url.appending(path: "trace")
        let code = try installation.runOnce(
            environment: Faults.environment(trace: file, root: installation.folder.url))
        #expect(code == 0, Comment(rawValue: installation.logText))
        return try String(contentsOf: file, encoding: .utf8).split(separator: "\n").compactMap {
            Call($0, root: installation.folder.path)
        }
    }

    /// Whether each of `steps` is found, and in this order.
    private func expectOrder(_ calls: [Call], _ steps: [(String, (Call) -> Bool)]) {
        var position = 0
        for (name, isStep) in steps {
            guard let found = calls[position...].firstIndex(where: isStep) else {
                let whole = calls[position...].map(\.description).joined(separator: "\n")
                Issue.record("no step '\(name)' after call \(position):\n\(whole)")
                return
            }
            position = found + 1
        }
    }

    @Test(.timeLimit(.minutes(1)))
    func `H27 writes, syncs, reads back, announces, names, syncs the name, records, and only then lets the source go`()
        async throws
    {
        guard try Faults.arePossible(for: "the order of calls") else { return }
        let installation = try Installation(dropKeys: "after_import = \"delete\"")
        try installation.place(Samples.photo, as: "IMG_0001.JPG")
        let calls = try trace(installation)
        let staging = "library/.photospool/staging/"
        let day = "library/2026/2026-05-17"
        let journal = "library/.photospool/journal/"
        func isWAL(_ call: Call) -> Bool { call.path == "state/spool.db-wal" && call.what == "sync" }
        func isCopy(_ call: Call) -> Bool { call.path.hasPrefix(staging) && call.path.hasSuffix("/0") }
        expectOrder(
            calls,
            [
                ("the copy is written", { $0.what == "write" && isCopy($0) }),
                ("and synced", { $0.what == "sync" && isCopy($0) }),
                ("and read back", { $0.what == "read" && isCopy($0) }),
                ("the preview is written", { $0.what == "write" && $0.path.hasSuffix("/preview.jpg") }),
                ("and synced", { $0.what == "sync" && $0.path.hasSuffix("/preview.jpg") }),
                ("the intent is durable in the state", isWAL),
                ("the journal of the library says it", { $0.what == "write" && $0.path.hasPrefix(journal) }),
                ("durably", { $0.what == "sync" && $0.path.hasPrefix(journal) }),
                ("the photo gets its name", { $0.to == day + "/IMG_0001.JPG" }),
                ("which is durable", { $0.what == "sync" && $0.path == day }),
                ("the state says imported", isWAL),
                ("the journal says that the source goes", { $0.what == "sync" && $0.path.hasPrefix(journal) }),
                ("the source is claimed", { $0.path == "drop/IMG_0001.JPG" && $0.to != nil }),
                ("and goes", { $0.what == "unlink" && $0.path.hasPrefix("drop/.photospool/claim/") }),
                ("and the state says so", isWAL),
            ])
        // The photo last: whoever sees it sees its preview as well.
        let named = calls.filter { $0.what == "rename" && $0.path.hasPrefix(staging) }
        #expect(named.count == 2)
        #expect(named.last?.to == day + "/IMG_0001.JPG")
        // And the source was never opened for writing, nor anything set on it.
        let onSource = calls.filter { $0.path == "drop/IMG_0001.JPG" && $0.to == nil }
        #expect(Set(onSource.map(\.what)).isSubset(of: ["open", "read", "stat", "close"]))
    }

    @Test(.timeLimit(.minutes(1)))
    func `H13 makes no call that could change a source that is kept, nor anything else in its folder`() async throws {
        guard try Faults.arePossible(for: "the calls on a source") else { return }
        let installation = try Installation()
        try installation.place(Samples.photo, as: "a/IMG_0001.JPG")
        let calls = try trace(installation)
        let below = calls.filter { $0.path == "drop" || $0.path.hasPrefix("drop/") }
        #expect(!below.isEmpty)
        #expect(Set(below.map(\.what)).isSubset(of: ["open", "read", "stat", "close"]))
        #expect(try installation.files(below: installation.drop) == ["a/IMG_0001.JPG"])
    }
}
