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
        try unsafe name.withCString { name throws(Errno) in
            _ = try retryingInterrupted { unsafe fstatat(number, name, &found, AT_SYMLINK_NOFOLLOW) }
        }
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
}
