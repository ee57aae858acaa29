import ControlAPI
import Foundation
import TestSupport
import Testing

@Suite("photospoold --once") struct OnceTests {
    private func runOnce(_ installation: Installation) throws -> Int32 {
        try installation.launch(arguments: ["--once"])
        let daemon = try #require(installation.daemon)
        daemon.waitUntilExit()
        installation.daemon = nil
        return daemon.terminationStatus
    }

    @Test(.timeLimit(.minutes(2)))
    func `A14 imports what is there and exits 0, also when there is nothing new`() throws {
        let installation = try Installation()
        try installation.place(Samples.photo, as: "a/IMG_0001.JPG")
        try installation.place(Samples.heic, as: "b/c/IMG_0003.HEIC")
        #expect(try runOnce(installation) == 0)
        #expect(try installation.visibleFiles().count == 2)
        #expect(try runOnce(installation) == 0)
        #expect(try installation.visibleFiles().count == 2)
    }

    @Test(.timeLimit(.minutes(2)), .tags(.harmsNobody))
    func `exits 1 when a job failed, and has imported the others`() throws {
        let installation = try Installation()
        try installation.place(Samples.photo, as: "IMG_0001.JPG")
        try installation.place(Samples.corrupt, as: "IMG_0004.JPG")
        try Data().write(to: installation.drop.appending(path: "IMG_0005.JPG"))
        #expect(try runOnce(installation) == 1)
        #expect(try installation.visibleFiles() == ["2026/2026-05-17/IMG_0001.JPG"])
        #expect(installation.logText.contains("E_CORRUPT"))
    }

    @Test(.timeLimit(.minutes(2)))
    func `exits 75 when the library belongs to somebody else`() throws {
        let installation = try Installation()
        try Data("mine".utf8).write(to: installation.library.appending(path: "thesis.txt"))
        try installation.place(Samples.photo, as: "IMG_0001.JPG")
        #expect(try runOnce(installation) == 75)
        #expect(installation.logText.contains("E_MARKER"))
        #expect(try installation.files(below: installation.library) == ["thesis.txt"])
    }

    @Test(.timeLimit(.minutes(1)))
    func `and an unknown argument exit 64 with a hint`() throws {
        let outcome = try Programs.run(Programs.path("photospoold"), ["--onec"])
        #expect(outcome.status == 64)
        #expect(outcome.errors.contains("--onec"))
        #expect(outcome.output.isEmpty)
    }
}
