import ControlAPI
import Foundation
import HTTPClient
import TestSupport
import Testing

@Suite("photospool backup", .tags(.neverLost)) struct BackupTests {
    private func photospool(_ installation: Installation, _ arguments: String...) throws -> Programs.Outcome {
        try Programs.run(Programs.path("photospool"), ["--socket", installation.socket] + arguments)
    }

    @Test(.timeLimit(.minutes(2)))
    func `copies the state into the library and to a file, which is then a state to start with`() async throws {
        let installation = try Installation()
        for number in 1...5 {
            try Samples.variant(number).write(to: installation.drop.appending(path: "IMG_\(number).JPG"))
        }
        try await installation.start()
        try await installation.waitUntilIdle()
        let assets = try installation.assets()
        let file = installation.folder.path + "/copy.db"
        let made = try photospool(installation, "backup", file)
        #expect(made.status == 0, "\(made)")
        let kept = try installation.files(below: installation.library.appending(path: ".photospool/backup"))
        #expect(kept.count == 1 && kept[0].hasPrefix("ordered-") && kept[0].hasSuffix("Z.db"))
        #expect(
            FileManager.default.contentsEqual(
                atPath: file, andPath: installation.library.path + "/.photospool/backup/" + kept[0]))
        let operation = try #require(
            try installation.get("/v1/operations", as: ListBody<OperationBody>.self).items.first)
        #expect(operation.results["path"] == installation.library.path + "/.photospool/backup/" + kept[0])

        // Never over something.
        let again = try photospool(installation, "backup", file)
        #expect(again.status == 1)
        #expect(again.errors.contains("is there already"))
        #expect(try installation.get("/v1/operations", as: ListBody<OperationBody>.self).items.count == 1)
        let folder = installation.folder.url.appending(path: "usb")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        #expect(try photospool(installation, "backup", folder.path).status == 0)
        #expect(try installation.files(below: folder).count == 1)
        #expect(try photospool(installation, "backup", "--no-wait", file + "2").status == 64)

        // Put back while nothing was imported since, it goes on where it was.
        #expect(installation.stop() == 0)
        try FileManager.default.removeItem(at: installation.state)
        try FileManager.default.createDirectory(at: installation.state, withIntermediateDirectories: true)
        try FileManager.default.copyItem(
            atPath: file, toPath: installation.state.appending(path: "spool.db").path)
        try await installation.start()
        try await installation.waitUntilIdle()
        #expect(try installation.status().state == "running")
        #expect(try installation.assets() == assets)
        #expect(try installation.jobs().count == 5)
        #expect(installation.stop() == 0)
    }
}
