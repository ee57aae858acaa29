import Foundation
import TestSupport
import Testing

/// SIGKILL before each call by which the daemon changes the disk: what dies between two of them dies before the second.
@Suite("A daemon that is killed at any call", .tags(.stopsAnywhere, .neverLost, .neverPartial, .exactlyOnce))
struct KillTests {
    /// Goal R3: every call of an import that keeps, moves and deletes its sources; then during the recovery from
    /// such a death.
    @Test(.timeLimit(.minutes(30)))
    func `T4 I01 leaves every photo once, its preview and its row, and nothing else`() async throws {
        guard try Faults.arePossible(for: "killing the daemon at any call") else { return }
        try await runRig("kills.py")
    }

    @Test(.timeLimit(.minutes(10)), arguments: 1...4)
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
