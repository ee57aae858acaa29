import Files
import Glibc
import PhotoModel

/// What stat(2) says of one name in a folder that is held, never following a link. For names that the folder itself gave:
/// a scan asks it for each file there is, so it goes straight to the kernel.
struct NameStatus {
    let stamp: FileStamp
    let kind: FileKind

    init(of name: Path, in folder: borrowing Folder) throws(Errno) {
        var found = stat()
        let number = folder.descriptor.rawValue
        // By hand: a million times over, what is generic shows.
        let terminated = name.bytes + [0]
        var failure = Self.look(at: terminated, in: number, &found)
        while failure == EINTR { failure = Self.look(at: terminated, in: number, &found) }
        guard failure == 0 else { throw Errno(rawValue: failure) }
        stamp = FileStamp(
            device: UInt64(found.st_dev), inode: UInt64(found.st_ino), size: Int64(found.st_size),
            mtime: Int64(found.st_mtim.tv_sec) &* 1_000_000_000 &+ Int64(found.st_mtim.tv_nsec))
        kind =
            switch found.st_mode & S_IFMT {
            case S_IFREG: .regular
            case S_IFDIR: .directory
            case S_IFLNK: .symlink
            default: .other
            }
    }

    /// - Returns: 0, or the number of errno(3).
    private static func look(at name: [UInt8], in folder: Int32, _ found: inout stat) -> Int32 {
        unsafe name.withUnsafeBytes { bytes in
            guard let start = unsafe bytes.bindMemory(to: CChar.self).baseAddress else { return EINVAL }
            return unsafe fstatat(folder, start, &found, AT_SYMLINK_NOFOLLOW) == 0 ? 0 : errno
        }
    }
}
