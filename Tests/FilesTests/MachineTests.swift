import Files
import Glibc
import PhotoModel
import Testing

@Suite("An instance lock") struct InstanceLockTests {
    @Test func `is held by one, who is named to the next, and is free again afterwards`() throws {
        let place = try TemporaryFolder()
        do {
            let first = try InstanceLock(Path("lock"), in: place.folder)
            #expect(try place.folder.status(of: Path("lock")).mode == 0o600)
            do throws(InstanceLock.Failure) {
                _ = try InstanceLock(Path("lock"), in: place.folder)
                Issue.record("taken twice")
            } catch {
                guard case .held(let holder?) = error else {
                    Issue.record("not held by anybody known: \(error)")
                    return
                }
                #expect(holder.process == getpid())
                #expect(holder.description == "process \(getpid()) on \(hostName())")
            }
            _ = consume first
        }
        _ = try InstanceLock(Path("lock"), in: place.folder)
    }

    @Test func `is held whatever its file says`() throws {
        let place = try TemporaryFolder()
        try place.write("no number at all \u{1b}[2J, and longer than the new note will be, by far", to: Path("lock"))
        let other = try place.folder.openForReading(Path("lock"))
        try retryingInterrupted { flock(other.rawValue, LOCK_EX | LOCK_NB) }
        #expect(throws: InstanceLock.Failure.held(by: nil)) { _ = try InstanceLock(Path("lock"), in: place.folder) }
        try retryingInterrupted { flock(other.rawValue, LOCK_UN) }
        let lock = try InstanceLock(Path("lock"), in: place.folder)
        #expect(try place.read(Path("lock")) == Array("\(getpid()) \(hostName())\n".utf8))
        _ = consume lock
    }

    @Test func `is not taken through a link`() throws {
        let place = try TemporaryFolder()
        try place.link("lock", to: "elsewhere")
        #expect(throws: InstanceLock.Failure.unavailable(.loop)) {
            _ = try InstanceLock(Path("lock"), in: place.folder)
        }
        #expect(try place.names() == ["lock"])
    }
}

@Suite("A file in memory") struct MemoryFileTests {
    @Test func `can no longer change once it is sealed`() throws {
        let file = try memoryFile("preview")
        try file.write(Array("jpeg".utf8))
        let isSealedBefore = file.isSealed
        #expect(!isSealedBefore)
        try file.seal()
        let isSealedAfter = file.isSealed
        #expect(isSealedAfter)
        #expect(throws: Errno.notPermitted) { try file.write([1]) }
        #expect(throws: Errno.notPermitted) { try retryingInterrupted { ftruncate(file.rawValue, 1) } }
        #expect(throws: Errno.notPermitted) { try retryingInterrupted { ftruncate(file.rawValue, 10) } }
        #expect(try file.readAll(limit: 4) == Array("jpeg".utf8))
        #expect(throws: Errno.fileTooLarge) { try file.readAll(limit: 3) }
    }

    @Test func `is not handed to programs started from here`() throws {
        let file = try memoryFile("preview")
        #expect(try retryingInterrupted { fcntl(file.rawValue, F_GETFD) } & FD_CLOEXEC != 0)
        let second = try file.duplicate()
        #expect(try retryingInterrupted { fcntl(second.rawValue, F_GETFD) } & FD_CLOEXEC != 0)
        #expect(second.rawValue != file.rawValue)
    }

    @Test func `without a seal is not taken for one with`() throws {
        let place = try TemporaryFolder()
        let staged = try place.folder.create(Path("file"))
        let isSealed = staged.descriptor.isSealed
        #expect(!isSealed)
    }
}

@Suite("A descriptor") struct DescriptorTests {
    @Test func `is closed by close, and when its owner goes`() throws {
        // A pipe's reading end sees the end of file exactly when the last writing end is closed.
        for isExplicit in [true, false] {
            var ends: [Int32] = [-1, -1]
            try retryingInterrupted { unsafe pipe(&ends) }
            let reading = Descriptor(adopting: ends[0])
            let writing = Descriptor(adopting: ends[1])
            try retryingInterrupted { fcntl(reading.rawValue, F_SETFL, O_NONBLOCK) }
            #expect(throws: Errno.wouldBlock) { try readByte(reading) }
            if isExplicit { try writing.close() } else { _ = consume writing }
            #expect(try readByte(reading) == 0)
        }
    }

    @Test func `says what is wrong with it`() {
        let bad = Descriptor(adopting: -1)
        #expect(throws: Errno.badDescriptor) { try bad.status() }
        #expect(throws: Errno.badDescriptor) { try bad.synchronize() }
    }

    private func readByte(_ file: borrowing Descriptor) throws -> Int {
        var byte = [UInt8](repeating: 0, count: 1)
        let number = file.rawValue
        return try retryingInterrupted { unsafe read(number, &byte, 1) }
    }
}

@Suite("The machine") struct MachineTests {
    @Test func `keeps time as time(2) does`() {
        let before = Int64(time(nil))
        let now = SystemClock.now().nanoseconds / 1_000_000_000
        let after = Int64(time(nil))
        // time(2) may lag by a tick behind the clock's fine reading.
        #expect((before...after + 1).contains(now))
        #expect(SystemClock.monotonic() <= SystemClock.monotonic())
    }

    @Test func `shows the wall clock's time as its offset says`() {
        let moment = Timestamp(seconds: 1_784_271_871)
        let offset = SystemClock.localOffset(at: moment)
        let shown = SystemClock.localWallTime(at: moment)
        #expect(shown.secondsAsUTC - Int64(offset) == 1_784_271_871)
        #expect(abs(offset) <= 14 * 3600)
    }

    @Test func `gives as many random bytes as asked, and others each time`() {
        for count in [0, 1, 255, 256, 257, 1000] { #expect(randomBytes(count).count == count) }
        #expect(randomBytes(32) != randomBytes(32))
    }

    @Test func `knows its users and groups`() {
        #expect(Accounts.userName(0) == "root")
        #expect(Accounts.groupID(named: "root") == 0)
        #expect(Accounts.userID(named: "root") == 0)
        #expect(Accounts.groupName(0) == "root")
        #expect(Accounts.groupID(named: "no-such-group") == nil)
        #expect(Accounts.groupID(named: "4711") == 4711)
        #expect(Accounts.userName(4_123_456_789) == "4123456789")
    }
}
