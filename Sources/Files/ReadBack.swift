import CLinux
import Glibc
import PhotoModel

/// Hashes what the medium holds, not what memory remembers of it.
///
/// Comes after ``StagedFile/synchronize()``: reading through the page cache would only show what was handed to
/// write(2), which proves nothing. So the cached pages are dropped (clean after the fsync, hence droppable), and the
/// file is opened once more with O_DIRECT, which goes past the cache. Where a filesystem has no O_DIRECT, or /proc is
/// not there to open through, dropping alone has to do; network filesystems then ask their server.
/// - Returns: what was read; the caller compares it with what ``copy(from:to:size:progress:isCancelled:)`` said.
/// - Throws: ``CopyFailure/destination(_:)``; a block that cannot be read is a copy that does not exist.
package func readBack(
    _ file: borrowing Descriptor, progress: (Int64) -> Void = { _ in }, isCancelled: () -> Bool = { false }
) throws(CopyFailure) -> Content {
    let dropped = posix_fadvise(file.rawValue, 0, 0, POSIX_FADV_DONTNEED)
    if dropped != 0 { throw .destination(Errno(rawValue: dropped)) }
    let number = file.rawValue
    return try Workbench.with { bench throws(CopyFailure) in
        if let direct = openPastCache(number) {
            do throws(CopyFailure) {
                return try bench.readDirectly(
                    direct.rawValue, else: number, progress: progress, isCancelled: isCancelled)
            } catch .destination(.invalid) {
                _ = bench.hash.finish()  // opened, but this filesystem reads no such thing: begin again without
            }
        }
        return try unsafe bench.run(
            size: .max, progress: progress, isCancelled: isCancelled, reading: number,
            failure: CopyFailure.destination
        ) { _, _ throws(CopyFailure) in }
    }
}

/// The same file, opened once more without the page cache; nil where that cannot be had.
func openPastCache(_ file: Int32) -> Descriptor? {
    let name = "/proc/self/fd/\(file)"
    let number = unsafe open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | FILES_O_DIRECT)
    return number >= 0 ? Descriptor(adopting: number) : nil
}

extension Workbench {
    /// Aligned reads with O_DIRECT. The last piece of a file is short; should a piece before it be, what follows lies
    /// at no multiple of a block, and is read through `cached`, whose pages were dropped before.
    fileprivate func readDirectly(
        _ direct: Int32, else cached: Int32, progress: (Int64) -> Void,
        isCancelled: () -> Bool
    ) throws(CopyFailure) -> Content {
        var offset: Int64 = 0
        while true {
            if isCancelled() { throw .cancelled }
            let count: Int
            do throws(Errno) {
                count =
                    offset % Int64(Self.alignment) == 0
                    ? try unsafe readPiece(direct, into: buffer, at: offset)
                    : try unsafe readPiece(cached, into: buffer, at: offset)
            } catch { throw .destination(error) }
            if count == 0 { break }
            unsafe hash.update(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            offset += Int64(count)
            progress(offset)
        }
        return Content(sha256: hash.finish(), byteCount: offset)
    }
}
