import ControlAPI
import Foundation
import HTTPClient
import TestSupport
import Testing

/// Arrivals as the field brings them, up to the library.
@Suite("Photos that arrive", .tags(.neverLost, .exactlyOnce)) struct DetectionTests {
    /// Waits until that many are imported, then until nothing is left to do; each is in the library once, byte by byte.
    private func expect(_ photos: [Data], in installation: Installation) async throws {
        try await installation.wait(for: "\(photos.count) imports") {
            try installation.status().queue.imported >= photos.count
        }
        try await installation.waitUntilIdle()
        let stored = try installation.visibleFiles().map {
            try Data(contentsOf: installation.library.appending(path: $0))
        }
        #expect(stored.count == photos.count)
        #expect(Set(stored) == Set(photos))
        #expect(try installation.stagedEntries().isEmpty)
    }

    @Test(.timeLimit(.minutes(3)))
    func `A01 are imported once each when the kernel has thrown their events away`() async throws {
        let installation = try Installation(more: "[preview]\nmax_size = 32\n")
        try await installation.start()
        try await installation.waitUntilIdle()
        let limit = try String(contentsOfFile: "/proc/sys/fs/inotify/max_queued_events", encoding: .utf8)
        // Another test may have lowered it for a moment; the daemon's queue is as long as it was when it began.
        let queue = max(16384, try #require(Int(limit.trimmingCharacters(in: .whitespacesAndNewlines))))
        let daemon = try #require(installation.daemon?.processIdentifier)
        kill(daemon, SIGSTOP)
        try await installation.waitUntilStopped()
        // Files nobody wants fill the kernel's queue, three events for each; of the photos then comes no word.
        let noise = installation.drop.appending(path: "noise.tmp")
        for _ in 0...(queue / 3) {
            try Data([1]).write(to: noise)
            try FileManager.default.removeItem(at: noise)
        }
        let photos = try (0..<500).map(Samples.small)
        for (number, photo) in photos.enumerated() {
            let folder = installation.drop.appending(path: "\(number % 7)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            try photo.write(to: folder.appending(path: "IMG_\(number).JPG"))
        }
        let standsStill = try String(contentsOfFile: "/proc/\(daemon)/stat", encoding: .utf8).contains(") T")
        installation.proceed()
        try await expect(photos, in: installation)
        let status = try installation.status()
        #expect(status.queue.imported == 500)
        #expect(status.queue.duplicate == 0)
        #expect(status.drops.map(\.watches) == [8])
        // Once at most. That it is said at all is for WatchTests to show, where nothing else runs: among all tests at once
        // it has been seen that this daemon lost no event.
        let log = installation.logText
        #expect(log.contains("photospoold") && log.components(separatedBy: "Events were lost").count <= 2)
        if !log.contains("Events were lost") {
            print("A01: no event was lost here; still \(standsStill): \(log.prefix(3000))")
        }
        #expect(installation.stop() == 0)
    }

    @Test(.timeLimit(.minutes(2)))
    func `A14 are imported after the start when they came while nobody watched`() async throws {
        let installation = try Installation()
        try await installation.start()
        #expect(installation.stop() == 0)
        let photos = try (1...20).map(Samples.variant)
        for (number, photo) in photos.enumerated() {
            try photo.write(to: installation.drop.appending(path: "IMG_\(number).JPG"))
        }
        try await installation.start()
        try await expect(photos, in: installation)
        #expect(installation.stop() == 0)
        // And once only, whoever starts it again.
        try await installation.start()
        try await installation.waitUntilIdle()
        #expect(try installation.jobs().count == 20)
        installation.stop()
    }

    @Test(.timeLimit(.minutes(2)))
    func `B05 are imported once, after short rounds and a long write that nothing closes`() async throws {
        let installation = try Installation()
        try await installation.start()
        let photo = try Data(contentsOf: Samples.photo)
        let url = installation.drop.appending(path: "IMG_1.JPG")
        _ = FileManager.default.createFile(atPath: url.path, contents: nil)
        var place = 0
        for _ in 0..<10 {
            let handle = try FileHandle(forWritingTo: url)
            try handle.seekToEnd()
            try handle.write(contentsOf: photo[place..<(place + 1000)])
            try handle.close()
            place += 1000
        }
        try await write(photo, from: place, to: url, steps: 10, installation)
        try await expect([photo], in: installation)
        let jobs = try installation.jobs()
        #expect(jobs.map(\.state) == ["imported"])
        #expect(jobs.first?.attempts == 1)
        installation.stop()
    }

    /// Writes the rest of a photo through one open file, with gaps longer than the settle time in it.
    private func write(
        _ photo: Data, from start: Int, to url: URL, steps: Int, _ installation: Installation
    ) async throws {
        let handle = try FileHandle(forWritingTo: url)
        try handle.seek(toOffset: UInt64(start))
        for step in 0..<steps {
            let (from, to) = (
                start + (photo.count - start) * step / steps, start + (photo.count - start) * (step + 1) / steps
            )
            try handle.write(contentsOf: photo[from..<to])
            try await Task.sleep(for: .milliseconds(300))  // longer than settle and group_wait
            #expect(try installation.jobs().isEmpty)
        }
        try handle.close()
    }

    @Test(.timeLimit(.minutes(2)))
    func `B07 are imported as each is complete, while a slow copy of many goes on`() async throws {
        let installation = try Installation()
        try await installation.start()
        // Large enough that each takes longer than settle and group_wait: half a second, at 1 MB/s in portions of 32 KB.
        let photos = try (1...12).map { try Samples.variant($0) + Data(count: 400_000) }
        for (number, photo) in photos.enumerated() {
            let url = installation.drop.appending(path: "IMG_\(number).JPG")
            _ = FileManager.default.createFile(atPath: url.path, contents: nil)
            let handle = try FileHandle(forWritingTo: url)
            for place in stride(from: 0, to: photo.count, by: 32_768) {
                try handle.write(contentsOf: photo[place..<min(place + 32_768, photo.count)])
                try await Task.sleep(for: .milliseconds(33))
            }
            try handle.close()
            let stored = try installation.visibleFiles().map {
                try Data(contentsOf: installation.library.appending(path: $0))
            }
            #expect(Set(stored).isSubset(of: photos[...number]), "a photo was imported before it was complete")
        }
        // Nobody waited for the whole copy.
        #expect(try installation.status().queue.imported > 3)
        try await expect(photos, in: installation)
        #expect(try installation.jobs().allSatisfy { $0.state == "imported" && $0.attempts == 1 })
        installation.stop()
    }

    @Test(.timeLimit(.minutes(2)))
    func `B09 have the right preview although they trickled in`() async throws {
        let installation = try Installation()
        try await installation.start()
        let photo = try Data(contentsOf: Samples.photo)
        let url = installation.drop.appending(path: "IMG_1.JPG")
        _ = FileManager.default.createFile(atPath: url.path, contents: nil)
        try await write(photo, from: 0, to: url, steps: 10, installation)
        try await expect([photo], in: installation)
        let asset = try #require(try installation.assets().first)
        #expect(asset.preview.state == "ok")
        #expect(asset.preview.width == 1200)
        // ImageMagick's reading of the whole photo; a picture whose lower half is missing has below 15 dB.
        let preview = installation.library.path + "/" + (asset.preview.path ?? "")
        let outcome = try Programs.run(
            "/usr/bin/env",
            ["compare", "-metric", "PSNR", "(", Samples.photo.path, "-resize", "1200x800!", ")", preview, "null:"])
        let decibels = try #require(Double(outcome.errors.split(separator: " ").first ?? ""), "\(outcome.errors)")
        #expect(decibels > 30)
        installation.stop()
    }

    @Test(.timeLimit(.minutes(2)), .tags(.saysWhatIsWrong))
    func `C08 beside files that are no photos and empty folders, which are refused once and again only when changed`()
        async throws
    {
        let installation = try Installation()
        try FileManager.default.createDirectory(
            at: installation.drop.appending(path: "empty/emptier"), withIntermediateDirectories: true)
        try Data("notes".utf8).write(to: installation.drop.appending(path: "notes.txt"))
        // An archive without members; APPNOTE.TXT 4.3.16.
        try Data([0x50, 0x4B, 5, 6] + [UInt8](repeating: 0, count: 18)).write(
            to: installation.drop.appending(path: "notes.zip"))
        try installation.place(Samples.photo, as: "IMG_0001.JPG")
        try await installation.start()
        func refusals() throws -> [String?] { try installation.jobs("&state=skipped").map { $0.error?.code } }
        try await installation.wait(for: "both refusals") { try refusals().count == 2 }
        try await expect([Data(contentsOf: Samples.photo)], in: installation)
        #expect(try refusals() == ["E_UNSUPPORTED", "E_UNSUPPORTED"])
        #expect(try installation.jobs("&state=skipped").allSatisfy { $0.error?.transient == false })

        #expect(try installation.post("/v1/rescan").status == 202)
        try await installation.waitUntilIdle()
        installation.stop()
        try await installation.start()
        try await installation.waitUntilIdle()
        #expect(try installation.jobs().count == 3)

        try Data("other notes".utf8).write(to: installation.drop.appending(path: "notes.txt"))
        try await installation.wait(for: "a third") { try refusals().count == 3 }
        #expect(
            try installation.files(below: installation.drop) == ["IMG_0001.JPG", "notes.txt", "notes.zip"])
        installation.stop()
    }

    @Test(.timeLimit(.minutes(2)))
    func `T12 are imported once each although their folder is renamed again and again while it is filled`() async throws
    {
        let installation = try Installation()
        try await installation.start()
        let photos = try (0..<60).map(Samples.small)
        var folder = installation.drop.appending(path: "card-0")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        for (number, photo) in photos.enumerated() {
            try photo.write(to: folder.appending(path: "IMG_\(number).JPG"))
            // In the middle of settling, of copying, of committing: wherever it is by now.
            try await Task.sleep(for: .milliseconds(Int.random(in: 0...30)))
            guard number % 6 == 5 else { continue }
            let next = installation.drop.appending(path: "card-\(number)")
            try FileManager.default.moveItem(at: folder, to: next)
            folder = next
        }
        try await installation.wait(for: "60 imports") { try installation.visibleFiles().count >= 60 }
        try await expect(photos, in: installation)
        #expect(try installation.assets().count == 60)
        #expect(try installation.status().queue.failed == 0)
        installation.stop()
    }
}
