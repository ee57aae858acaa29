import CMicrohttpd
package import Files
import Glibc

/// Who is at the other end of a Unix socket, as the kernel remembers it from the moment of connect(2); unix(7).
package struct Peer: Hashable, Sendable {
    package var pid: Int32
    package var uid: UInt32
    package var gid: UInt32
    /// The supplementary groups of the process; nil where the kernel does not tell (SO_PEERGROUPS, Linux 4.13).
    package var groups: Set<UInt32>?

    package init(pid: Int32, uid: UInt32, gid: UInt32, groups: Set<UInt32>?) {
        self.pid = pid
        self.uid = uid
        self.gid = gid
        self.groups = groups
    }

    /// Asks the kernel about a connected socket.
    package init(of socket: Int32) throws(Errno) {
        var credentials = shim_peer()
        guard unsafe shim_peer_credentials(socket, &credentials) == 0 else { throw .last }
        self.init(pid: credentials.pid, uid: credentials.uid, gid: credentials.gid, groups: Self.groups(of: socket))
    }

    private static func groups(of socket: Int32) -> Set<UInt32>? {
        // NGROUPS_MAX is 65,536, yet hardly anybody is in more than a handful.
        for room in [64, 65_536] {
            var groups = [UInt32](repeating: 0, count: room)
            let count = unsafe shim_peer_groups(socket, &groups, UInt32(room))
            if count >= 0 { return Set(groups.prefix(Int(count))) }
            if count != -ERANGE { return nil }
        }
        return nil
    }
}
