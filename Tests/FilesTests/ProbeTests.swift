import Glibc
import PhotoModel
import Testing

@testable import Files

@Suite("A filesystem that is tried") struct ProbeTests {
    @Test func `keeps nothing of it`() throws {
        let name = "/tmp/photospool-probe-\(getpid())"
        try #require(unsafe mkdir(name, 0o700) == 0)
        defer { unsafe rmdir(name) }
        let folder = try Folder(opening: Path(name))
        do throws(Errno) {
            _ = try folder.probe()
        } catch { #expect([.notSupported, .isDirectory].contains(error)) }
        var names = 0
        try folder.forEachEntry { _, _ in
            names += 1
            return true
        }
        #expect(names == 0)
    }

    @Test func `tells names apart by their case`() throws {
        let folder = try Folder(opening: Path("/proc/self"))
        #expect(try !folder.ignoresCase(of: Path("status")))
    }

    @Test func `tells who holds a lock without a word in its file`() throws {
        let name = "/tmp/photospool-lock-\(getpid())"
        try #require(unsafe mkdir(name, 0o700) == 0)
        defer {
            unsafe unlink(name + "/lock")
            unsafe rmdir(name)
        }
        let folder = try Folder(opening: Path(name))
        #expect(try !InstanceLock.isHeld(Path("lock"), in: folder).0)
        #expect(try !folder.contains(Path("lock")))
        do {
            let lock = try InstanceLock(Path("lock"), in: folder)
            let (isHeld, holder) = try InstanceLock.isHeld(Path("lock"), in: folder)
            #expect(isHeld && holder?.process == getpid())
            _ = consume lock
        }
        #expect(try !InstanceLock.isHeld(Path("lock"), in: folder).0)
        // The note of the last holder stays as it was.
        #expect(try !folder.openForReading(Path("lock")).readAll(limit: 100).isEmpty)
    }
}
