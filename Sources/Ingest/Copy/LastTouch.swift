import Files
import Glibc
import PhotoModel

/// When somebody last wrote to a file, or did anything else to it: the later of mtime and ctime. A device that sets the
/// mtime of what it writes to the time of the shot cannot set the other; see inode(7).
///
/// - Parameter now: what lies after it is a clock that goes wrong, and does not count.
/// - Returns: nil when neither time can be believed.
func lastTouch(of file: borrowing Descriptor, now: Timestamp) -> Timestamp? {
    var found = stat()
    guard unsafe fstat(file.rawValue, &found) == 0 else { return nil }
    return [found.st_mtim, found.st_ctim]
        .map { Timestamp(nanoseconds: Int64($0.tv_sec) &* 1_000_000_000 &+ Int64($0.tv_nsec)) }
        // A server's clock may be a little ahead of ours.
        .filter { $0 <= now + .seconds(5) }
        .max()
}

/// Whether a part of the file was never written: made to its full length first, as some programs do, and not filled yet.
/// Where the filesystem cannot say, nothing is missing.
func hasHole(_ file: borrowing Descriptor, size: Int64) -> Bool {
    let hole = lseek(file.rawValue, 0, Int32(seekHole))
    return hole >= 0 && hole < off_t(size)
}

/// Glibc shows it to GNU programs only; lseek(2).
private let seekHole = 4
