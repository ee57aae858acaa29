import ControlAPI
import Foundation
import TestSupport
import Testing

@Suite("A source after its import", .tags(.neverLost)) struct DispositionTests {
    @Test(.timeLimit(.minutes(2)))
    func `H12 is kept when nobody chose otherwise`() async throws {
        let installation = try Installation()
        try installation.place(Samples.photo, as: "IMG_0001.JPG")
        try await installation.start()
        try await installation.waitUntilIdle()
        #expect(try installation.files(below: installation.drop) == ["IMG_0001.JPG"])
        #expect(try installation.jobs().map(\.disposition.state) == ["keep"])
        installation.stop()
    }

    @Test(.timeLimit(.minutes(2)))
    func `is deleted only when imported: a corrupt one stays`() async throws {
        let installation = try Installation(dropKeys: "after_import = \"delete\"")
        try installation.place(Samples.photo, as: "IMG_0001.JPG")
        try Samples.damaged().write(to: installation.drop.appending(path: "IMG_0004.JPG"))
        try await installation.start()
        try await installation.waitUntilIdle()
        try await installation.wait(for: "the deletion") {
            try installation.jobs("&state=imported").first?.disposition.state == "deleted"
        }
        #expect(try installation.files(below: installation.drop) == ["IMG_0004.JPG"])
        let stored = installation.library.appending(path: "2026/2026-05-17/IMG_0001.JPG")
        #expect(try Data(contentsOf: stored) == Data(contentsOf: Samples.photo))
        installation.stop()
    }

    @Test(.timeLimit(.minutes(2)))
    func `is moved with its folders, and replaces nothing there`() async throws {
        let installation = try Installation(dropKeys: "after_import = \"move\"")
        let moved = installation.drop.appending(path: ".imported/card")
        try FileManager.default.createDirectory(at: moved, withIntermediateDirectories: true)
        try Data("older".utf8).write(to: moved.appending(path: "IMG_0001.JPG"))
        try installation.place(Samples.photo, as: "card/IMG_0001.JPG")
        try await installation.start()
        try await installation.waitUntilIdle()
        try await installation.wait(for: "the move") {
            try installation.jobs().first?.disposition.state == "moved"
        }
        #expect(try Data(contentsOf: moved.appending(path: "IMG_0001.JPG")) == Data("older".utf8))
        #expect(
            try Data(contentsOf: moved.appending(path: "IMG_0001-2.JPG")) == Data(contentsOf: Samples.photo))
        #expect(try installation.jobs().count == 1)
        installation.stop()
    }

    @Test(.timeLimit(.minutes(2)))
    func `is neither moved nor deleted where everybody may write`() async throws {
        let installation = try Installation(dropKeys: "after_import = \"delete\"")
        try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: installation.drop.path)
        try installation.place(Samples.photo, as: "IMG_0001.JPG")
        try await installation.start()
        try await installation.waitUntilIdle()
        try await installation.wait(for: "the decision") {
            try installation.jobs().first?.disposition.state == "kept"
        }
        #expect(try installation.jobs().first?.disposition.code == "W_DROP_OPEN")
        #expect(try installation.files(below: installation.drop) == ["IMG_0001.JPG"])
        installation.stop()
    }
}
