import CLinux
import Glibc
package import PhotoModel

/// A held directory, and the only door to what lies below it.
///
/// Every path given to it is relative and stays below it: absolute paths, `..`, symbolic links and magic links are
/// refused wherever they stand (openat2(2) with RESOLVE_BENEATH and RESOLVE_NO_SYMLINKS; component by component with
/// O_NOFOLLOW where a kernel or a container has no openat2). Holding it, rather than its path, means that a directory
/// moved or mounted over does not lead a half-done import somewhere else. An empty path is the folder itself.
package struct Folder: ~Copyable, Sendable {
    package let descriptor: Descriptor
    /// Whether a mount point below is entered.
    let entersMounts: Bool

    /// Opens an absolute path, which may itself be or pass through symbolic links: it was configured, not found.
    /// - Parameter entersMounts: false keeps to the folder's own filesystem: a mount below it throws
    ///   ``Errno/crossDevice``.
    package init(opening path: Path, entersMounts: Bool = true) throws(Errno) {
        try path.requireNoNUL()
        let number = try unsafe path.withCString { name throws(Errno) in
            try retryingInterrupted { unsafe Glibc.open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
        }
        self.init(descriptor: Descriptor(adopting: number), entersMounts: entersMounts)
    }

    init(descriptor: consuming Descriptor, entersMounts: Bool) {
        self.descriptor = descriptor
        self.entersMounts = entersMounts
    }

    package func duplicate() throws(Errno) -> Folder {
        Folder(descriptor: try descriptor.duplicate(), entersMounts: entersMounts)
    }

    /// Holds a folder below this one.
    package func folder(at relative: Path) throws(Errno) -> Folder {
        let opened = try open(relative.isEmpty ? Path(".") : relative, O_RDONLY | O_DIRECTORY)
        return Folder(descriptor: opened, entersMounts: entersMounts)
    }

    /// Opens a file for reading without touching it: no access time where the owner (or CAP_FOWNER) lets us say so,
    /// no waiting for a pipe's other end or a lease.
    /// - Throws: ``Errno/notRegularFile`` for anything that is not a file with content, ``Errno/loop`` for a symbolic
    ///   link anywhere in the path.
    package func openForReading(_ relative: Path) throws(Errno) -> Descriptor {
        let flags = O_RDONLY | O_NONBLOCK | O_NOCTTY
        let file: Descriptor
        do throws(Errno) {
            file = try open(relative, flags | FILES_O_NOATIME)
        } catch .notPermitted {
            file = try open(relative, flags)  // somebody else's file: mounts with noatime or relatime remain
        }
        guard try file.status().kind == .regular else { throw .notRegularFile }
        return file
    }

    /// Makes a file that was not there, readable and writable by this process.
    /// - Parameters:
    ///   - mode: the permission bits as they shall be, whatever the umask; nil for 0666 as the umask, or the folder's
    ///     default ACL, leaves it.
    ///   - gid: nil leaves what the folder (setgid) or the process gives.
    /// - Throws: ``Errno/exists`` rather than write over something.
    package func create(_ relative: Path, mode: UInt32? = 0o640, gid: UInt32? = nil) throws(Errno) -> StagedFile {
        let first: mode_t = mode == nil ? 0o666 : 0o600
        let file = StagedFile(adopting: try open(relative, O_RDWR | O_CREAT | O_EXCL, mode: first))
        do throws(Errno) {
            if let gid { try file.setGroup(gid) }
            if let mode { try file.setMode(mode) }
        } catch {
            // Its name must not stay behind; the caller learns of the first failure, the sweep finds the rest.
            do throws(Errno) { try unlink(relative) } catch _ {}  // as just said
            throw error
        }
        return file
    }

    package func status() throws(Errno) -> FileStatus { try descriptor.status() }

    /// Whether it is a disk of its own: another one than the folder above it lies on, and than that of this number.
    package func isDisk(apartFrom device: UInt64) throws(Errno) -> Bool {
        var above = stat()
        // The one exception to what stays below: nothing is opened.
        try retryingInterrupted { unsafe fstatat(descriptor.rawValue, "..", &above, 0) }
        let own = try status().stamp.device
        return own != FileStatus(above).stamp.device && own != device
    }

    /// Of the name itself: a symbolic link is reported, not followed.
    package func status(of relative: Path) throws(Errno) -> FileStatus {
        if relative.isEmpty { return try status() }
        return try withParent(of: relative) { directory, name throws(Errno) in
            var found = stat()
            try retryingInterrupted { unsafe fstatat(directory, name, &found, AT_SYMLINK_NOFOLLOW) }
            return FileStatus(found)
        }
    }

    /// Whether the name is taken, by whatever.
    package func contains(_ relative: Path) throws(Errno) -> Bool {
        do throws(Errno) {
            _ = try status(of: relative)
            return true
        } catch .noEntry {
            return false
        }
    }

    package func unlink(_ relative: Path) throws(Errno) {
        try withParent(of: relative) { directory, name throws(Errno) in
            _ = try retryingInterrupted { unsafe unlinkat(directory, name, 0) }
        }
    }

    /// - Throws: ``Errno/notEmpty`` when something is in it.
    package func removeFolder(_ relative: Path) throws(Errno) {
        try withParent(of: relative) { directory, name throws(Errno) in
            _ = try retryingInterrupted { unsafe unlinkat(directory, name, AT_REMOVEDIR) }
        }
    }

    /// Returns once the names in this folder, made and removed, are on the medium.
    package func sync() throws(Errno) {
        do throws(Errno) {
            try descriptor.synchronize()
        } catch .invalid {
            // The filesystem has no such thing for directories (fsync(2), EINVAL); it keeps names by itself or never.
        }
    }
}
