import CLinux
import Glibc
package import PhotoModel

/// Why a copy or a read-back did not come to its end. Which side failed decides who is blamed and what waits.
package enum CopyFailure: Error, Hashable, Sendable {
    case source(Errno)
    case destination(Errno)
    case cancelled
}

/// What went through: equal values mean equal content.
package struct Content: Hashable, Sendable {
    package let sha256: SHA256Digest
    package let byteCount: Int64

    package init(sha256: SHA256Digest, byteCount: Int64) {
        self.sha256 = sha256
        self.byteCount = byteCount
    }
}

/// Copies a file into staging and says what it read. Not yet durable: ``StagedFile/synchronize()`` comes next, then
/// ``readBack(_:isCancelled:)``.
///
/// Shares the extents (`FICLONE`) where both lie on one filesystem that can, and then hashes what the copy holds; else
/// reads once, hashing and writing each piece, and starts the write-back as it goes so that the fsync finds little
/// left to do. Never maps the source: somebody who truncates it must not end the daemon. The modification time is kept
/// to the nanosecond; the source's own times stay as they are when it was opened by ``Folder/openForReading(_:)``.
/// - Parameters:
///   - source: open for reading; its position does not matter and is not moved.
///   - size: what fstat(2) said before. A source that grew is read one piece beyond, no further; the result's
///     `byteCount` then differs, as it does for one that shrank, and the caller's second fstat tells why.
///   - progress: called with the bytes done so far, after each piece of at most 1 MiB.
package func copy(
    from source: borrowing Descriptor, to staged: borrowing StagedFile, size: Int64,
    progress: (Int64) -> Void = { _ in }, isCancelled: () -> Bool = { false }
) throws(CopyFailure) -> Content {
    try copy(
        from: source, to: staged, size: size, progress: progress, isCancelled: isCancelled,
        clone: { files_clone($0, $1) })
}

/// - Parameter clone: ioctl_ficlone(2), or what a test wants it to be.
func copy(
    from source: borrowing Descriptor, to staged: borrowing StagedFile, size: Int64,
    progress: (Int64) -> Void, isCancelled: () -> Bool, clone: (_ to: Int32, _ from: Int32) -> Int32
) throws(CopyFailure) -> Content {
    let modified: Int64
    do throws(Errno) { modified = try source.status().stamp.mtime } catch { throw .source(error) }
    // Whatever made the clone impossible (EOPNOTSUPP, EXDEV, EINVAL, ENOTTY, EPERM of swap and sealed files…) meets the
    // plain copy too if it matters to it, and is then reported with its side.
    let target = staged.descriptor.rawValue
    let isCloned = clone(target, source.rawValue) == 0
    let origin = source.rawValue
    let content = try Workbench.with { bench throws(CopyFailure) in
        try unsafe bench.run(
            size: size, progress: progress, isCancelled: isCancelled,
            // The clone is read, not the source: that is what will be kept, and the source may change meanwhile. They
            // share the blocks, so a block that cannot be read is the source's fault.
            reading: isCloned ? target : origin, failure: CopyFailure.source
        ) { piece, offset throws(CopyFailure) in
            if isCloned { return }
            do throws(Errno) { try unsafe writeAll(piece, to: target) } catch { throw .destination(error) }
            // A failure to start is not lost: fsync(2) reports it, since only waiting calls take the error away.
            _ = files_start_writeback(target, offset, Int64(piece.count))
        }
    }
    do throws(Errno) {
        try staged.setModified(modified)
    } catch {
        // A filesystem that keeps no such time still keeps the photo.
        guard [.notPermitted, .notSupported, .notImplemented, .invalid].contains(error) else {
            throw .destination(error)
        }
    }
    return content
}

/// Hashes an open file through the page cache, from its start: for a source, or a duplicate's first look.
package func hash(
    _ file: borrowing Descriptor, progress: (Int64) -> Void = { _ in }, isCancelled: () -> Bool = { false }
) throws(CopyFailure) -> Content {
    let number = file.rawValue
    return try Workbench.with { bench throws(CopyFailure) in
        try unsafe bench.run(
            size: .max, progress: progress, isCancelled: isCancelled, reading: number, failure: CopyFailure.source
        ) { _, _ throws(CopyFailure) in }
    }
}

extension Workbench {
    /// Reads from the start to the end of `file`, or to just beyond `size`, hashing every piece before it goes to
    /// `each`. The caller owns `file` and keeps it open meanwhile.
    func run(
        size: Int64, progress: (Int64) -> Void, isCancelled: () -> Bool, reading file: Int32,
        failure: (Errno) -> CopyFailure,
        each: (_ piece: UnsafeRawBufferPointer, _ offset: Int64) throws(CopyFailure) -> Void
    ) throws(CopyFailure) -> Content {
        var offset: Int64 = 0
        // A hint; what it says no to is only read a little slower.
        _ = posix_fadvise(file, 0, 0, POSIX_FADV_SEQUENTIAL)
        while offset <= size {
            if isCancelled() { throw .cancelled }
            let count: Int
            do throws(Errno) { count = try unsafe readPiece(file, into: buffer, at: offset) } catch {
                throw failure(error)
            }
            if count == 0 { break }
            let piece = unsafe UnsafeRawBufferPointer(rebasing: buffer[..<count])
            unsafe hash.update(piece)
            try unsafe each(piece, offset)
            offset += Int64(count)
            progress(offset)
        }
        return Content(sha256: hash.finish(), byteCount: offset)
    }
}
