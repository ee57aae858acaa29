import ControlAPI
import Foundation
import TestSupport
import Testing

@Suite("A daemon's start and end", .tags(.stopsAnywhere)) struct StartTests {
    @Test(.timeLimit(.minutes(3)))
    func `J09 is ready before a drop folder has been listed, however long that takes`() async throws {
        guard try Eventless.isPossible(for: "J09 a drop folder whose listing never ends") else { return }
        let installation = try Installation()
        let local = try TemporaryFolder()
        try """

        [[drop]]
        name = "local"
        path = "\(local.path)"
        settle = "100ms"
        group_wait = "200ms"
        """.write(appendingTo: installation.configuration)
        let share = try await Eventless(installation.folder.url.appending(path: "back"), at: installation.drop)
        defer { share.end() }
        // So many that no listing is over at once.
        for number in 0..<2_000 {
            #expect(
                FileManager.default.createFile(atPath: local.path + "/note\(number).txt", contents: Data("note".utf8)))
        }
        share.hang()
        let manager = try ServiceManager(at: installation.folder.path + "/n")
        try installation.launch(environment: ["NOTIFY_SOCKET": installation.folder.path + "/n"])
        #expect(try await manager.hears("READY=1", within: 60))
        let status = try installation.status()
        #expect(!status.idle)
        // The one beside it is listed meanwhile: all of it is of no known kind, and says so.
        try await installation.wait(for: "the other folder") {
            manager.forget()
            return try installation.status().queue.skipped == 2_000
        }
        try await installation.wait(for: "the silence to be said") {
            manager.forget()
            return try installation.status().drops.first { $0.name == "test" }?.health == "degraded"
        }
        share.goOn()
        try await installation.wait(for: "the first scan") {
            manager.forget()
            return try installation.status().idle
        }
        #expect(installation.stop() == 0)
    }

    @Test(.timeLimit(.minutes(1)))
    func `J16 gives its socket the mode and the group it was told, and takes it away`() async throws {
        guard geteuid() == 0 else { return print("skipped: J16 the group of the socket (giving it one takes root)") }
        let installation = try Installation()
        let text = try String(contentsOf: installation.configuration, encoding: .utf8)
        try text.replacing("[control]", with: "[control]\nmode = \"0620\"\ngroup = \"daemon\"")
            .write(to: installation.configuration, atomically: true, encoding: .utf8)
        try await installation.start()
        let said = try Programs.run("/usr/bin/stat", ["-c", "%F %a %G", installation.socket])
        #expect(said.output == "socket 620 daemon\n")
        #expect(installation.stop() == 0)
        #expect(!FileManager.default.fileExists(atPath: installation.socket))
    }
}

extension String {
    fileprivate func write(appendingTo file: URL) throws {
        let handle = try FileHandle(forWritingTo: file)
        try handle.seekToEnd()
        try handle.write(contentsOf: Data(utf8))
        try handle.close()
    }
}
