internal import Config
internal import ControlAPI
internal import Files
internal import Glibc
internal import PhotoModel

extension Command {
    static let initialise = Command(
        name: "init",
        summary: "make a folder a library",
        operands: [Operand(name: "LIBRARY", count: .optional, completion: .folders)],
        options: [
            Option("existing", "the folder may already hold files; they stay as they are"),
            .config,
        ],
        details: [
            "Puts the marker .photospool/library.json into the folder, and makes the folder first when it is not there."
                + " The service writes only into a folder with its marker, so that an empty mount point is never taken"
                + " for the disk that belongs on it. Without LIBRARY it is library.path of the configuration.",
            "A folder that is a library already is left as it is. The service need not run.",
        ],
        examples: [
            .init("sudo photospool init /srv/photos", "a new library"),
            .init("sudo photospool init --existing /srv/photos", "one that holds photos already"),
        ]
    ) { invocation throws(Failure) in
        let path = try library(named: invocation)
        let made = try makeFolder(path)
        let (marker, isNew) = try mark(path, acceptingFiles: invocation.has("existing"))
        let console = invocation.console
        if invocation.wantsJSON {
            console.print(
                json: try Daemon.encode(
                    InitBody(path: path.shown, id: marker.id, createdAt: marker.createdAt, isNew: isNew)))
        } else {
            let shown = SafeText.of(path)
            console.say(isNew ? "\(shown) is a library now." : "\(shown) is a library already.")
            console.explain("Library id \(marker.id)\(made ? ", folder newly made" : "").")
            if isNew {
                console.explain("In the configuration: [library] path = \"\(shown)\"; then: systemctl start photospool")
            }
        }
        return .ok
    }

    private struct InitBody: Encodable {
        var path: String
        var id: String
        var createdAt: String
        var isNew: Bool

        private enum CodingKeys: String, CodingKey {
            case path, id
            case createdAt = "created_at"
            case isNew = "created"
        }
    }

    private static func library(named invocation: Invocation) throws(Failure) -> Path {
        if let path = invocation.operands.first { return absolute(path) }
        do throws(Failure) {
            return try configuration(invocation).settings.library.path
        } catch {
            var failure = error
            failure.recovery = "Correct it, or name the folder: photospool init LIBRARY"
            throw failure
        }
    }

    private static func mark(
        _ path: Path, acceptingFiles: Bool
    ) throws(Failure) -> (marker: LibraryMarker, isNew: Bool) {
        do throws(Problem) {
            let library = try openLibrary(path)
            if let standing = try LibraryMarker.read(in: library, shown: path) { return (standing, false) }
            if !acceptingFiles { try refuseFilled(library, path) }
            return (try LibraryMarker.create(in: library, shown: path, now: .now), true)
        } catch {
            throw Failure(error.code == .libraryPermission ? .notPermitted : .failed, error)
        }
    }

    /// Makes the folder when it is not there; one made by root belongs to the service's user.
    private static func makeFolder(_ path: Path) throws(Failure) -> Bool {
        guard unsafe path.withCString({ unsafe mkdir($0, 0o750) }) == 0 else {
            let reason = Errno.last
            if reason == .exists { return false }
            let status: ExitStatus = reason == .accessDenied ? .notPermitted : .failed
            throw Failure(
                status, code: Problem.Code.libraryPermission.rawValue, title: Problem.Code.libraryPermission.title,
                "Could not make the folder \(SafeText.of(path)): \(reason.description).",
                todo: reason == .noEntry ? "Make the folder above it first." : "Run it as root: sudo photospool init")
        }
        if geteuid() == 0, let user = unsafe getpwnam("photospool") {
            // Not followed: the folder was made just now. Should it fail, the service says what it cannot write.
            _ = unsafe path.withCString { unsafe lchown($0, user.pointee.pw_uid, user.pointee.pw_gid) }
        }
        return true
    }

    private static func openLibrary(_ path: Path) throws(Problem) -> Folder {
        do throws(Errno) {
            return try Folder(opening: path)
        } catch {
            throw Problem(
                error == .accessDenied ? .libraryPermission : .libraryIO,
                "Could not open \(SafeText.of(path)): \(error.description).",
                todo: error == .accessDenied ? "Run it as root: sudo photospool init" : "Name a folder.")
        }
    }

    private static func refuseFilled(_ library: borrowing Folder, _ path: Path) throws(Problem) {
        var name: Path?
        do throws(Errno) {
            try library.forEachEntry { entry, _ in
                // A fresh ext4 has lost+found and is empty all the same.
                if entry != Path("lost+found") { name = entry }
                return name == nil
            }
        } catch {
            throw Problem(.libraryIO, "Could not list \(SafeText.of(path)): \(error.description).")
        }
        guard let name else { return }
        throw Problem(
            .conflict, "\(SafeText.of(path)) is not empty: it holds \(SafeText.of(name)).",
            todo: name == LibraryMarker.folder
                ? "It was a library and lost its marker: put .photospool/library.json back from a backup, or give it a"
                    + " new identity with --existing."
                : "Name an empty folder, or use --existing to keep what is there and import beside it.")
    }
}
