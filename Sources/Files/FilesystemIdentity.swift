import CLinux
import Glibc
import PhotoModel

/// Tells one filesystem from every other, also after it was mounted anew: what the queue knows a file by, beside its
/// path, size and time.
///
/// Most filesystems have a number of their own, made when they were formatted (`f_fsid` of statfs(2)). Two kinds do not:
/// - What cards are formatted with (FAT, exFAT…): there the number is only the slot's. Two cards carry the same names,
///   and with a clock that was reset perhaps the same times. So the medium counts too, as far as the kernel tells one
///   from the next: a card put in again is a new filesystem, and its files are known only once their bytes were compared.
/// - Network filesystems and those of user space have none, or one that changes with what is put there (SMB). They are
///   known by what was mounted, which stays the same over restarts.
enum FilesystemIdentity {
    static func of(_ folder: borrowing Folder, type: UInt32, number: UInt64) throws(Errno) -> FilesystemID {
        let device = try folder.status().stamp.device
        // XFS and F2FS number themselves by their device too; XFS says its own number otherwise.
        var uuid: UInt64 = 0
        if type == xfs, unsafe files_xfs_uuid(folder.descriptor.rawValue, &uuid) == 0, uuid != 0 {
            return hexadecimal(uuid)
        }
        if slotTypes.contains(type) || (type == fuse && files_major(device) != 0) {
            return "\(hexadecimal(number))-\(try medium(in: device))"
        }
        if shareTypes.contains(type), let id = try mounted(at: folder) { return id }
        return hexadecimal(number != 0 ? number : UInt64(type) << 32 | (device & 0xffff_ffff))
    }

    private static let fuse: UInt32 = 0x6573_5546
    private static let xfs: UInt32 = 0x5846_5342
    /// FAT, exFAT, NTFS, HFS, HFS+, UDF, ISO 9660, XFS, F2FS, NILFS2, EROFS, SquashFS; see linux/magic.h.
    private static let slotTypes: Set<UInt32> = [
        0x4d44, 0x2011_bab0, 0x7366_746e, 0x4244, 0x482b, 0x1501_3346, 0x9660, xfs, 0xf2f5_2010, 0x3434, 0xe0f5_e1e2,
        0x7371_7368,
    ]

    /// NFS, CIFS and SMB, FUSE and with it virtiofs, 9p, AFS, Coda, vboxsf; see linux/magic.h.
    private static let shareTypes: Set<UInt32> = [
        0x6969, 0xff53_4d42, 0xfe53_4d42, 0x517b, fuse, 0x0102_1997, 0x5346_414f, 0x6b41_4653, 0x7375_7245, 0x786f_4256,
    ]

    private static func hexadecimal(_ number: UInt64) -> String {
        lowercaseHex((0..<8).map { UInt8(truncatingIfNeeded: number >> UInt64(56 - 8 * $0)) })
    }

    // MARK: Cards

    /// The kernel counts media that were put in, from one boot on (5.15); without its count nothing is known again by
    /// another life of the daemon, which costs a comparison of bytes.
    ///
    /// A passing failure is thrown: another answer would make another filesystem of it.
    static func medium(in device: UInt64) throws(Errno) -> String {
        let entry = Path("/sys/dev/block/\(files_major(device)):\(files_minor(device))")
        // A partition has no count; the disk above it does.
        for place in [entry / "diskseq", entry / "../diskseq"] {
            if let count = try line(of: place) { return "\(boot)-\(count)" }
        }
        return life
    }

    /// This process alone.
    private static let life = lowercaseHex(randomBytes(8))

    /// This run of the machine. A service may be kept from /proc/sys; then the memory filesystem of /run has a number
    /// that was made by chance when it was mounted.
    private static let boot: String = {
        do throws(Errno) {
            if let id = try line(of: Path("/proc/sys/kernel/random/boot_id")) { return String(id.prefix(8)) }
            let run = try Folder(opening: Path("/run"))
            var found = files_filesystem()
            try retryingInterrupted { unsafe files_filesystem_of(run.descriptor.rawValue, &found) }
            let isMemory = UInt32(truncatingIfNeeded: found.type) == 0x0102_1994
            return isMemory && found.id != 0 ? String(hexadecimal(found.id).suffix(8)) : life
        } catch {
            return life
        }
    }()

    /// The first line of a small file of the kernel's; nil when it is not there or empty.
    private static func line(of path: Path) throws(Errno) -> String? {
        do throws(Errno) {
            let number = try unsafe path.withCString { name throws(Errno) in
                try retryingInterrupted { unsafe open(name, O_RDONLY | O_CLOEXEC) }
            }
            let bytes = try Descriptor(adopting: number).readAll(limit: 8192)
            let text = String(decoding: bytes.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
            return text.isEmpty ? nil : text
        } catch {
            if [.noEntry, .notDirectory, .accessDenied, .notPermitted].contains(error) { return nil }
            throw error
        }
    }

    // MARK: Shares

    /// nil where kernel or /proc do not say.
    private static func mounted(at folder: borrowing Folder) throws(Errno) -> FilesystemID? {
        var id: UInt64 = 0
        guard try retryingInterrupted({ unsafe files_mount_of(folder.descriptor.rawValue, &id) }) == 1 else {
            return nil
        }
        let mounts: [Mount]
        do throws(Errno) { mounts = try Mounts().read() } catch .noEntry { return nil }
        guard let mount = mounts.last(where: { $0.id == id }) else { return nil }
        var digest = SHA256()
        digest.update(Array(mount.type.utf8) + [0] + mount.source.bytes + [0] + mount.root.bytes)
        return lowercaseHex(Array(digest.finish().bytes.prefix(8)))
    }
}
