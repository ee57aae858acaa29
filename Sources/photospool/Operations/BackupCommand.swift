internal import ControlAPI
internal import Files
internal import PhotoModel

extension Command {
    static let backup = Command(
        name: "backup",
        summary: "copy the state into the library, and to a file",
        operands: [Operand(name: "FILE", count: .optional, completion: .files)],
        options: [Following.noWait],
        details: [
            "The service puts a copy of its state, whole and checked, into .photospool/backup/ of the library while it goes"
                + " on working, once a day by itself and whenever it is asked to; it keeps the last 7 of each. With FILE"
                + " that copy is then copied to FILE, which must not be there yet; in a folder it keeps its name. The copy"
                + " in the library belongs to the service's user, so FILE needs root.",
            "To go back to one: docs/recovery.md.",
        ],
        examples: [
            .init("photospool backup", "beside the photos"),
            .init("sudo photospool backup /mnt/usb/", "and to another disk"),
        ]
    ) { invocation throws(Failure) in
        let target = invocation.operands.first.map(absolute)
        if target != nil, invocation.has("no-wait") {
            throw .usage("FILE cannot be written without waiting for the backup.", see: invocation.names)
        }
        if let target { try BackupCopy.refuse(target) }
        let following = Following(invocation: invocation, unit: "pages")
        guard let ended = try following.run(.backup) else { return .ok }
        guard ended.state == "done", let place = ended.results["path"] else {
            return try following.report(ended, nothingFound: "")
        }
        var sentence = "The state was copied to \(SafeText.of(place))."
        if let target {
            let copied = try BackupCopy(source: Path(place)).write(to: target)
            sentence = "The state was copied to \(SafeText.of(copied)), and lies at \(SafeText.of(place)) too."
        }
        return try following.report(ended, nothingFound: sentence)
    }
}

/// A backup on its way from the library to a place of the user's.
struct BackupCopy {
    let source: Path

    /// Before anything is made: nothing is ever written over.
    static func refuse(_ target: Path) throws(Failure) {
        do throws(Errno) {
            let folder = try Folder(opening: target.parent)
            if try !folder.contains(target.name) { return }
            if try folder.isFolder(target.name) { return }
        } catch { throw failure(target, error) }
        throw Failure(
            .failed, code: Problem.Code.conflict.rawValue, title: Problem.Code.conflict.title,
            "\(SafeText.of(target)) is there already.", todo: "Name another file, or a folder.")
    }

    /// - Returns: the file, which is durable and was read back.
    func write(to target: Path) throws(Failure) -> Path {
        let original: Descriptor
        do throws(Errno) {
            original = try Folder(opening: source.parent).openForReading(source.name)
        } catch {
            throw Failure(
                error == .accessDenied ? .notPermitted : .failed, code: Problem.Code.libraryPermission.rawValue,
                title: Problem.Code.libraryPermission.title,
                "The backup was made, but \(SafeText.of(source)) cannot be read: \(error.description).",
                todo: "Copy it as root: sudo cp \(SafeText.of(source)) \(SafeText.of(target))")
        }
        let file: Path
        let folder: Folder
        do throws(Errno) {
            let isFolder = try Folder(opening: target.parent).isFolder(target.name)
            file = isFolder ? target / source.name : target
            folder = try Folder(opening: file.parent)
        } catch { throw Self.failure(target, error) }
        let unfinished = Path(bytes: Array(file.name.bytes.prefix(240)) + Array(".unfinished".utf8))
        do throws(CopyFailure) {
            try folder.keepCopy(of: original, as: file.name, unfinished: unfinished, mode: 0o600)
        } catch {
            switch error {
            case .source(let errno): throw Self.failure(source, errno)
            case .destination(let errno): throw Self.failure(file, errno)
            case .cancelled: throw Failure(.interrupted, title: "Interrupted", "Interrupted.")
            }
        }
        return file
    }

    private static func failure(_ path: Path, _ errno: Errno) -> Failure {
        Failure(
            errno == .accessDenied ? .notPermitted : .failed, title: "Backup not copied",
            "Could not write \(SafeText.of(path)): \(errno.description).", todo: "Name a file that you may make.")
    }
}

extension Folder {
    /// Whether a folder of this name is there.
    fileprivate func isFolder(_ name: Path) throws(Errno) -> Bool {
        do throws(Errno) { return try status(of: name).kind == .directory } catch .noEntry { return false }
    }
}
