internal import Files
internal import Glibc
internal import PhotoModel

/// A folder that is to be checked, opened if that is possible without being held up.
struct Place: ~Copyable {
    /// Why it could not be opened.
    enum Refusal: Error {
        case absent
        case closed(Errno)
        /// On a share whose server is gone, say.
        case silent
    }

    let path: Path
    let folder: Folder
    let status: FileStatus
    let filesystem: FilesystemInfo

    static func open(_ path: Path) throws(Refusal) -> Place {
        if isSilent(path) { throw .silent }
        let folder = try folder(path)
        let status = try status(of: folder)
        let filesystem = try filesystem(of: folder)
        return Place(path: path, folder: folder, status: status, filesystem: filesystem)
    }

    private static func folder(_ path: Path) throws(Refusal) -> Folder {
        do throws(Errno) { return try Folder(opening: path) } catch {
            throw error == .noEntry || error == .notDirectory ? .absent : .closed(error)
        }
    }

    private static func status(of folder: borrowing Folder) throws(Refusal) -> FileStatus {
        do throws(Errno) { return try folder.status() } catch { throw .closed(error) }
    }

    private static func filesystem(of folder: borrowing Folder) throws(Refusal) -> FilesystemInfo {
        do throws(Errno) { return try folder.filesystem() } catch { throw .closed(error) }
    }

    /// By the list of mounts alone: nothing is touched, so nothing can hang.
    private static func isRemote(_ path: Path) -> Bool {
        do throws(Errno) {
            let above = try Mounts().read().filter {
                $0.point == path || path.below($0.point) != nil || $0.point == Path("/")
            }
            let deepest = above.enumerated().max {
                ($0.element.point.components.count, $0.offset) < ($1.element.point.components.count, $1.offset)
            }
            return deepest?.element.isRemote ?? false
        } catch {
            return false  // no /proc: asked without this care
        }
    }

    /// Whether whatever lies there does not answer. Another process may hang at it in our place.
    static func isSilent(_ path: Path) -> Bool {
        guard isRemote(path), let program = Tool.find("stat") else { return false }
        do throws(Tool.Failure) {
            _ = try Tool.run(program, ["-f", "--", path.shown])
            return false
        } catch {
            return if case .tooLong = error { true } else { false }
        }
    }

    /// Inodes that are free, and all; see statvfs(3).
    var inodes: (available: UInt64, total: UInt64)? {
        var found = statvfs()
        guard unsafe fstatvfs(folder.descriptor.rawValue, &found) == 0 else { return nil }
        return (UInt64(found.f_favail), UInt64(found.f_files))
    }

    /// `photospool:photos, mode 2750`.
    var owners: String {
        let mode = String(status.mode, radix: 8)
        return "\(SafeText.of(Accounts.userName(status.uid))):\(SafeText.of(Accounts.groupName(status.gid))), mode "
            + String(repeating: "0", count: max(0, 4 - mode.count)) + mode
    }
}

extension Doctor {
    /// A place that is there and could not be opened: this user may not, or something is wrong with what it lies on.
    static func closed(_ check: String, _ what: String, _ errno: Errno) -> Diagnosis {
        let detail = "\(what) could not be opened: \(errno)."
        return [.accessDenied, .notPermitted].contains(errno)
            ? .unknown(check, detail)
            : .fault(check, detail, todo: "Check the disk or share it lies on; `dmesg` tells what the kernel met.")
    }

    /// What the service's user may not do there; nil when he may do all of it, and a diagnosis of its own when that could
    /// not be asked.
    func refusal(
        _ check: String, _ mode: Int32, _ path: Path, _ what: String, todo: String
    ) -> Diagnosis? {
        let user = installed.user
        switch user.may(mode, path) {
        case .yes: return nil
        case .no(let errno):
            return .fault(
                check, "The service's user \(user.name) may not \(what) \(SafeText.of(path)): \(errno).", todo: todo)
        case .unknown(let errno):
            let why = user.isKnown ? errno.description : "there is no user \(user.name)"
            return .unknown(
                check, "Whether the service's user may \(what) \(SafeText.of(path)) could not be asked: \(why).",
                todo: user.isKnown ? Diagnosis.asRoot : "Make the user first: systemd-sysusers")
        }
    }
}
