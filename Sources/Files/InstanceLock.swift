import Glibc
package import PhotoModel

/// A file that one process at a time holds, for the life of the process; flock(2). The kernel lets go when the holder
/// dies, however it dies. The file itself is never removed: a second taker could then lock a file without a name.
package struct InstanceLock: ~Copyable, Sendable {
    package enum Failure: Error, Hashable, Sendable {
        /// Somebody has it; the holder is what the file says, nil when it says nothing readable (yet).
        case held(by: Holder?)
        case unavailable(Errno)
    }

    /// Who wrote himself into the file.
    package struct Holder: Hashable, Sendable, CustomStringConvertible {
        package let process: Int32
        /// The library's lock may lie on a share; the process is then one of this machine.
        package let host: String

        package var description: String { "process \(process) on \(host)" }

        init?(parsing bytes: [UInt8]) {
            let words = bytes.split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\n") }
            guard words.count == 2, let process = Int32(String(decoding: words[0], as: UTF8.self)), process > 0 else {
                return nil
            }
            self.process = process
            host = SafeText.of(String(decoding: words[1], as: UTF8.self), limit: 255)
        }
    }

    private let file: Descriptor

    /// Takes the lock of that name without waiting; makes the file, for its owner only, when there is none.
    package init(_ name: Path, in folder: borrowing Folder) throws(Failure) {
        let file: Descriptor
        do throws(Errno) {
            file = try folder.open(name, O_RDWR | O_CREAT, mode: 0o600)
        } catch { throw .unavailable(error) }
        try Self.take(file)
        self.file = file
    }

    /// Takes the lock, and waits up to two seconds for a holder who is just dying: a process that was killed while it
    /// started another lets go only when that one has begun.
    package static func taking(_ name: Path, in folder: borrowing Folder) throws(Failure) -> InstanceLock {
        var patience = 40
        while true {
            do throws(Failure) {
                return try InstanceLock(name, in: folder)
            } catch {
                guard case .held = error, patience > 0 else { throw error }
                patience -= 1
                usleep(50_000)
            }
        }
    }

    /// Whether somebody holds the lock of that name, and who. Writes nothing; for the instant of the question nobody else
    /// can take it.
    /// - Throws: why it cannot be asked. No file means that nobody does.
    package static func isHeld(_ name: Path, in folder: borrowing Folder) throws(Errno) -> (Bool, by: Holder?) {
        let file: Descriptor
        do throws(Errno) { file = try folder.open(name, O_RDONLY) } catch .noEntry { return (false, nil) }
        let number = file.rawValue
        do throws(Errno) {
            try retryingInterrupted { flock(number, LOCK_SH | LOCK_NB) }
            return (false, nil)
        } catch .wouldBlock {
            return (true, Holder(parsing: try file.readAll(limit: 512)))
        }
    }

    private static func take(_ file: borrowing Descriptor) throws(Failure) {
        do throws(Errno) {
            let number = file.rawValue
            try retryingInterrupted { flock(number, LOCK_EX | LOCK_NB) }
            try retryingInterrupted { ftruncate(number, 0) }
            try file.write(Array("\(getpid()) \(hostName())\n".utf8))
        } catch .wouldBlock {
            // An unreadable note changes nothing about the answer: held.
            let note = try? file.readAll(limit: 512)
            throw .held(by: note.flatMap(Holder.init(parsing:)))
        } catch { throw .unavailable(error) }
    }
}

/// gethostname(2), or `localhost`.
package func hostName() -> String {
    var name = [CChar](repeating: 0, count: 256)  // HOST_NAME_MAX is 64
    guard unsafe gethostname(&name, name.count - 1) == 0, name[0] != 0 else { return "localhost" }
    return String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
}
