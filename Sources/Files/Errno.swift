import CLinux
import Glibc

/// What a system call said: the number of errno(3), as a value.
package struct Errno: Error, Hashable, Sendable, CustomStringConvertible {
    package let rawValue: Int32

    package init(rawValue: Int32) { self.rawValue = rawValue }

    /// Of the calling thread's last failed call; to be read before anything else is called.
    package static var last: Errno { Errno(rawValue: errno) }

    package static let notPermitted = Errno(rawValue: EPERM)
    package static let noEntry = Errno(rawValue: ENOENT)
    package static let interrupted = Errno(rawValue: EINTR)
    package static let io = Errno(rawValue: EIO)
    package static let badDescriptor = Errno(rawValue: EBADF)
    package static let wouldBlock = Errno(rawValue: EAGAIN)
    package static let noMemory = Errno(rawValue: ENOMEM)
    package static let accessDenied = Errno(rawValue: EACCES)
    package static let busy = Errno(rawValue: EBUSY)
    package static let exists = Errno(rawValue: EEXIST)
    package static let crossDevice = Errno(rawValue: EXDEV)
    package static let notDirectory = Errno(rawValue: ENOTDIR)
    package static let isDirectory = Errno(rawValue: EISDIR)
    package static let invalid = Errno(rawValue: EINVAL)
    package static let tooManyOpenFiles = Errno(rawValue: EMFILE)
    package static let tooManyOpenFilesInSystem = Errno(rawValue: ENFILE)
    package static let fileTooLarge = Errno(rawValue: EFBIG)
    package static let noSpace = Errno(rawValue: ENOSPC)
    package static let readOnly = Errno(rawValue: EROFS)
    package static let tooManyLinks = Errno(rawValue: EMLINK)
    package static let brokenPipe = Errno(rawValue: EPIPE)
    package static let nameTooLong = Errno(rawValue: ENAMETOOLONG)
    package static let notImplemented = Errno(rawValue: ENOSYS)
    package static let notEmpty = Errno(rawValue: ENOTEMPTY)
    package static let loop = Errno(rawValue: ELOOP)
    package static let notSupported = Errno(rawValue: EOPNOTSUPP)
    package static let timedOut = Errno(rawValue: ETIMEDOUT)
    package static let stale = Errno(rawValue: ESTALE)
    package static let quota = Errno(rawValue: EDQUOT)
    package static let noDevice = Errno(rawValue: ENODEV)
    package static let noSuchDeviceOrAddress = Errno(rawValue: ENXIO)
    package static let notTTY = Errno(rawValue: ENOTTY)

    /// The path leads to a folder, pipe, socket or device where a file with content is wanted. Linux has no number for
    /// it; the BSDs call it EFTYPE.
    package static let notRegularFile = Errno(rawValue: -1)

    /// `ENOSPC`; the bare number when it has no name.
    package var name: String {
        if self == .notRegularFile { return "EFTYPE" }
        guard let name = unsafe files_error_name(rawValue) else { return "errno \(rawValue)" }
        return unsafe String(cString: name)
    }

    /// `no space left on device (ENOSPC)`: to follow a colon in a sentence.
    package var description: String { "\(text) (\(name))" }

    private var text: String {
        if self == .notRegularFile { return "not a regular file" }
        guard let text = unsafe files_error_text(rawValue) else { return "unknown error" }
        let words = unsafe String(cString: text)
        // "RPC struct is bad" keeps its capitals.
        let startsWithWord = words.dropFirst().first?.isLowercase ?? false
        return startsWithWord ? words.prefix(1).lowercased() + words.dropFirst() : words
    }
}

/// Makes a system call again while a signal interrupts it, and throws what else it says. Not for close(2), which
/// gives the descriptor back even when interrupted.
@discardableResult
package func retryingInterrupted<Result: SignedInteger>(_ call: () -> Result) throws(Errno) -> Result {
    while true {
        let result = call()
        if result >= 0 { return result }
        let failure = Errno.last
        if failure != .interrupted { throw failure }
    }
}
