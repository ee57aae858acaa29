import Glibc
import PhotoModel
import Testing

@testable import Files

@Suite("A folder") struct FolderTests {
    /// Both ways to resolve have to say the same.
    @Test(arguments: [true, false])
    func `lets nobody out, by whatever name`(usingOpenat2: Bool) throws {
        let outside = try TemporaryFolder()
        try outside.write("secret", to: Path("secret"))
        let place = try TemporaryFolder()
        try place.folder.makeFolders(at: Path("a/b/c"), mode: 0o700)
        try place.write("photo", to: Path("a/b/c/photo"))
        try place.link("to-file", to: (outside.path / "secret").shown)
        try place.link("to-folder", to: outside.path.shown)
        try place.link("a/inside", to: "b")
        try place.link("a/b/up", to: "../../..")

        func failure(_ path: Path) -> Errno? {
            do throws(Errno) {
                _ = try place.folder.open(path, O_RDONLY, mode: 0, usingOpenat2: usingOpenat2)
                return nil
            } catch { return error }
        }
        #expect(failure(Path("a/b/c/photo")) == nil)
        #expect(failure(Path("a//b/./c/photo")) == nil)
        #expect(failure(Path("to-file")) == .loop)
        #expect(failure(Path("to-folder/secret")) == .loop)
        #expect(failure(Path("a/inside/c/photo")) == .loop)
        #expect(failure(Path("a/b/up/etc")) == .loop)
        #expect(failure(outside.path / "secret") == .crossDevice)
        #expect(failure(Path("..")) == .crossDevice)
        #expect(failure(Path("a/../a/b/c/photo")) == .crossDevice)
        #expect(failure(Path("a/absent/c")) == .noEntry)
        #expect(failure(Path("a/b/c/photo/x")) == .notDirectory)
        #expect(failure(Path(bytes: Array("a/b/c/photo".utf8) + [0] + Array("x".utf8))) == .invalid)
        #expect(failure(Path("")) == .noEntry)
    }

    @Test(arguments: [true, false])
    func `opens the file that was asked for, several folders down`(usingOpenat2: Bool) throws {
        let place = try TemporaryFolder()
        try place.folder.makeFolders(at: Path("a/b/c/d"), mode: 0o700)
        try place.write("photo", to: Path("a/b/c/d/photo"))
        let opened = try place.folder.open(Path("a/b/c/d/photo"), O_RDONLY, mode: 0, usingOpenat2: usingOpenat2)
        #expect(try opened.readAll(limit: 100) == Array("photo".utf8))
        #expect(throws: Errno.fileTooLarge) { try opened.readAll(limit: 4) }
    }

    @Test func `may itself be reached through a link, for a person configured it`() throws {
        let place = try TemporaryFolder()
        try place.write("photo", to: Path("photo"))
        try place.link("other-name", to: place.path.shown)
        let folder = try Folder(opening: place.path / "other-name")
        #expect(try folder.status(of: Path("photo")).stamp.size == 5)
    }

    @Test func `opens only files with content for reading`() throws {
        let place = try TemporaryFolder()
        try unsafe (place.path / "pipe").withCString { name throws(Errno) in
            _ = try retryingInterrupted { unsafe mkfifo(name, 0o600) }
        }
        try place.folder.makeFolders(at: Path("folder.jpg"), mode: 0o700)
        #expect(throws: Errno.notRegularFile) { _ = try place.folder.openForReading(Path("pipe")) }
        #expect(throws: Errno.notRegularFile) { _ = try place.folder.openForReading(Path("folder.jpg")) }
        #expect(Errno.notRegularFile.description == "not a regular file (EFTYPE)")
    }

    @Test(arguments: [[0xff, 0xfe, 0x41], [UInt8](repeating: 0x61, count: 255), Array("new\nline".utf8)] as [[UInt8]])
    func `takes names as bytes`(bytes: [UInt8]) throws {
        let place = try TemporaryFolder()
        let name = Path(bytes: bytes)
        try place.write("photo", to: name)
        var seen: [Path] = []
        try place.folder.forEachEntry { name, kind in
            #expect(kind == .regular)
            seen.append(name)
            return true
        }
        #expect(seen == [name])
        #expect(try place.read(name) == Array("photo".utf8))
    }

    @Test func `creates with the exact mode and never over something`() throws {
        let place = try TemporaryFolder()
        #expect(try place.folder.create(Path("a"), mode: 0o664, gid: getegid()).status().mode == 0o664)
        #expect(throws: Errno.exists) { _ = try place.folder.create(Path("a")) }
        try place.link("dangling", to: "nowhere")
        #expect(throws: Errno.exists) { _ = try place.folder.create(Path("dangling")) }
        #expect(try place.names() == ["a", "dangling"])
    }

    @Test func `makes folders with the exact mode, and again without complaint`() throws {
        let place = try TemporaryFolder()
        for _ in 0..<2 { try place.folder.makeFolders(at: Path("2026/2026-05-17"), mode: 0o2750) }
        let made = try place.folder.status(of: Path("2026/2026-05-17"))
        #expect(made.kind == .directory)
        #expect(made.mode == 0o2750)
        try place.write("photo", to: Path("2026/photo"))
        #expect(throws: Errno.notDirectory) { try place.folder.makeFolders(at: Path("2026/photo/x"), mode: 0o700) }
    }

    @Test func `lists until it is told to stop, as often as asked`() throws {
        let place = try TemporaryFolder()
        for number in 0..<10 { try place.write("", to: Path("\(number)")) }
        for _ in 0..<2 {
            var count = 0
            try place.folder.forEachEntry { _, _ in
                count += 1
                return count < 4
            }
            #expect(count == 4)
            #expect(try place.names().count == 10)
        }
    }

    @Test func `removes a tree without following its links`() throws {
        let outside = try TemporaryFolder()
        try outside.folder.makeFolders(at: Path("deep"), mode: 0o700)
        try outside.write("kept", to: Path("deep/file"))
        let place = try TemporaryFolder()
        try place.folder.makeFolders(at: Path("staging/x/y"), mode: 0o700)
        try place.write("gone", to: Path("staging/x/y/file"))
        try place.link("staging/to-folder", to: outside.path.shown)
        try place.link("staging/x/to-file", to: (outside.path / "deep/file").shown)
        try place.link("staging/x/dangling", to: "nowhere")

        try place.folder.removeTree(Path("staging"))
        try place.folder.removeTree(Path("staging"))  // gone already is fine

        #expect(try place.names() == [])
        #expect(try outside.read(Path("deep/file")) == Array("kept".utf8))
    }

    @Test func `refuses to remove a tree deeper than anything of ours`() throws {
        let place = try TemporaryFolder()
        let deep = (0..<70).reduce(Path("")) { path, _ in path / "d" }
        try place.folder.makeFolders(at: deep, mode: 0o700)
        #expect(throws: Errno.loop) { try place.folder.removeTree(Path("d")) }
        // The test's own tidying, from the middle.
        let middle = (0..<35).reduce(Path("")) { path, _ in path / "d" }
        try place.folder.removeTree(middle)
    }

    @Test func `reports the filesystem as stat(1) does`() throws {
        let place = try TemporaryFolder()
        let found = try place.folder.filesystem()
        var expected = statvfs()
        try unsafe place.path.withCString { name throws(Errno) in
            _ = try retryingInterrupted { unsafe statvfs(name, &expected) }
        }
        #expect(found.totalBytes == Int64(expected.f_blocks) * Int64(expected.f_frsize))
        #expect(found.availableBytes <= found.totalBytes)
        // The same number that stat(1) prints from f_fsid, for a filesystem that has one of its own.
        #expect(found.id.utf8.count == 16)
        #expect(found.id == (try place.folder.filesystem().id))
        #expect(!found.isReadOnly)
        let processes = try Folder(opening: Path("/proc")).filesystem()
        #expect(processes.type == 0x9fa0)  // PROC_SUPER_MAGIC
        #expect(processes.typeName == "0x9fa0")
        #expect(processes.id != found.id)
    }

    @Test func `stays on its filesystem when asked to`() throws {
        let root = try Folder(opening: Path("/"), entersMounts: false)
        #expect(throws: Errno.crossDevice) { _ = try root.folder(at: Path("proc")) }
        #expect(throws: Errno.crossDevice) {
            _ = try root.open(Path("proc/self"), O_RDONLY, mode: 0, usingOpenat2: false)
        }
        _ = try Folder(opening: Path("/")).folder(at: Path("proc"))
    }

    @Test func `names errors as errno(1) does`() {
        #expect(Errno.noSpace.description == "no space left on device (ENOSPC)")
        #expect(Errno.io.description == "input/output error (EIO)")
        #expect(Errno(rawValue: EDOTDOT).description == "RFS specific error (EDOTDOT)")
        #expect(Errno(rawValue: 9999).description == "unknown error (errno 9999)")
    }
}
