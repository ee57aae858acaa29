import Glibc
package import PhotoModel

package enum FileKind: Hashable, Sendable {
    case regular, directory, symlink
    /// Pipe, socket or device: never opened.
    case other

    init(mode: mode_t) {
        self =
            switch mode & S_IFMT {
            case S_IFREG: .regular
            case S_IFDIR: .directory
            case S_IFLNK: .symlink
            default: .other
            }
    }
}

/// What stat(2) says of a name or an open file.
package struct FileStatus: Hashable, Sendable {
    package let stamp: FileStamp
    package let kind: FileKind
    /// The twelve permission bits, set-id and sticky among them.
    package let mode: UInt32
    package let uid: UInt32
    package let gid: UInt32
    package let linkCount: UInt64

    init(_ found: stat) {
        stamp = FileStamp(
            device: UInt64(found.st_dev), inode: UInt64(found.st_ino), size: Int64(found.st_size),
            mtime: Int64(found.st_mtim.tv_sec) &* 1_000_000_000 &+ Int64(found.st_mtim.tv_nsec))
        kind = FileKind(mode: found.st_mode)
        mode = UInt32(found.st_mode & 0o7777)
        uid = found.st_uid
        gid = found.st_gid
        linkCount = UInt64(found.st_nlink)
    }

    /// Whether anybody on the machine can put files here.
    package var isWorldWritable: Bool { mode & UInt32(S_IWOTH) != 0 }
    /// Whether only the owner of a file (or of the folder) may remove it: 1777, as /tmp.
    package var isSticky: Bool { mode & UInt32(S_ISVTX) != 0 }

    /// Whether both lead to the same file, whatever became of its content.
    package func isSameFile(as other: FileStatus) -> Bool {
        stamp.device == other.stamp.device && stamp.inode == other.stamp.inode
    }
}
