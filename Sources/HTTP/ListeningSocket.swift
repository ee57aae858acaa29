import CMicrohttpd
package import Files
import Glibc
package import PhotoModel

/// A Unix socket that takes connections. The file it made itself goes away with it; one handed over by systemd stays.
package struct ListeningSocket: ~Copyable, Sendable {
    let descriptor: Descriptor
    /// What was bound: removed at the end if the name still leads there.
    private let bound: (path: Path, device: UInt64, inode: UInt64)?

    /// Binds and listens.
    ///
    /// A socket that a dead process left behind is replaced; one that somebody listens on never is. Mode and group are
    /// set before anybody can connect: connect(2) is refused until listen(2).
    /// - Parameters:
    ///   - mode: permission bits; who may write to the file may connect.
    ///   - gid: nil leaves the process's.
    /// - Throws: `E_LOCKED` when somebody listens there, `E_CONFIG` for anything else.
    package init(at path: Path, mode: UInt32, gid: UInt32?) throws(Problem) {
        self = try Self.bound(to: path, mode: mode, gid: gid)
    }

    private static func bound(to path: Path, mode: UInt32, gid: UInt32?) throws(Problem) -> ListeningSocket {
        var address = sockaddr_un()
        let length = unsafe shim_unix_address(path.bytes, path.bytes.count, &address)
        guard length > 0, !path.bytes.contains(0) else {
            throw .socket(path, "its name has more than 107 bytes", todo: "Choose a shorter control.socket.")
        }
        try removeLeftover(at: path, address: address, length: length)
        let descriptor = try unixSocket(for: path)
        guard unsafe shim_bind(descriptor.rawValue, &address, length) == 0 else {
            throw .socket(path, Errno.last.description)
        }
        var found = stat()
        guard unsafe path.withCString({ unsafe lstat($0, &found) }) == 0 else {
            throw .socket(path, Errno.last.description)
        }
        // From here on the deinit takes the name away again, whatever fails later.
        let socket = ListeningSocket(descriptor, bound: (path, UInt64(found.st_dev), UInt64(found.st_ino)))
        try socket.prepare(path, mode: mode, gid: gid)
        return socket
    }

    private func prepare(_ path: Path, mode: UInt32, gid: UInt32?) throws(Problem) {
        if let gid, unsafe path.withCString({ unsafe lchown($0, uid_t.max, gid) }) != 0 {
            throw .socket(
                path, "its group could not be set: \(Errno.last)",
                todo: "Choose a control.group that the service's user is in.")
        }
        guard unsafe path.withCString({ unsafe chmod($0, mode_t(mode)) }) == 0 else {
            throw .socket(path, "its mode could not be set: \(Errno.last)")
        }
        guard listen(descriptor.rawValue, 128) == 0 else { throw .socket(path, Errno.last.description) }
    }

    private init(_ descriptor: consuming Descriptor, bound: (path: Path, device: UInt64, inode: UInt64)?) {
        self.descriptor = descriptor
        self.bound = bound
    }

    /// Takes over a socket that is bound and listening already: systemd.socket(5).
    package init(handedOver descriptor: consuming Descriptor) throws(Problem) {
        let number = descriptor.rawValue
        guard Self.option(SO_ACCEPTCONN, of: number) == 1, Self.option(SO_DOMAIN, of: number) == AF_UNIX,
            Self.option(SO_TYPE, of: number) == Int32(SOCK_STREAM.rawValue)
        else {
            throw Problem(
                .config, "The socket handed over by the service manager is not a listening Unix stream socket.",
                todo: "Use ListenStream= with a path in photospool.socket.")
        }
        _ = fcntl(number, F_SETFD, FD_CLOEXEC)
        _ = fcntl(number, F_SETFL, fcntl(number, F_GETFL) | O_NONBLOCK)
        self.init(descriptor, bound: nil)
    }

    deinit {
        guard let bound else { return }
        var found = stat()
        unsafe bound.path.withCString { name in
            guard unsafe lstat(name, &found) == 0, UInt64(found.st_dev) == bound.device,
                UInt64(found.st_ino) == bound.inode
            else { return }
            _ = unsafe unlink(name)  // a leftover is replaced at the next start
        }
    }

    private static func option(_ name: Int32, of socket: Int32) -> Int32? {
        var value: Int32 = -1
        var length = socklen_t(MemoryLayout<Int32>.size)
        guard unsafe getsockopt(socket, SOL_SOCKET, name, &value, &length) == 0 else { return nil }
        return value
    }

    private static func unixSocket(for path: Path) throws(Problem) -> Descriptor {
        let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        let number = socket(AF_UNIX, type, 0)
        guard number >= 0 else { throw .socket(path, Errno.last.description) }
        return Descriptor(adopting: number)
    }

    private static func removeLeftover(at path: Path, address: sockaddr_un, length: socklen_t) throws(Problem) {
        var found = stat()
        guard unsafe path.withCString({ unsafe lstat($0, &found) }) == 0 else {
            let failure = Errno.last
            if failure == .noEntry { return }
            throw .socket(path, failure.description)
        }
        guard found.st_mode & S_IFMT == S_IFSOCK else {
            throw .socket(
                path, "something that is not a socket has that name",
                todo: "Remove it, or choose another control.socket.")
        }
        let probe = try unixSocket(for: path)
        var address = address
        let failure = unsafe shim_connect(probe.rawValue, &address, length) == 0 ? nil : Errno.last
        if failure == nil || failure == .wouldBlock {  // EAGAIN: somebody is there whose backlog is full
            throw Problem(
                .locked, "Another process listens on the control socket \(SafeText.of(path)).",
                todo: "Stop it, or choose another control.socket.")
        }
        if let failure, failure != Errno(rawValue: ECONNREFUSED) {
            throw .socket(path, "a leftover could not be looked at: \(failure)")
        }
        guard unsafe path.withCString({ unsafe unlink($0) }) == 0 || Errno.last == .noEntry else {
            throw .socket(path, "a leftover could not be removed: \(Errno.last)")
        }
    }
}

extension Problem {
    fileprivate static func socket(_ path: Path, _ cause: String, todo: String? = nil) -> Problem {
        Problem(
            .config, "Could not open the control socket \(SafeText.of(path)): \(cause).",
            todo: todo ?? "Check control.socket and the permissions of its folder.")
    }
}
