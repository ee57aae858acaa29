internal import Glibc
internal import PhotoModel

/// The groups a name may mean. A group that does not exist is found here, with file and line, and not when the first
/// photo cannot be given to it.
struct GroupNames: Sendable {
    let exists: @Sendable (String) -> Bool

    /// Those of this machine; see getgrnam(3).
    static let system = GroupNames { name in
        var group = unsafe group()
        var found: UnsafeMutablePointer<group>?
        var buffer = [CChar](repeating: 0, count: 4096)
        while true {
            let size = buffer.count
            let code = unsafe getgrnam_r(name, &group, &buffer, size, &found)
            // A directory service that is away is no reason to refuse the file: only a clear no is one.
            guard code == ERANGE, size < 1 << 20 else { return unsafe code != 0 || found != nil }
            buffer = [CChar](repeating: 0, count: size * 4)
        }
    }

    /// Takes every name.
    static let all = GroupNames { _ in true }

    func check(_ name: String) throws(Misfit) {
        guard name.isEmpty || exists(name) else {
            throw Misfit("there is no group \"\(name)\"", hint: "make it with `groupadd --system \(name)`")
        }
    }
}

/// An IANA name, known to the machine when it has the database; see tzfile(5).
func checkTimeZone(_ name: String) throws(Misfit) {
    guard !name.isEmpty else { return }
    let wellFormed =
        name.utf8.count <= 64 && !name.contains("..") && name.first != "/" && name.last != "/"
        && name.utf8.allSatisfy { byte in
            (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
                || [0x2B, 0x2D, 0x2F, 0x5F].contains(byte)  // + - / _
        }
    let database = "/usr/share/zoneinfo"
    let isKnown = { unsafe access(database, F_OK) != 0 || access(database + "/" + name, R_OK) == 0 }
    guard wellFormed, isKnown() else {
        throw Misfit("there is no time zone \"\(name)\"", hint: "write an IANA name such as \"Europe/Berlin\"")
    }
}
