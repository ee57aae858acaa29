import Files
import Glibc
import PhotoModel
import Testing

@testable import Watch

@Suite("A drop folder that is a mount point", .timeLimit(.minutes(1))) struct MountTests {
    private func mountMemory(on path: Path) -> Bool {
        unsafe path.withCString { unsafe mount("none", $0, "tmpfs", 0, "size=1m") == 0 }
    }

    private func unmount(_ path: Path, _ flags: Int32 = 0) throws {
        try check(unsafe path.withCString { unsafe umount2($0, flags) }, "umount")
    }

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
}
