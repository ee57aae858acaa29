import CLinux
import Glibc
import PhotoModel

/// How a relative path becomes a descriptor without leaving the folder.
extension Folder {
    /// False where openat2(2) is unknown to the kernel (before 5.6) or kept from us by a container's filter, which
    /// answers EPERM. The root directory itself gives no other reason for either.
    private static let hasOpenat2: Bool = {
        let probe = unsafe files_openat2(AT_FDCWD, "/", FILES_O_PATH | O_CLOEXEC, 0, 0)
        guard probe >= 0 else { return errno != ENOSYS && errno != EPERM }
        return close(probe) == 0
    }()

    /// Opens below this folder; O_CLOEXEC and O_NOFOLLOW are always added.
    func open(_ relative: Path, _ flags: Int32, mode: UInt32 = 0) throws(Errno) -> Descriptor {
        try open(relative, flags, mode: mode, usingOpenat2: Self.hasOpenat2)
    }

    func open(_ relative: Path, _ flags: Int32, mode: UInt32, usingOpenat2: Bool) throws(Errno) -> Descriptor {
        try relative.requireBelow()
        let flags = flags | O_CLOEXEC | O_NOFOLLOW
        guard usingOpenat2 else { return try openByComponent(relative, flags, mode: mode) }
        var resolve = FILES_RESOLVE_BENEATH | FILES_RESOLVE_NO_SYMLINKS | FILES_RESOLVE_NO_MAGICLINKS
        if !entersMounts { resolve |= FILES_RESOLVE_NO_XDEV }
        let number = try unsafe relative.withCString { name throws(Errno) in
            try retryingInterrupted {
                unsafe files_openat2(descriptor.rawValue, name, flags, mode, UInt64(resolve))
            }
        }
        return Descriptor(adopting: number)
    }

    private func openByComponent(_ relative: Path, _ flags: Int32, mode: UInt32) throws(Errno) -> Descriptor {
        let device = entersMounts ? nil : try status().stamp.device
        return try Self.open(relative.components[...], in: descriptor.rawValue, flags, mode: mode, keepingTo: device)
    }

    private static func open(
        _ components: ArraySlice<Path>, in directory: Int32, _ flags: Int32, mode: UInt32, keepingTo device: UInt64?
    ) throws(Errno) -> Descriptor {
        guard let first = components.first else { throw .invalid }
        let rest = components.dropFirst()
        let onTheWay = FILES_O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
        let opened = try openNext(first, in: directory, rest.isEmpty ? flags : onTheWay, mode)
        if let device, try opened.status().stamp.device != device { throw .crossDevice }
        if rest.isEmpty { return opened }
        return try open(rest, in: opened.rawValue, flags, mode: mode, keepingTo: device)
    }

    private static func openNext(
        _ name: Path, in directory: Int32, _ flags: Int32, _ mode: UInt32
    ) throws(Errno) -> Descriptor {
        let number = try unsafe name.withCString { name throws(Errno) in
            do throws(Errno) {
                return try retryingInterrupted { unsafe openat(directory, name, flags, mode_t(mode)) }
            } catch .notDirectory {
                // O_DIRECTORY | O_NOFOLLOW says ENOTDIR of a symbolic link, where openat2 says ELOOP.
                var found = stat()
                let isLink =
                    unsafe fstatat(directory, name, &found, AT_SYMLINK_NOFOLLOW) == 0
                    && found.st_mode & S_IFMT == S_IFLNK
                throw isLink ? .loop : .notDirectory
            }
        }
        return Descriptor(adopting: number)
    }

    /// Lends the folder that holds `relative`'s last component, and that component's name, for the calls that take
    /// the two apart; none of them follows a link in the last component. Safe: the pointer is good for the whole of `body`.
    @safe func withParent<Result>(
        of relative: Path, _ body: (_ directory: Int32, _ name: UnsafePointer<CChar>) throws(Errno) -> Result
    ) throws(Errno) -> Result {
        try relative.requireBelow()
        let name = relative.name
        guard !name.isEmpty else { throw .invalid }
        let parent = relative.parent
        if parent.isEmpty {
            return try unsafe name.withCString { name throws(Errno) in try unsafe body(descriptor.rawValue, name) }
        }
        let held = try open(parent, FILES_O_PATH | O_DIRECTORY)
        return try unsafe name.withCString { name throws(Errno) in try unsafe body(held.rawValue, name) }
    }
}

extension Path {
    /// A NUL would end the name early and so lead to another file.
    func requireNoNUL() throws(Errno) {
        guard !isEmpty else { throw .noEntry }
        guard !bytes.contains(0) else { throw .invalid }
    }

    /// - Throws: ``Errno/crossDevice``, as RESOLVE_BENEATH does, for an absolute path or one with `..`.
    func requireBelow() throws(Errno) {
        try requireNoNUL()
        guard !isAbsolute, !components.contains(Path("..")) else { throw .crossDevice }
    }
}
