import ControlAPI
import Foundation
import TestSupport
import Testing

@Suite("A daemon that dies", .tags(.stopsAnywhere)) struct CrashTests {
    @Test(.timeLimit(.minutes(5)), .tags(.neverPartial, .exactlyOnce))
    func `I01 leaves every photo once and nothing else, killed at random moments of twenty imports`() async throws {
        let installation = try Installation()
        var expected: Set<Data> = []
        for number in 1...20 {
            let data = try Samples.variant(number)
            expected.insert(data)
            try data.write(to: installation.drop.appending(path: "IMG_\(number).JPG"))
        }
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<25 {
            try installation.launch()
            // Not a wait for something: the moment of death is the test's input.
            try await Task.sleep(for: .milliseconds(Int.random(in: 30...700, using: &generator)))
            installation.kill()
            try checkNothingIsPartial(installation, among: expected)
        }
        try await installation.start()
        try await installation.waitUntilIdle()
        let files = try installation.visibleFiles()
        #expect(files.count == 20)
        #expect(Set(try files.map { try Data(contentsOf: installation.library.appending(path: $0)) }) == expected)
        #expect(try installation.stagedEntries().isEmpty)
        let assets = try installation.assets()
        #expect(assets.count == 20)
        let previews = try installation.files(below: installation.library.appending(path: ".photospool/previews"))
        #expect(previews.count == 20)
        #expect(try installation.jobs().allSatisfy { $0.state == "imported" })
        #expect(installation.stop() == 0)
    }

    private func checkNothingIsPartial(_ installation: Installation, among expected: Set<Data>) throws {
        for file in try installation.visibleFiles() {
            let data = try Data(contentsOf: installation.library.appending(path: file))
            #expect(expected.contains(data), "\(file) is not one of the photos")
        }
    }

    @Test(.timeLimit(.minutes(1)))
    func `J11 binds again after a kill although the socket's file is still there`() async throws {
        let installation = try Installation()
        try await installation.start()
        installation.kill()
        #expect(FileManager.default.fileExists(atPath: installation.socket))
        try await installation.start()
        #expect(try installation.status().state == "running")
        #expect(installation.stop() == 0)
        #expect(!FileManager.default.fileExists(atPath: installation.socket))
    }

    @Test(.timeLimit(.minutes(1)))
    func `is refused a second instance, which names the first`() async throws {
        let installation = try Installation()
        try await installation.start()
        let second = try Programs.run(
            Programs.path("photospoold"),
            ["--config", installation.configuration.path, "--state-dir", installation.state.path])
        #expect(second.status == 75)
        #expect(second.errors.contains("E_LOCKED"))
        #expect(second.errors.contains("process \(try #require(installation.daemon).processIdentifier) "))
        installation.stop()
    }

    @Test(.timeLimit(.minutes(3)))
    func `stops at once in the middle of a long copy, and takes it up again`() async throws {
        let installation = try Installation()
        try await installation.start()
        // A picture that goes on for ever behind its end: long enough to be caught copying. Where the temporary folder
        // is in memory and the test has to wait for the processor it may be missed; then a longer one.
        var missed: [String] = []
        var length = 160 << 20
        while true {
            var data = try Samples.variant(missed.count)
            data.append(Data(count: length))
            try data.write(to: installation.drop.appending(path: "BIG\(missed.count).JPG"))
            var isCaught = false
            try await installation.wait(for: "the copy to begin") {
                let queue = try installation.status().queue
                isCaught = queue.importing == 1
                return isCaught || queue.imported > missed.count
            }
            if isCaught { break }
            missed = try installation.visibleFiles()
            length *= 2
            try #require(length <= 640 << 20, "none of the copies was seen")
        }
        #expect(installation.stop() == 0)
        #expect(try installation.visibleFiles() == missed)
        #expect(try installation.stagedEntries().isEmpty)
        try await installation.start()
        try await installation.waitUntilIdle()
        let job = try #require(try installation.jobs().first)
        #expect(job.state == "imported")
        #expect(job.attempts == 1)
        installation.stop()
    }
}
