import Files
import Glibc
import PhotoModel
import Testing

@testable import Watch

@Suite("A drop folder that is a mount point", .timeLimit(.minutes(1))) struct MountTests {
    @Test func `A17 is picked up when mounted, let go for umount, and mounts below it are entered`() async throws {
        let scene = try Scene(settings: { $0.rescanInterval = .seconds(3600) })
        defer { scene.end() }
        try await scene.waitForFirstScan()
        guard mountMemory(on: scene.drop) else {
            print("skipped: A17 mount (needs the right to mount)")
            return
        }
        var isMounted = true
        defer { if isMounted { try? unmount(scene.drop, Int32(MNT_DETACH)) } }
        try write("photo", to: scene.drop / "IMG_1.jpg")
        _ = try await scene.files(1)
        try make(scene.drop / "card")
        try await scene.until("a watch on the folder") { scene.health.watches == 2 }
        try #require(mountMemory(on: scene.drop / "card"))
        try write("photo", to: scene.drop / "card/IMG_2.jpg")
        #expect(try await scene.files(2) == ["IMG_1.jpg", "IMG_2.jpg"])
        #expect(Set(scene.queue.files.map(\.filesystem)).count == 2)
        // Busy would mean that a folder is held open although nothing is to do.
        try await scene.until("umount") { (try? unmount(scene.drop / "card")) != nil }
        try await scene.until("umount") { (try? unmount(scene.drop)) != nil }
        isMounted = false
        try write("photo", to: scene.drop / "IMG_3.jpg")
        #expect(try await scene.files(3).last == "IMG_3.jpg")
        try await scene.fence()
        #expect(scene.queue.names.count == 3)
    }

    /// A filesystem that stays mounted elsewhere, as a card does whose mount point is taken away while files are open.
    ///
    /// - Parameter folders: so many, with 250 files in each, lie on it already.
    private func withCard(folders: Int = 0, _ body: (Scene, Path) async throws -> Void) async throws {
        let scene = try Scene(settings: { $0.rescanInterval = .seconds(3600) })
        defer { scene.end() }
        let card = scene.base / "card"
        try make(card)
        guard mountMemory(on: card) else {
            print("skipped: A17 a card that is taken away (needs the right to mount)")
            return
        }
        defer { try? unmount(card, Int32(MNT_DETACH)) }
        for folder in 0..<folders {
            try make(card / "\(folder)")
            for number in 0..<250 { try write("photo", to: card / "\(folder)/IMG_\(number).jpg") }
        }
        try await scene.waitForFirstScan()
        try #require(bind(card, on: scene.drop))
        do { try await body(scene, card) } catch {
            try? unmount(scene.drop, Int32(MNT_DETACH))
            throw error
        }
        try? unmount(scene.drop, Int32(MNT_DETACH))
    }

    @Test func `A17 is let go when lazily unmounted, and known again when it is back`() async throws {
        try await withCard { scene, card in
            try make(card / "DCIM")
            try write("photo", to: scene.drop / "DCIM/IMG_1.jpg")
            _ = try await scene.files(1)
            try unmount(scene.drop, Int32(MNT_DETACH))
            try await scene.until("the bare folder") { scene.health.watches == 1 }
            // The filesystem lives on, and so would a watch that was not taken off.
            try write("photo", to: card / "DCIM/IMG_2.jpg")
            try await scene.fence()
            #expect(scene.queue.names == ["IMG_1.jpg"])
            try #require(bind(card, on: scene.drop))
            #expect(try await scene.files(2) == ["IMG_1.jpg", "IMG_2.jpg"])
            try write("photo", to: scene.drop / "DCIM/IMG_3.jpg")
            _ = try await scene.files(3)
            try await scene.fence()
            #expect(scene.queue.names == ["IMG_1.jpg", "IMG_2.jpg", "IMG_3.jpg"])
            #expect(scene.health.watches == 2)
        }
    }

    @Test func `T12 is followed when another folder is mounted over it, and back`() async throws {
        let scene = try Scene(settings: { $0.rescanInterval = .seconds(3600) })
        defer { scene.end() }
        let other = scene.base / "other"
        try make(other)
        try make(scene.drop / "a")
        try make(other / "a")
        try write("photo", to: scene.drop / "a/IMG_1.jpg")
        try write("other photo", to: other / "a/IMG_2.jpg")
        _ = try await scene.files(1)
        let covered = try Folder(opening: scene.drop / "a")
        guard bind(other, on: scene.drop) else {
            print("skipped: T12 mounting over the drop folder (needs the right to mount)")
            return
        }
        defer { try? unmount(scene.drop, Int32(MNT_DETACH)) }
        _ = try await scene.files(2)
        // What happens below the mount is not the drop folder's.
        try write("photo", to: Path("/proc/self/fd/\(covered.descriptor.rawValue)/IMG_3.jpg"))
        try write("other photo", to: scene.drop / "a/IMG_4.jpg")
        _ = try await scene.files(3)
        try await scene.fence()
        #expect(scene.queue.names == ["IMG_1.jpg", "IMG_2.jpg", "IMG_4.jpg"])
        try unmount(scene.drop)
        _ = try await scene.files(4)
        try await scene.fence()
        #expect(scene.queue.names == ["IMG_1.jpg", "IMG_2.jpg", "IMG_4.jpg", "IMG_3.jpg"])
    }

    @Test func `A17 is read to its end after it was pulled in the middle of a scan`() async throws {
        try await withCard(folders: 40) { scene, card in
            try await scene.until("a part of it") { scene.health.candidates > 300 }
            try unmount(scene.drop, Int32(MNT_DETACH))
            try await scene.fence()
            let early = scene.queue.names.count
            #expect(early < 10_000)
            try #require(bind(card, on: scene.drop))
            try await scene.until("all files") { scene.queue.names.count >= 10_000 }
            try await scene.fence()
            #expect(scene.queue.names.count == 10_000)
            #expect(Set(scene.queue.files.map(\.path)).count == 10_000)
            #expect(scene.health.watches == 41)
        }
    }

    @Test(arguments: [DropFolder.Watching.auto, .poll])
    func `A20 is entered once where a folder is mounted into itself`(watch: DropFolder.Watching) async throws {
        let scene = try Scene(
            settings: { $0.watch = watch },
            prepare: { drop in
                try make(drop / "a")
                try make(drop / "a/b")
                try write("photo", to: drop / "a/IMG_1.jpg")
            })
        defer { scene.end() }
        _ = try await scene.files(1)
        guard bind(scene.drop / "a", on: scene.drop / "a/b") else {
            print("skipped: A20 a folder mounted into itself (needs the right to mount)")
            return
        }
        defer { try? unmount(scene.drop / "a/b", Int32(MNT_DETACH)) }
        scene.rescan()
        try write("photo", to: scene.drop / "a/b/IMG_2.jpg")
        _ = try await scene.files(2)
        scene.rescan()
        try await scene.fence()
        #expect(scene.queue.files.map(\.path) == [scene.drop / "a/IMG_1.jpg", scene.drop / "a/IMG_2.jpg"])
        #expect(scene.health.watches == (watch == .poll ? 0 : 2))
    }
}
