import Files
import Glibc
import HTTP

/// Who may change something. Who may connect at all is decided by the socket's mode, and may read.
package struct Rights: Sendable {
    /// The daemon's own user.
    package var uid: UInt32
    package var controlGroup: UInt32
    /// Of a user, and the group he has now, whose process did not tell its groups.
    var groupsOfUser: @Sendable (_ uid: UInt32, _ gid: UInt32) -> Set<UInt32>

    package init(uid: UInt32, controlGroup: UInt32) {
        self.init(uid: uid, controlGroup: controlGroup, groupsOfUser: Self.groups(ofUser:and:))
    }

    init(
        uid: UInt32, controlGroup: UInt32,
        groupsOfUser: @escaping @Sendable (_ uid: UInt32, _ gid: UInt32) -> Set<UInt32>
    ) {
        self.uid = uid
        self.controlGroup = controlGroup
        self.groupsOfUser = groupsOfUser
    }

    /// Root, the daemon's user, and members of the control group. May ask a directory service, and so may wait.
    func mayChange(_ peer: Peer?) -> Bool {
        guard let peer else { return false }
        if peer.uid == 0 || peer.uid == uid || peer.gid == controlGroup { return true }
        // What the process has counts, as it does for files; the user database only where the kernel does not say.
        return (peer.groups ?? groupsOfUser(peer.uid, peer.gid)).contains(controlGroup)
    }

    private static func groups(ofUser uid: UInt32, and gid: UInt32) -> Set<UInt32> {
        let name = Accounts.userName(uid)
        var room: Int32 = 64
        while room <= 65_536 {
            var groups = [gid_t](repeating: 0, count: Int(room))
            var count = room
            let code = unsafe getgrouplist(name, gid, &groups, &count)
            if code >= 0 { return Set(groups.prefix(Int(count))) }
            room = max(count, room * 4)
        }
        return []
    }
}
