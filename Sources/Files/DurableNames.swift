import CLinux
import PhotoModel
import Synchronization

/// Which folders and files this process has seen through to a durable name.
///
/// On ext4 the fsync of a folder costs a flush of the disk's cache, also when nothing in it has changed, and every
/// import goes through the same few folders: `makeFolders` of a day that is there takes 0.01 ms instead of 6.5 ms
/// (ext4, busy virtual disk, two levels).
enum DurableNames {
    /// An inode number is given out again after a removal; the moment of birth tells the two apart.
    private struct Inode: Hashable {
        let device: UInt64
        let number: UInt64
        let seconds: Int64
        let nanoseconds: UInt32
    }

    private static let known = Mutex<Set<Inode>>([])
    /// Years of day folders; beyond that it starts afresh rather than grow.
    private static let limit = 4096

    /// Returns once the name that leads from `parent` to `child` is on the medium.
    static func ensure(_ child: borrowing Descriptor, in parent: borrowing Folder) throws(Errno) {
        guard let inode = try inode(of: child) else { return try parent.sync() }
        if known.withLock({ $0.contains(inode) }) { return }
        try parent.sync()
        known.withLock { known in
            if known.count >= limit { known.removeAll() }
            known.insert(inode)
        }
    }

    /// Nil where nobody says when it was born (FUSE, some shares, a filter without statx): there every call synchronises.
    private static func inode(of file: borrowing Descriptor) throws(Errno) -> Inode? {
        var seconds: Int64 = 0
        var nanoseconds: UInt32 = 0
        let number = file.rawValue
        guard unsafe files_birth(number, &seconds, &nanoseconds) == 1 else { return nil }
        let stamp = try file.status().stamp
        return Inode(device: stamp.device, number: stamp.inode, seconds: seconds, nanoseconds: nanoseconds)
    }
}
