import Glibc
package import PhotoModel

/// One mount as this process sees it: a line of /proc/self/mountinfo; see proc(5).
package struct Mount: Hashable, Sendable {
    /// As statx(2) gives it for what lies on it. Used again after umount(8).
    package let id: UInt64
    /// `8:17`.
    package let device: String
    /// The folder of the filesystem that shows at `point`.
    package let root: Path
    package let point: Path
    /// `ext4`, `nfs4`, `fuse.sshfs`.
    package let type: String
    /// What was mounted: a device, `server:/export`, `//server/share`.
    package let source: Path

    /// nil for a line of another shape.
    package init?(line: some Sequence<UInt8>) {
        let fields = Array(line).split(separator: UInt8(ascii: " "))
        // Some optional fields stand between the sixth and a lone hyphen.
        guard fields.count > 6, let hyphen = fields[6...].firstIndex(where: { $0.elementsEqual("-".utf8) }),
            fields.count > hyphen + 2, let id = UInt64(String(decoding: fields[0], as: UTF8.self))
        else { return nil }
        self.id = id
        device = String(decoding: fields[2], as: UTF8.self)
        root = Self.unescaped(fields[3])
        point = Self.unescaped(fields[4])
        type = String(decoding: fields[hyphen + 1], as: UTF8.self)
        source = Self.unescaped(fields[hyphen + 2])
    }

    /// Whether what lies there may be changed by others without this kernel knowing, or may not answer at all. By the
    /// name alone: nothing is touched, so nothing can hang.
    package var isRemote: Bool {
        Self.remoteTypes.contains(type) || type.hasPrefix("fuse.") || type.hasPrefix("nfs")
    }

    private static let remoteTypes: Set<String> = [
        "cifs", "smb3", "smbfs", "fuse", "fuseblk", "9p", "virtiofs", "ceph", "afs", "coda", "gfs2", "vboxsf",
        "lustre", "gpfs", "ocfs2", "ncpfs", "vmhgfs", "wslfs", "autofs", "beegfs", "glusterfs", "orangefs", "prl_fs",
    ]

    /// In the fields of that file space, tab, newline and backslash are three octal digits after a backslash.
    private static func unescaped(_ field: some Collection<UInt8>) -> Path {
        var bytes: [UInt8] = []
        var rest = Array(field)[...]
        while let byte = rest.popFirst() {
            let digits = rest.prefix(3)
            if byte == UInt8(ascii: "\\"), digits.count == 3, digits.allSatisfy({ (0x30...0x37).contains($0) }) {
                bytes.append(digits.reduce(0) { $0 &* 8 &+ ($1 - 0x30) })
                rest = rest.dropFirst(3)
            } else {
                bytes.append(byte)
            }
        }
        return Path(bytes: bytes)
    }
}

/// The mounts this process sees, the later ones on top. poll(2) says POLLPRI on the descriptor when they change.
package struct Mounts: ~Copyable, Sendable {
    package let descriptor: Descriptor

    /// - Throws: where there is no /proc.
    package init() throws(Errno) {
        let number = try retryingInterrupted { unsafe open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC) }
        descriptor = Descriptor(adopting: number)
    }

    package func read() throws(Errno) -> [Mount] {
        var text: [UInt8] = []
        var portion = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let start = Int64(text.count)
            var failure: Errno?
            let count = unsafe portion.withUnsafeMutableBytes { bytes in
                do throws(Errno) { return try unsafe descriptor.read(into: bytes, at: start) } catch {
                    failure = error
                    return 0
                }
            }
            if let failure { throw failure }
            if count == 0 { break }
            text += portion[..<count]
        }
        return text.split(separator: UInt8(ascii: "\n")).compactMap { Mount(line: $0) }
    }
}
