import CLinux
import Glibc
import PhotoModel

/// A file being written, which nobody else knows yet. Dropped without ``makeDurable()`` it is merely closed: its name
/// goes with the staging folder.
package struct StagedFile: ~Copyable, Sendable {
    /// Readable and writable; lent for read-back and for the decoder.
    package let descriptor: Descriptor

    init(adopting descriptor: consuming Descriptor) { self.descriptor = descriptor }

    /// Appends all of `bytes` at the position.
    @unsafe package func write(_ bytes: UnsafeRawBufferPointer) throws(Errno) { try unsafe descriptor.write(bytes) }
    package func write(_ bytes: RawSpan) throws(Errno) { try descriptor.write(bytes) }
    package func write(_ bytes: [UInt8]) throws(Errno) { try descriptor.write(bytes) }

    package func status() throws(Errno) -> FileStatus { try descriptor.status() }

    /// - Parameter modified: nanoseconds since 1970. The access time is left alone.
    package func setModified(_ modified: Int64) throws(Errno) {
        var seconds = modified / 1_000_000_000
        var nanoseconds = modified % 1_000_000_000
        if nanoseconds < 0 {  // before 1970: timespec counts its nanoseconds forward
            seconds -= 1
            nanoseconds += 1_000_000_000
        }
        try retryingInterrupted { files_set_modified(descriptor.rawValue, seconds, Int(nanoseconds)) }
    }

    /// The exact permission bits. A filesystem that keeps none (vfat, some shares) says EPERM or EOPNOTSUPP of our own
    /// file, and that is left as it is.
    package func setMode(_ mode: UInt32) throws(Errno) {
        do throws(Errno) {
            try retryingInterrupted { fchmod(descriptor.rawValue, mode_t(mode)) }
        } catch .notPermitted {} catch .notSupported {}
    }

    package func setGroup(_ gid: UInt32) throws(Errno) {
        try retryingInterrupted { fchown(descriptor.rawValue, uid_t.max, gid) }
    }

    /// Returns once content and size are on the medium, and keeps the file open for reading back. The error of an
    /// earlier write-back is reported here and only here, on the descriptor that wrote: after a failure throw the file
    /// away and copy again from the source; a second call would report success for bytes that are gone.
    package func synchronize() throws(Errno) { try descriptor.synchronize() }

    /// ``synchronize()``, then closes, where NFS and quotas may say the last word.
    package consuming func makeDurable() throws(Errno) {
        try descriptor.synchronize()
        try descriptor.close()
    }
}
