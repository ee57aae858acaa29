internal import CLinux
package import Files
internal import Glibc
package import PhotoModel

/// Remembers across a restart that the process died of its own fault: SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT or
/// SIGTRAP, which is also how Swift's own traps end. SIGKILL, a power cut and a full memory leave no mark.
///
/// The mark is a file of one byte per death. Clear it only after the jobs then in flight have been counted.
package struct CrashMark: ~Copyable {
    private let file: Descriptor
    /// The signal that ended the last run; nil when it ended otherwise.
    package let lastSignal: Int32?

    /// Opens or makes the mark, by DESIGN `<state>/crashed`.
    package init(at path: Path) throws(Errno) {
        let number = unsafe path.withCString {
            unsafe open($0, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0o600)
        }
        guard number >= 0 else { throw .last }
        let file = Descriptor(adopting: number)
        let size = lseek(number, 0, SEEK_END)
        guard size >= 0 else { throw .last }
        var last: UInt8 = 0
        if size > 0, unsafe pread(number, &last, 1, size - 1) != 1 { throw .last }
        lastSignal = size > 0 ? Int32(last) : nil
        self.file = file
    }

    /// The next start finds no mark, unless this run dies too.
    package func clear() throws(Errno) {
        guard ftruncate(file.rawValue, 0) == 0 else { throw .last }
    }

    /// Puts the handlers in, for the life of the process. To be called on the main thread, whose stack may run over.
    package func arm() throws(Errno) {
        // The handler writes to this duplicate until the process ends; it is never closed.
        let kept = try file.duplicate().release()
        guard service_mark_crashes(kept) == 0 else { throw .last }
    }
}
