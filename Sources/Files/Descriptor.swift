import Glibc
import PhotoModel

/// An open file, folder, pipe or socket with one owner, closed exactly once.
package struct Descriptor: ~Copyable, Sendable {
    /// For a system call; whoever reads it neither keeps nor closes it.
    package let rawValue: Int32

    /// Takes over a descriptor that nobody else closes.
    package init(adopting rawValue: Int32) { self.rawValue = rawValue }

    deinit { _ = Glibc.close(rawValue) }  // whoever has to know how closing ended calls close()

    /// Closes, and says what the filesystem had kept back until now (NFS, quota): see close(2).
    package consuming func close() throws(Errno) {
        let rawValue = self.rawValue
        discard self
        // Linux has given the number back even after EINTR: a second call could close somebody else's file.
        guard Glibc.close(rawValue) == 0 || errno == EINTR else { throw .last }
    }

    /// Hands the number to somebody else, who closes it.
    package consuming func release() -> Int32 {
        let rawValue = self.rawValue
        discard self
        return rawValue
    }

    /// A second descriptor of the same open file: position and status flags are shared. Closed on exec.
    package func duplicate() throws(Errno) -> Descriptor {
        Descriptor(adopting: try retryingInterrupted { fcntl(rawValue, F_DUPFD_CLOEXEC, 0) })
    }

    package func status() throws(Errno) -> FileStatus {
        var found = stat()
        try retryingInterrupted { unsafe fstat(rawValue, &found) }
        return FileStatus(found)
    }

    /// Returns once content and size are on the medium; fsync(2). After a failure the pages may be gone although a
    /// second call would succeed: throw the file away, never call this again.
    package func synchronize() throws(Errno) {
        // An interrupted fsync has reported nothing and lost nothing, so that one is made again.
        try retryingInterrupted { fsync(rawValue) }
    }

    /// Reads up to `buffer.count` bytes at `offset`; 0 means the end. Leaves the position alone.
    @unsafe package func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(Errno) -> Int {
        try unsafe readPiece(rawValue, into: buffer, at: offset)
    }

    /// Reads up to `buffer.count` bytes at the position and moves it; 0 means the end.
    @unsafe package func read(into buffer: UnsafeMutableRawBufferPointer) throws(Errno) -> Int {
        try retryingInterrupted { unsafe Glibc.read(rawValue, buffer.baseAddress, buffer.count) }
    }

    /// Writes all of `bytes` at the position, however many calls that takes.
    @unsafe package func write(_ bytes: UnsafeRawBufferPointer) throws(Errno) {
        try unsafe writeAll(bytes, to: rawValue)
    }

    package func write(_ bytes: RawSpan) throws(Errno) {
        var outcome: Result<Void, Errno> = .success(())
        unsafe bytes.withUnsafeBytes { buffer in
            do throws(Errno) { try unsafe write(buffer) } catch { outcome = .failure(error) }
        }
        try outcome.get()
    }

    package func write(_ bytes: [UInt8]) throws(Errno) { try unsafe write(bytes.span.bytes) }

    /// The whole content from the start, whatever the position.
    /// - Throws: ``Errno/fileTooLarge`` when there are more than `limit` bytes, without having read them.
    package func readAll(limit: Int) throws(Errno) -> [UInt8] {
        let size = try status().stamp.size
        guard size <= Int64(limit) else { throw .fileTooLarge }
        // One byte more than promised, so that a file that grows meanwhile is noticed.
        var bytes = [UInt8](repeating: 0, count: min(limit, max(Int(size), 4096)) + 1)
        var filled = 0
        while filled < bytes.count {
            let start = filled
            var outcome: Result<Int, Errno> = .success(0)
            unsafe bytes.withUnsafeMutableBytes { buffer in
                let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[start...])
                do throws(Errno) { outcome = .success(try unsafe read(into: rest, at: Int64(start))) } catch {
                    outcome = .failure(error)
                }
            }
            let count = try outcome.get()
            if count == 0 { break }
            filled += count
            if filled == bytes.count, filled <= limit {
                bytes.append(contentsOf: repeatElement(0, count: min(limit + 1, filled * 2) - filled))
            }
        }
        guard filled <= limit else { throw .fileTooLarge }
        bytes.removeSubrange(filled...)
        return bytes
    }
}

// By number, for the loops whose closures cannot hold a borrowed owner; the caller keeps it open meanwhile.

func readPiece(_ file: Int32, into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(Errno) -> Int {
    try retryingInterrupted { unsafe pread(file, buffer.baseAddress, buffer.count, off_t(offset)) }
}

func writeAll(_ bytes: UnsafeRawBufferPointer, to file: Int32) throws(Errno) {
    var written = 0
    while written < bytes.count {
        let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes[written...])
        let count = try retryingInterrupted { unsafe write(file, rest.baseAddress, rest.count) }
        // write(2) promises progress for a regular file; nothing written and no error would spin for ever.
        guard count > 0 else { throw .io }
        written += count
    }
}
