import CLinux
package import PhotoModel

/// What kind of filesystem a folder lies on, and how full it is; statfs(2).
package struct FilesystemInfo: Hashable, Sendable {
    /// The magic number of linux/magic.h.
    package let type: UInt32
    package let id: FilesystemID
    /// Bytes in all, and those an unprivileged process may still take.
    package let totalBytes: Int64
    package let availableBytes: Int64
    package let isReadOnly: Bool

    /// Whether others can change it without this kernel knowing: no events come, and caches answer for a while.
    package var isRemote: Bool { Self.remoteNames[type] != nil }

    /// `nfs`, `cifs`, `fuse`…; the number for one without a name here.
    package var typeName: String { Self.remoteNames[type] ?? Self.localNames[type] ?? "0x" + String(type, radix: 16) }

    /// Changed by other machines, by a user-space server, or by the host of a virtual machine.
    private static let remoteNames: [UInt32: String] = [
        0x6969: "nfs", 0xff53_4d42: "cifs", 0xfe53_4d42: "smb", 0x517b: "smb", 0x6573_5546: "fuse",
        0x0102_1997: "9p", 0x00c3_6400: "ceph", 0x5346_414f: "afs", 0x6b41_4653: "afs", 0x7375_7245: "coda",
        0x0161_1970: "gfs2", 0x786f_4256: "vboxsf", 0x0bd0_0bd0: "lustre", 0x4750_4653: "gpfs", 0x7461_636f: "ocfs2",
        0x564c: "ncp", 0xbacb_acbc: "vmhgfs", 0x5346_4846: "wslfs",
    ]

    private static let localNames: [UInt32: String] = [
        0xef53: "ext4", 0x5846_5342: "xfs", 0x9123_683e: "btrfs", 0x0102_1994: "tmpfs", 0xf2f5_2010: "f2fs",
        0x4d44: "vfat", 0x2011_bab0: "exfat", 0x7366_746e: "ntfs", 0x2fc1_2fc1: "zfs", 0xca45_1a4e: "bcachefs",
        0x794c_7630: "overlay", 0x9660: "iso9660", 0x1501_3346: "udf", 0x482b: "hfsplus", 0x8584_58f6: "ramfs",
    ]
}

extension Folder {
    package func filesystem() throws(Errno) -> FilesystemInfo {
        var found = files_filesystem()
        try retryingInterrupted { unsafe files_filesystem_of(descriptor.rawValue, &found) }
        let type = UInt32(truncatingIfNeeded: found.type)
        return FilesystemInfo(
            type: type, id: try FilesystemIdentity.of(self, type: type, number: found.id),
            totalBytes: FilesystemInfo.bytes(found.blocks, found.block_size),
            availableBytes: FilesystemInfo.bytes(found.available_blocks, found.block_size),
            isReadOnly: found.is_read_only != 0)
    }
}

extension FilesystemInfo {
    /// Some network filesystems report nonsense sizes; none may trap.
    fileprivate static func bytes(_ blocks: UInt64, _ blockSize: UInt64) -> Int64 {
        let (product, overflowed) = blocks.multipliedReportingOverflow(by: blockSize)
        return overflowed ? .max : Int64(clamping: product)
    }
}
