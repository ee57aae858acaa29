import Foundation
import TestSupport
import Testing

/// SIGKILL before each call by which the daemon changes the disk: what dies between two of them dies before the second.
@Suite("A daemon that is killed at any call", .tags(.stopsAnywhere, .neverLost, .neverPartial, .exactlyOnce))
struct KillTests {
    /// How many changes an undisturbed run makes.
    private func changes(afterImport: String) throws -> Int {
        let shoot = try Shoot(afterImport: afterImport)
        let trace = shoot.installation.folder.url.appending(path: "trace")
        let code = try shoot.installation.runOnce(
            environment: Faults.environment(trace: trace, root: shoot.installation.folder.url))
        #expect(code == 0, Comment(rawValue: shoot.installation.logText))
        try shoot.checkEnd("undisturbed")
        let lines = try String(contentsOf: trace, encoding: .utf8).split(separator: "\n")
        return lines.count { $0.prefix { $0 != " " }.hasSuffix("!") }
    }

    /// One life cut short at a time, then one that may end.
    private func live(_ deaths: [Int], afterImport: String) throws {
        let shoot = try Shoot(afterImport: afterImport)
        let situation = "\(afterImport), killed at \(deaths.map(String.init).joined(separator: ", then "))"
        for death in deaths {
            _ = try shoot.installation.runOnce(
                environment: Faults.environment(["change:KILL:\(death)@\(shoot.everywhere)"]))
            try shoot.checkPromises(situation)
        }
        let code = try shoot.installation.runOnce()
        #expect(code == 0, "\(situation)\n\(shoot.installation.logText)")
        try shoot.checkEnd(situation)
    }

    @Test(.timeLimit(.minutes(30)), arguments: ["keep", "delete", "move"])
    func `T4 I01 leaves every photo once, its preview and its row, and nothing else`(afterImport: String) async throws {
        guard try Faults.arePossible(for: "killing the daemon at any call") else { return }
        let count = try changes(afterImport: afterImport)
        #expect(count > 100)
        var points = Array(1...count)
        if !Faults.areExhaustive {
            // A few, others each time, spread over the whole.
            let step = count / 8
            points = Array(stride(from: Int.random(in: 1...step), through: count, by: step))
        }
        try await onOwnThreads(points, width: 2) { try live([$0], afterImport: afterImport) }
    }

    @Test(.timeLimit(.minutes(30)))
    func `T4 converges as well when it is killed while it recovers`() async throws {
        guard try Faults.arePossible(for: "killing the daemon while it recovers") else { return }
        let count = try changes(afterImport: "delete")
        var pairs: [[Int]] = []
        for _ in 0..<(Faults.areExhaustive ? 400 : 6) {
            // The first death late enough that there is something to recover, the second early enough to be in it.
            pairs.append([Int.random(in: count / 3...count), Int.random(in: 1...count / 3)])
        }
        try await onOwnThreads(pairs, width: 2) { try live($0, afterImport: "delete") }
    }

    @Test(.timeLimit(.minutes(2)), arguments: 1...4)
    func `I04 leaves no copy of a known photo in staging when only its sidecar is new`(death: Int) async throws {
        guard try Faults.arePossible(for: "killing the daemon while it empties staging") else { return }
        let installation = try Installation(dropKeys: "after_import = \"keep\"")
        try installation.place(Samples.photo, as: "IMG_0001.JPG")
        #expect(try installation.runOnce() == 0)
        try installation.place(Samples.photo, as: "again/IMG_0001.JPG")
        try Data("<x:xmpmeta xmlns:x=\"adobe:ns:meta/\"></x:xmpmeta>".utf8).write(
            to: installation.drop.appending(path: "again/IMG_0001.XMP"))
        let staging = installation.library.appending(path: ".photospool/staging").path
        _ = try installation.runOnce(environment: Faults.environment(["unlink:KILL:\(death)@\(staging)"]))
        #expect(try installation.runOnce() == 0, Comment(rawValue: installation.logText))
        #expect(try installation.stagedEntries().isEmpty)
        #expect(try installation.visibleFiles().count == 2)
    }
}
