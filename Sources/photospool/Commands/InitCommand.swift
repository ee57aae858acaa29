internal import Config
internal import ControlAPI
internal import Files
internal import Glibc
internal import PhotoModel

extension Command {
    static let initialise = Command(
        name: "init",
        summary: "make a folder a library, or the mirror of one",
        operands: [Operand(name: "LIBRARY", count: .optional, completion: .folders)],
        options: [
            Option("mirror", "make it a mirror of the configured library"),
            Option("existing", "the folder may already hold files; they stay as they are"),
            .config,
        ],
        details: [
            "Puts the marker .photospool/library.json into the folder, and makes the folder first when it is not there."
                + " The service writes only into a folder with its marker, so that an empty mount point is never taken"
                + " for the disk that belongs on it. Without LIBRARY it is library.path of the configuration.",
            "With --mirror the marker is .photospool/mirror.json, and without LIBRARY the folder is library.mirror of the"
                + " configuration. A service that knows another mirror takes this one over and looks at everything in it anew.",
            "The service makes a mirror by itself only of an empty disk, mounted there. Any other folder takes this command,"
                + " which warns of it.",
            "A folder that is a library, or a mirror of this one, already is left as it is. The service need not run.",
        ],
        examples: [
            .init("sudo photospool init /srv/photos", "a new library"),
            .init("sudo photospool init --existing /srv/photos", "one that holds photos already"),
            .init("sudo photospool init --mirror /mnt/second", "another disk for the mirror"),
        ]
    ) { invocation throws(Failure) in
        let isMirror = invocation.has("mirror")
        let path = try library(named: invocation, isMirror: isMirror)
        let original = isMirror ? try libraryID(invocation, notAt: path) : nil
        let made = try makeFolder(path)
        let (marker, isNew) = try mark(path, acceptingFiles: invocation.has("existing"), mirrorOf: original)
        let (what, id) = (isMirror ? "a mirror" : "a library", marker.mirrorID ?? marker.id)
        let console = invocation.console
        if isMirror, isNew, try !isOtherDisk(path, invocation) {
            console.note(
                "Warning: \(SafeText.of(path)) is no disk of its own. If one is to be mounted there, mount it and run this"
                    + " again; what takes the library's disk must not take the mirror.")
        }
        if invocation.wantsJSON {
            console.print(
                json: try Daemon.encode(
                    InitBody(path: path.shown, id: id, createdAt: marker.createdAt, isNew: isNew)))
        } else {
            let shown = SafeText.of(path)
            console.say(isNew ? "\(shown) is \(what) now." : "\(shown) is \(what) already.")
            console.explain("\(isMirror ? "Mirror" : "Library") id \(id)\(made ? ", folder newly made" : "").")
            if isNew {
                console.explain(
                    "In the configuration: [library] \(isMirror ? "mirror" : "path") = \"\(shown)\"; then: "
                        + (isMirror ? "photospool reload" : "systemctl start photospool"))
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

    private static func library(named invocation: Invocation, isMirror: Bool) throws(Failure) -> Path {
        if let path = invocation.operands.first { return absolute(path) }
        let settings: LibrarySettings
        do throws(Failure) {
            settings = try configuration(invocation).settings.library
        } catch {
            var failure = error
            failure.recovery = "Correct it, or name the folder: photospool init LIBRARY"
            throw failure
        }
        if !isMirror { return settings.path }
        guard !settings.mirror.isEmpty else {
            throw Failure(
                .usage,
                Problem(
                    .badRequest, "The configuration names no mirror.",
                    todo: "Name the folder: photospool init --mirror FOLDER"))
        }
        return settings.mirror
    }

    /// The id of the configured library, for its mirror.
    private static func libraryID(_ invocation: Invocation, notAt mirror: Path) throws(Failure) -> String {
        let path = try configuration(invocation).settings.library.path
        let shown = SafeText.of(path)
        do throws(Problem) {
            guard path != mirror else {
                throw Problem(
                    .overlap, "\(shown) is the library itself.", todo: "Choose a folder on another disk for the mirror."
                )
            }
            if let marker = try LibraryMarker.read(in: try openLibrary(path), shown: path) { return marker.id }
            throw Problem(
                .marker, "\(shown) carries no library marker, so nothing can be a mirror of it.",
                todo: "Mount the library's disk, or run `photospool init` first.")
        } catch {
            throw Failure(error.code == .libraryPermission ? .notPermitted : .failed, error)
        }
    }

    /// Whether it begins a filesystem that is not the library's.
    private static func isOtherDisk(_ mirror: Path, _ invocation: Invocation) throws(Failure) -> Bool {
        let library = try configuration(invocation).settings.library.path
        do throws(Errno) {
            let folder = try Folder(opening: mirror)
            let device = try Folder(opening: library).status().stamp.device
            return try folder.isDisk(apartFrom: device)
        } catch { return true }  // nobody knows, and the marker stands
    }

    private static func mark(
        _ path: Path, acceptingFiles: Bool, mirrorOf original: String?
    ) throws(Failure) -> (marker: LibraryMarker, isNew: Bool) {
        do throws(Problem) {
            let library = try openLibrary(path)
            let role: LibraryMarker.Role = original == nil ? .library : .mirror
            if let standing = try LibraryMarker.read(role, in: library, shown: path) {
                guard original == nil || standing.id == original else {
                    throw Problem(
                        .conflict, "\(SafeText.of(path)) is the mirror of another library (\(standing.id)).",
                        todo: "Name another folder; or remove its marker, if that library is given up.")
                }
                return (standing, false)
            }
            if !acceptingFiles { try refuseFilled(library, path) }
            return (try LibraryMarker.create(in: library, mirrorOf: original, shown: path, now: .now), true)
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
