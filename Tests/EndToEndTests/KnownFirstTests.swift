import Foundation
import TestSupport
import Testing

/// A card that is put in again brings files that were imported before. Here they come in another folder; what tells them
/// from new ones is the same.
@Suite("Photos that come again", .tags(.exactlyOnce, .neverLost)) struct KnownFirstTests {
    /// Runs the daemon once and returns what it changed below staging, one line a call.
    private func staging(_ installation: Installation) throws -> [String] {
        let trace = installation.folder.url.appending(path: "trace")
        _ = try? FileManager.default.removeItem(at: trace)  // there was none yet
        let code = try installation.runOnce(
            environment: Faults.environment(trace: trace, root: installation.folder.url))
        #expect(code == 0, Comment(rawValue: installation.logText))
        return try String(contentsOf: trace, encoding: .utf8).split(separator: "\n").map(String.init).filter {
            $0.prefix { $0 != " " }.hasSuffix("!") && $0.contains(".photospool/staging/")
        }
    }

    @Test(.timeLimit(.minutes(2)), arguments: ["keep", "delete"])
    func `are duplicates, and nothing of them is written`(afterImport: String) throws {
        guard try Faults.arePossible(for: "watching what the daemon writes") else { return }
        let installation = try Installation(dropKeys: "after_import = \"\(afterImport)\"")
        let xmp = Data("<x:xmpmeta xmlns:x=\"adobe:ns:meta/\"></x:xmpmeta>".utf8)
        for (folder, isNew) in [("first", true), ("again", false)] {
            try installation.place(Samples.photo, as: "\(folder)/IMG_0001.JPG")
            try installation.place(Samples.heic, as: "\(folder)/IMG_0003.HEIC")
            try xmp.write(to: installation.drop.appending(path: folder + "/IMG_0003.xmp"))
            let changes = try staging(installation)
            #expect(changes.isEmpty != isNew, "\(changes)")
        }
        #expect(try installation.visibleFiles().count == 3)
        let left = try installation.files(below: installation.drop).filter { !$0.hasPrefix(".") }
        #expect(left.count == (afterImport == "keep" ? 6 : 0))
        let store = try installation.visibleFiles().filter { $0.hasSuffix(".JPG") }
        #expect(
            try Data(contentsOf: installation.library.appending(path: store[0])) == Data(contentsOf: Samples.photo))
    }

    @Test(.timeLimit(.minutes(2)))
    func `are stored anew when the library no longer holds them, and whole when a sidecar is new`() throws {
        let installation = try Installation()
        try installation.place(Samples.photo, as: "first/IMG_0001.JPG")
        #expect(try installation.runOnce() == 0)
        try installation.place(Samples.photo, as: "again/IMG_0001.JPG")
        try Data("<x:xmpmeta xmlns:x=\"adobe:ns:meta/\"></x:xmpmeta>".utf8).write(
            to: installation.drop.appending(path: "again/IMG_0001.xmp"))
        #expect(try installation.runOnce() == 0)
        #expect(
            try installation.visibleFiles() == ["2026/2026-05-17/IMG_0001.JPG", "2026/2026-05-17/IMG_0001.xmp"])
        let stored = installation.library.appending(path: "2026/2026-05-17/IMG_0001.JPG")
        var bytes = try Data(contentsOf: stored)
        bytes[bytes.count / 2] ^= 1
        try bytes.write(to: stored)
        try installation.place(Samples.photo, as: "third/IMG_0001.JPG")
        #expect(try installation.runOnce() == 0)
        let whole = try Data(contentsOf: Samples.photo)
        let found = try installation.visibleFiles().map {
            try Data(contentsOf: installation.library.appending(path: $0))
        }
        #expect(found.count == 3)
        #expect(found.count { $0 == whole } == 1)
        #expect(try installation.stagedEntries().isEmpty)
    }
}
