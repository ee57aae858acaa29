import Glibc
import PhotoModel
import Synchronization
import Testing

@testable import Files

@Suite("A copy into staging") struct CopyingTests {
    static let mebibyte = 1 << 20

    @Test(arguments: [0, 1, 4095, 4096, 4097, mebibyte - 1, mebibyte, mebibyte + 1, 5 * mebibyte + 12_345])
    func `is the same bytes, as sha256sum sees them, and so is what is read back from the medium`(size: Int) throws {
        let place = try TemporaryFolder()
        try place.write(noise(size), to: Path("source"))
        let source = try place.folder.openForReading(Path("source"))
        let staged = try place.folder.create(Path("staged"))

        let copied = try copy(from: source, to: staged, size: Int64(size))
        try staged.synchronize()
        let stored = try readBack(staged.descriptor)

        #expect(copied.byteCount == Int64(size))
        #expect(copied.sha256.hex == (try sha256sum(place.path / "source")))
        #expect(stored == copied)
        #expect(try sha256sum(place.path / "staged") == copied.sha256.hex)
        #expect(try place.read(Path("staged")) == noise(size))
    }

    @Test func `falls back to reading and writing whatever the clone says`() throws {
        let place = try TemporaryFolder()
        let bytes = noise(2 * Self.mebibyte + 3)
        try place.write(bytes, to: Path("source"))
        for refusal in [EOPNOTSUPP, EXDEV, EINVAL, ENOTTY, EPERM, EIO] {
            let source = try place.folder.openForReading(Path("source"))
            let staged = try place.folder.create(Path("staged-\(refusal)"))
            let copied = try copy(
                from: source, to: staged, size: Int64(bytes.count), progress: { _ in }, isCancelled: { false },
                clone: { _, _ in
                    errno = refusal
                    return -1
                })
            #expect(copied.byteCount == Int64(bytes.count))
            #expect(try place.read(Path("staged-\(refusal)")) == bytes)
        }
    }

    @Test func `hashes what a clone holds, not what the source has become since`() throws {
        let place = try TemporaryFolder()
        try place.write("as it was", to: Path("source"))
        let source = try place.folder.openForReading(Path("source"))
        let staged = try place.folder.create(Path("staged"))
        let copied = try copy(
            from: source, to: staged, size: 9, progress: { _ in }, isCancelled: { false },
            clone: { to, _ in
                // A filesystem that shares extents, played: the copy is there without having been written by us.
                unsafe Int32(truncatingIfNeeded: pwrite(to, "clone was", 9, 0)) == 9 ? 0 : -1
            })
        #expect(copied.sha256 == SHA256.digest(of: Array("clone was".utf8)))
        #expect(try place.read(Path("staged")) == Array("clone was".utf8))
    }

    @Test func `keeps the modification time to the nanosecond, and leaves the source's times alone`() throws {
        let place = try TemporaryFolder()
        try place.write("photo", to: Path("source"))
        let old: Int64 = 1_234_567_890_123_456_789
        try setTimes(of: place.path / "source", to: old)
        let before = try statusOf(place.path / "source")

        let source = try place.folder.openForReading(Path("source"))
        let staged = try place.folder.create(Path("staged"))
        _ = try copy(from: source, to: staged, size: 5)

        #expect(try staged.status().stamp.mtime == old)
        let after = try statusOf(place.path / "source")
        #expect(after.st_atim.tv_sec == before.st_atim.tv_sec)
        #expect(after.st_atim.tv_nsec == before.st_atim.tv_nsec)
        #expect(after.st_mtim.tv_nsec == before.st_mtim.tv_nsec)
        #expect(after.st_ctim.tv_sec == before.st_ctim.tv_sec)
        #expect(after.st_ctim.tv_nsec == before.st_ctim.tv_nsec)
    }

    @Test(arguments: [-1, -1_000_000_001, 0, 4_102_444_800_000_000_000] as [Int64])
    func `keeps times before 1970 and far ahead`(time: Int64) throws {
        let place = try TemporaryFolder()
        let staged = try place.folder.create(Path("staged"))
        try staged.setModified(time)
        #expect(try staged.status().stamp.mtime == time)
    }

    @Test func `reports progress that ends with the size, and stops when told to`() throws {
        let place = try TemporaryFolder()
        let size = Int64(3 * Self.mebibyte + 1)
        try place.write(noise(Int(size)), to: Path("source"))
        let source = try place.folder.openForReading(Path("source"))

        var steps: [Int64] = []
        _ = try copy(from: source, to: try place.folder.create(Path("whole")), size: size) { steps.append($0) }
        #expect(steps.last == size)
        #expect(steps == steps.sorted())
        #expect(steps.count == 4)

        var done: Int64 = 0
        let staged = try place.folder.create(Path("part"))
        #expect(throws: CopyFailure.cancelled) {
            try copy(from: source, to: staged, size: size, progress: { done = $0 }, isCancelled: { done > 0 })
        }
        #expect(done == Int64(Self.mebibyte))
    }

    @Test func `reads a source that grows only a little further than it was said to be`() throws {
        let place = try TemporaryFolder()
        try place.write(noise(4 * Self.mebibyte), to: Path("source"))
        let source = try place.folder.openForReading(Path("source"))
        let copied = try copy(from: source, to: try place.folder.create(Path("staged")), size: 10)
        #expect(copied.byteCount > 10)
        #expect(copied.byteCount <= Int64(Self.mebibyte))
    }

    @Test func `blames the side that failed`() throws {
        let place = try TemporaryFolder()
        try place.write("photo", to: Path("source"))
        let source = try place.folder.openForReading(Path("source"))
        // A descriptor that cannot be written to stands for a library that cannot.
        let readOnly = StagedFile(adopting: try place.folder.openForReading(Path("source")))
        #expect(throws: CopyFailure.destination(.badDescriptor)) { try copy(from: source, to: readOnly, size: 5) }
        // A folder cannot be read: stands for a source that cannot.
        let unreadable = try place.folder.descriptor.duplicate()
        let staged = try place.folder.create(Path("staged"))
        #expect(throws: CopyFailure.source(.isDirectory)) { try copy(from: unreadable, to: staged, size: 5) }
    }

    @Test func `says disk full when /dev/full is full`() throws {
        let place = try TemporaryFolder()
        try place.write("photo", to: Path("source"))
        let source = try place.folder.openForReading(Path("source"))
        let full = StagedFile(adopting: Descriptor(adopting: unsafe open("/dev/full", O_RDWR | O_CLOEXEC)))
        #expect(throws: CopyFailure.destination(.noSpace)) { try copy(from: source, to: full, size: 5) }
    }

    @Test func `is read back although nobody can open it by name any more`() throws {
        let place = try TemporaryFolder()
        let staged = try place.folder.create(Path("staged"))
        try staged.write(noise(70_001))
        try staged.synchronize()
        try place.folder.unlink(Path("staged"))
        let stored = try readBack(staged.descriptor)
        #expect(stored == Content(sha256: SHA256.digest(of: noise(70_001)), byteCount: 70_001))
    }

    @Test func `can be made by many threads at once`() async throws {
        let place = try TemporaryFolder()
        try place.write(noise(2 * Self.mebibyte + 9), to: Path("source"))
        let witness = try sha256sum(place.path / "source")
        let path = place.path
        try await withThrowingTaskGroup(of: String.self) { group in
            for number in 0..<12 {
                group.addTask {
                    let folder = try Folder(opening: path)
                    let source = try folder.openForReading(Path("source"))
                    let staged = try folder.create(Path("copy-\(number)"))
                    return try copy(from: source, to: staged, size: 1 << 22).sha256.hex
                }
            }
            for try await hex in group { #expect(hex == witness) }
        }
    }

    private func statusOf(_ path: Path) throws -> stat {
        var found = stat()
        try unsafe path.withCString { name throws(Errno) in
            _ = try retryingInterrupted { unsafe lstat(name, &found) }
        }
        return found
    }

    /// Access and modification time alike, years back, so that a relatime mount would want to renew the former.
    private func setTimes(of path: Path, to nanoseconds: Int64) throws {
        let time = timespec(tv_sec: Int(nanoseconds / 1_000_000_000), tv_nsec: Int(nanoseconds % 1_000_000_000))
        let times = [time, time]
        try unsafe path.withCString { name throws(Errno) in
            _ = try retryingInterrupted { unsafe utimensat(AT_FDCWD, name, times, 0) }
        }
    }
}
