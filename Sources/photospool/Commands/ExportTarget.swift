internal import Files
internal import Glibc
internal import PhotoModel

/// Where an export goes: a name that gets a whole file or none, and that nobody has unless it may be taken away.
struct ExportTarget {
    let path: Path
    private let replaces: Bool

    /// - Parameter replaces: whether a file of that name gives way; a symbolic link does so itself, not what it leads to.
    /// - Throws: where a file of that name is and may not go, or where none can be made.
    init(_ name: Path, replaces: Bool) throws(Failure) {
        path = Command.absolute(name)
        self.replaces = replaces
        do throws(Errno) {
            let folder = try Folder(opening: path.parent)
            guard try folder.contains(path.name), !replaces else { return }
        } catch { throw Self.failure(path, error) }
        throw Self.taken(path)
    }

    func write(_ bytes: [UInt8]) throws(Failure) {
        // Of another export to the same name, or of one that was killed, nothing is touched.
        let mark = ".\(getpid())-\(String(UInt32.random(in: .min ... .max), radix: 16)).unfinished"
        let draft = Path(bytes: Array(path.name.bytes.prefix(200)) + Array(mark.utf8))
        do throws(Errno) {
            let folder = try Folder(opening: path.parent)
            let file = try folder.create(draft, mode: nil)
            do throws(Errno) {
                try file.write(bytes)
                try file.makeDurable()
                if replaces {
                    try folder.renameReplacing(draft, to: path.name, in: folder)
                } else {
                    try folder.renameNoReplace(draft, to: path.name, in: folder)
                }
            } catch {
                do throws(Errno) { try folder.unlink(draft) } catch _ {}  // what failed is said; this is only tidying
                throw error
            }
        } catch .exists {
            throw Self.taken(path)
        } catch {
            throw Self.failure(path, error)
        }
    }

    private static func taken(_ path: Path) -> Failure {
        Failure(
            .failed, code: Problem.Code.conflict.rawValue, title: Problem.Code.conflict.title,
            "\(SafeText.of(path)) is there already.", todo: "Name another file with -o, or use --force.")
    }

    private static func failure(_ path: Path, _ errno: Errno) -> Failure {
        Failure(
            errno == .accessDenied ? .notPermitted : .failed, title: "Not written",
            "Could not write \(SafeText.of(path)): \(errno.description).", todo: "Name a file that you may make.")
    }
}
