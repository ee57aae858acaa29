import ControlAPI
import Foundation
import TestSupport
import Testing

@Suite("A watcher that is dead while its process lives", .tags(.saysWhatIsWrong)) struct LivenessTests {
    @Test(.timeLimit(.minutes(2)), arguments: ["END", "HANG"])
    func `A15 gets no more pings, so that the service manager starts it anew`(fate: String) async throws {
        guard try Faults.arePossible(for: "A15 a watcher that dies") else { return }
        let installation = try Installation()
        let manager = try ServiceManager(at: installation.folder.path + "/n")
        let dying = installation.folder.url.appending(path: "dying")
        var environment = try Faults.environment(["read:\(fate):1+@anon_inode:inotify"])
        environment["FAULTS_AFTER"] = dying.path
        environment["NOTIFY_SOCKET"] = installation.folder.path + "/n"
        environment["WATCHDOG_USEC"] = "2000000"
        try await installation.start(environment: environment)
        try installation.place(Samples.photo, as: "IMG_0001.JPG")
        try await installation.wait(for: "a photo") { try installation.status().queue.imported == 1 }
        for _ in 0..<3 { #expect(try await manager.isPinged(within: 20)) }

        try Data().write(to: dying)
        try Samples.variant(2).write(to: installation.drop.appending(path: "IMG_0002.JPG"))
        // Its patience with a part that stands still is 20 s. What it said before that is no word of it.
        try await installation.wait(for: "the daemon to notice") {
            manager.forget()  // a full socket would hold up whoever writes to it
            return installation.logText.contains("A part of the daemon stands still")
        }
        manager.forget()
        #expect(try await !manager.isPinged(within: 5), "it is still said to be alive")
        // It is as dead as it was meant to be, while the rest of the process goes on.
        let status = try installation.status()
        #expect(status.queue.imported == 1)
        #expect(status.queue.queued == 0)
        let line = installation.logText.split(separator: "\n").first {
            $0.contains("A part of the daemon stands still")
        }
        #expect(line?.contains("watcher") == true)
        installation.kill()

        // As the service manager does it.
        try await installation.start()
        try await installation.wait(for: "the other photo") { try installation.status().queue.imported == 2 }
        #expect(installation.stop() == 0)
    }
}
