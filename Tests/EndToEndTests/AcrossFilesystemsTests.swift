import ControlAPI
import Foundation
import TestSupport
import Testing

/// Where rename(2) and link(2) say EXDEV: between filesystems, and between two mounts of one.
@Suite("A drop folder on another filesystem", .tags(.neverLost, .exactlyOnce)) struct AcrossFilesystemsTests {
    private func stored(_ installation: Installation) throws -> [Data] {
        try installation.visibleFiles().map { try Data(contentsOf: installation.library.appending(path: $0)) }
    }

    @Test(.timeLimit(.minutes(2)), arguments: ["move", "delete"])
    func `H15 is imported from, and then moved or deleted on its own`(afterImport: String) async throws {
        guard try Mount.isPossible(for: "H15 a drop folder on another filesystem") else { return }
        let installation = try Installation(dropKeys: "after_import = \"\(afterImport)\"")
        let mount = try Mount(at: installation.drop, bytes: 16 << 20)
        let photo = try Samples.variant(1)
        try photo.write(to: installation.drop.appending(path: "IMG_0001.JPG"))
        try await installation.start()
        try await installation.wait(for: "the disposition") {
            try installation.jobs().first?.disposition.state == (afterImport == "move" ? "moved" : "deleted")
        }
        #expect(try stored(installation) == [photo])
        let left = try installation.files(below: installation.drop)
        #expect(left == (afterImport == "move" ? [".imported/IMG_0001.JPG"] : []))
        for name in left { #expect(try Data(contentsOf: installation.drop.appending(path: name)) == photo) }
        #expect(installation.stop() == 0)
        try mount.end()
    }

    @Test(.timeLimit(.minutes(2)))
    func `H16 keeps, and says so, only what lies on a mount of its own within it`() async throws {
        guard try Mount.isPossible(for: "H16 a bind mount in a drop folder") else { return }
        let installation = try Installation(dropKeys: "after_import = \"delete\"")
        let card = installation.folder.url.appending(path: "card")
        let point = installation.drop.appending(path: "card")
        for folder in [card, point] {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        }
        let photos = try (1...6).map { try Samples.variant($0) }
        for (number, photo) in photos.enumerated() {
            let folder = number % 2 == 0 ? card : installation.drop
            try photo.write(to: folder.appending(path: "IMG_\(number).JPG"))
        }
        let mount = try Mount(again: card, at: point)
        // Of one filesystem by its number: only rename(2) knows better.
        let numbers = try [installation.drop, point].map {
            try #require(try FileManager.default.attributesOfItem(atPath: $0.path)[.systemNumber] as? Int)
        }
        #expect(numbers[0] == numbers[1])
        try await installation.start()
        try await installation.wait(for: "all dispositions") {
            let jobs = try installation.jobs()
            return jobs.count == 6 && jobs.allSatisfy { ["deleted", "kept"].contains($0.disposition.state) }
        }
        #expect(Set(try stored(installation)) == Set(photos))
        let kept = try installation.jobs().filter { $0.disposition.state == "kept" }
        #expect(kept.count == 3)
        #expect(kept.allSatisfy { $0.disposition.code == "E_DISPOSITION" && $0.files[0].path.contains("/card/") })
        #expect(
            try installation.files(below: installation.drop) == ["card/IMG_0.JPG", "card/IMG_2.JPG", "card/IMG_4.JPG"])
        // It stays at that: nobody asks again and again.
        try await installation.waitUntilIdle()
        #expect(try installation.jobs().count == 6)
        #expect(installation.stop() == 0)
        try mount.end()
    }

    @Test(.timeLimit(.minutes(2)), arguments: ["move", "delete"])
    func `H16 may be an overlay, whose files change their place as they are renamed`(afterImport: String) async throws {
        guard try Mount.isPossible(for: "H16 an overlay as a drop folder") else { return }
        let installation = try Installation(dropKeys: "after_import = \"\(afterImport)\"")
        let lower = installation.folder.url.appending(path: "lower")
        let upper = installation.folder.url.appending(path: "upper")
        for folder in [lower, upper] {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        }
        let photos = try (1...3).map { try Samples.variant($0) }
        for (number, photo) in photos.enumerated() { try photo.write(to: lower.appending(path: "IMG_\(number).JPG")) }
        let other = try Mount(at: upper, bytes: 16 << 20)
        let mount = try Mount(over: lower, changesIn: upper, at: installation.drop)
        try await installation.start()
        try await installation.wait(for: "all dispositions") {
            try installation.jobs().count(where: { ["moved", "deleted"].contains($0.disposition.state) }) == 3
        }
        #expect(Set(try stored(installation)) == Set(photos))
        let left = try installation.files(below: installation.drop)
        #expect(left == (afterImport == "move" ? (0..<3).map { ".imported/IMG_\($0).JPG" } : []))
        for (name, photo) in zip(left, photos) {
            #expect(try Data(contentsOf: installation.drop.appending(path: name)) == photo)
        }
        #expect(installation.stop() == 0)
        try mount.end()
        try other.end()
    }

    @Test(.timeLimit(.minutes(2)), .tags(.saysWhatIsWrong))
    func `H16 one mounted into the library is named, and harms no other photo`() async throws {
        guard try Mount.isPossible(for: "H16 a mount in the library") else { return }
        let installation = try Installation(
            dropKeys: "after_import = \"delete\"", libraryKeys: "template = \"{stem}/{stem}{ext}\"")
        try await installation.start()
        try await installation.waitUntilIdle()
        let point = installation.library.appending(path: "IMG_0001")
        try FileManager.default.createDirectory(at: point, withIntermediateDirectories: true)
        let mount = try Mount(at: point, bytes: 16 << 20)
        let photos = try (1...2).map { try Samples.variant($0) }
        for (number, photo) in photos.enumerated() {
            try photo.write(to: installation.drop.appending(path: "IMG_000\(number + 1).JPG"))
        }
        try await installation.wait(for: "the other photo, and the reason") {
            try installation.jobs("&state=imported").first?.disposition.state == "deleted"
                && installation.jobs("&state=queued").first?.error?.code == "E_LIBRARY_IO"
        }
        let job = try #require(try installation.jobs("&state=queued").first)
        #expect(job.error?.recovery.contains("one filesystem") == true, "\(job.error?.recovery ?? "")")
        #expect(try installation.files(below: installation.drop) == ["IMG_0001.JPG"])
        #expect(try installation.files(below: point).isEmpty)
        try mount.end()
        _ = try installation.post("/v1/retry")
        try await installation.wait(for: "the other") { try installation.status().queue.imported == 2 }
        #expect(Set(try stored(installation)) == Set(photos))
        #expect(installation.stop() == 0)
    }
}
