import Glibc

/// Users and groups of the machine by name and number.
package enum Accounts {
    /// A group's number by its name, or by its number written out; nil when there is none.
    package static func groupID(named name: String) -> UInt32? {
        var record = unsafe group()
        let found = unsafe withRoom {
            unsafe getgrnam_r(name, &record, $0, $1, $2)
        } read: { found in
            unsafe found.pointee.gr_gid
        }
        return found ?? UInt32(name)
    }

    package static func userID(named name: String) -> UInt32? {
        var record = unsafe passwd()
        let found = unsafe withRoom {
            unsafe getpwnam_r(name, &record, $0, $1, $2)
        } read: { found in
            unsafe found.pointee.pw_uid
        }
        return found ?? UInt32(name)
    }

    /// The user's name, or the number when it has none.
    package static func userName(_ uid: UInt32) -> String {
        var record = unsafe passwd()
        let found = unsafe withRoom {
            unsafe getpwuid_r(uid, &record, $0, $1, $2)
        } read: { found in
            unsafe found.pointee.pw_name.map { unsafe String(cString: $0) }
        }
        return (found ?? nil) ?? String(uid)
    }

    /// The group's name, or the number when it has none.
    package static func groupName(_ gid: UInt32) -> String {
        var record = unsafe group()
        let found = unsafe withRoom {
            unsafe getgrgid_r(gid, &record, $0, $1, $2)
        } read: { found in
            unsafe found.pointee.gr_name.map { unsafe String(cString: $0) }
        }
        return (found ?? nil) ?? String(gid)
    }

    /// The `_r` calls want room for the record's texts and say ERANGE when it is too small. Whatever else they say
    /// (no such record, a directory service away) comes out as nil: these answers are for showing and configuration.
    @unsafe private static func withRoom<Record, Result>(
        look: (UnsafeMutablePointer<CChar>, Int, UnsafeMutablePointer<UnsafeMutablePointer<Record>?>) -> Int32,
        read: (UnsafeMutablePointer<Record>) -> Result
    ) -> Result? {
        var size = 1024
        while size <= 1 << 20 {
            let room = UnsafeMutablePointer<CChar>.allocate(capacity: size)
            defer { unsafe room.deallocate() }
            var found: UnsafeMutablePointer<Record>? = nil
            let code = unsafe look(room, size, &found)
            if code == ERANGE {
                size *= 4
            } else if code != EINTR {
                guard code == 0, let found = unsafe found else { return nil }
                return unsafe read(found)
            }
        }
        return nil
    }
}
