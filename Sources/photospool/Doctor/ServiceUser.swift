internal import Files
internal import Glibc
internal import PhotoModel

/// Who the service runs as, and what he may do with files.
struct ServiceUser: Sendable {
    /// What a question about a file came to.
    enum Answer: Hashable, Sendable {
        case yes
        case no(Errno)
        /// Why it could not be asked.
        case unknown(Errno)
    }

    let uid: UInt32
    let gid: UInt32
    /// Without `gid`.
    let groups: [UInt32]

    /// The name of one whom the unit names and the machine does not know; of him nothing can be asked.
    let missing: String?

    var name: String { SafeText.of(missing ?? Accounts.userName(uid)) }
    var isKnown: Bool { missing == nil }
    var isRoot: Bool { uid == 0 }

    func isMember(of group: UInt32) -> Bool { gid == group || groups.contains(group) }

    // MARK: Who it is

    init(missing name: String) {
        missing = name
        (uid, gid, groups) = (.max, .max, [])
    }

    /// An account, with the groups it has in the machine's records.
    init(uid: UInt32, more: [UInt32] = []) {
        missing = nil
        self.uid = uid
        let record = unsafe getpwuid(uid)
        gid = unsafe record.map { unsafe UInt32($0.pointee.pw_gid) } ?? (uid == geteuid() ? getegid() : uid)
        var list = [gid_t](repeating: 0, count: 256)
        var count = Int32(list.count)
        if unsafe record == nil || getgrouplist(record.map { unsafe $0.pointee.pw_name } ?? nil, gid, &list, &count) < 0
        {
            count = 0
        }
        groups = list.prefix(Int(max(0, count))).map { UInt32($0) } + more
    }

    /// A process that runs, from the text of /proc/PID/status; nil when that says something else.
    init?(processStatus text: String) {
        var numbers: [String: [UInt32]] = [:]
        for line in text.split(separator: "\n") {
            let parts = line.split(separator: ":", maxSplits: 1)
            guard parts.count == 2, ["Uid", "Gid", "Groups"].contains(parts[0]) else { continue }
            numbers[String(parts[0])] = parts[1].split { $0 == "\t" || $0 == " " }.compactMap { UInt32($0) }
        }
        // Real, effective, saved, filesystem.
        guard let uids = numbers["Uid"], let gids = numbers["Gid"], uids.count == 4, gids.count == 4 else { return nil }
        missing = nil
        uid = uids[1]
        gid = gids[1]
        groups = numbers["Groups"] ?? []
    }

    // MARK: What he may

    /// - Parameter mode: `R_OK`, `W_OK`, `X_OK` of access(2), together.
    func may(_ mode: Int32, _ path: Path) -> Answer { may(mode, [path])[0] }

    /// Asks the kernel in his name where that is possible (as he himself, or as root), which knows access lists and
    /// read-only mounts too; otherwise by owner, group and mode.
    func may(_ mode: Int32, _ paths: [Path]) -> [Answer] {
        guard isKnown else { return paths.map { _ in .unknown(Errno(rawValue: ESRCH)) } }
        if uid == geteuid() { return paths.map { Self.ask(mode, $0) } }
        guard geteuid() == 0 else { return paths.map { byModes(UInt32(mode), $0) } }
        return inHisName { paths.map { Self.ask(mode, $0) } } ?? paths.map { _ in .unknown(.notPermitted) }
    }

    private static func ask(_ mode: Int32, _ path: Path) -> Answer {
        let code = unsafe path.withCString { unsafe faccessat(AT_FDCWD, $0, mode, AT_EACCESS) }
        return code == 0 ? .yes : .no(.last)
    }

    /// Root becomes him for the length of `body`. The process has this one thread.
    /// - Returns: nil where root may not (a container without CAP_SETUID).
    private func inHisName<Result>(_ body: () -> Result) -> Result? {
        var kept = [gid_t](repeating: 0, count: 65_536)
        let count = unsafe getgroups(Int32(kept.count), &kept)
        guard count >= 0 else { return nil }
        let group = getegid()
        defer {
            // The saved ids are still root's, so this cannot be refused.
            _ = seteuid(0)
            _ = setegid(group)
            _ = unsafe setgroups(Int(count), &kept)
        }
        let his = ([gid] + groups).map { gid_t($0) }
        guard unsafe setgroups(his.count, his) == 0, setegid(gid) == 0, seteuid(uid) == 0 else { return nil }
        return body()
    }

    private func byModes(_ wanted: UInt32, _ path: Path) -> Answer {
        var found = stat()
        var folder = path.parent
        while !folder.isEmpty {
            guard unsafe folder.withCString({ unsafe stat($0, &found) }) == 0 else { return .unknown(.last) }
            guard allows(1, mode: UInt32(found.st_mode), owner: found.st_uid, group: found.st_gid) else {
                return .no(.accessDenied)
            }
            if folder == folder.parent { break }
            folder = folder.parent
        }
        guard unsafe path.withCString({ unsafe stat($0, &found) }) == 0 else {
            return Errno.last == .noEntry ? .no(.noEntry) : .unknown(.last)
        }
        return allows(wanted, mode: UInt32(found.st_mode), owner: found.st_uid, group: found.st_gid)
            ? .yes : .no(.accessDenied)
    }

    /// What owner, group and mode say; see path_resolution(7).
    /// - Parameter wanted: 4 to read, 2 to write, 1 to search.
    func allows(_ wanted: UInt32, mode: UInt32, owner: UInt32, group: UInt32) -> Bool {
        if isRoot { return true }
        let bits = owner == uid ? mode >> 6 : isMember(of: group) ? mode >> 3 : mode
        return bits & wanted == wanted
    }
}
