import Files
import Ingest
import PhotoModel

/// The backups that lie in the library: `<schedule>-2026-05-17T07-00-00Z.db`, whose names sort by time.
struct BackupShelf {
    let library: Library

    private static let folder = LibraryLayout.backup
    private static let unfinished = Path(".unfinished")

    /// Makes the folder, and takes away what a death left in it.
    func prepare() throws(Problem) {
        try onShelf(Self.folder, doing: "prepare") { () throws(Errno) in
            try library.root.makeFolders(at: Self.folder, mode: 0o700)
            do throws(Errno) { try library.root.unlink(Self.folder / Self.unfinished) } catch .noEntry {}
        }
    }

    /// Copies a whole database here: durable, read back from the medium, under a name that was free.
    /// - Returns: its path below the library, and its size.
    func take(
        _ copy: Path, schedule: BackupOperation.Schedule, at time: Timestamp
    ) throws(Problem) -> (path: Path, bytes: Int64) {
        let size: Int64
        do throws(Errno) {
            size = try Folder(opening: copy.parent).status(of: copy.name).stamp.size
        } catch { throw Self.unreadable(error) }
        try library.requireRoom(for: size)
        for number in 1...1000 {
            let path = Self.folder / Self.name(schedule, at: time, number: number)
            do throws(CopyFailure) {
                try keep(copy, as: path)
                return (path, size)
            } catch {
                switch error {
                case .destination(.exists): continue
                case .destination(let errno): throw .library(path, errno, doing: "write")
                case .source(let errno): throw Self.unreadable(errno)
                case .cancelled: throw Problem(.libraryIO, "The backup was given up.")  // never: nobody cancels it
                }
            }
        }
        throw Problem(.libraryIO, "No free name was found for a backup in \(SafeText.of(Self.folder)).")
    }

    private func keep(_ copy: Path, as path: Path) throws(CopyFailure) {
        let source: Descriptor
        do throws(Errno) {
            source = try Folder(opening: copy.parent).openForReading(copy.name)
        } catch { throw .source(error) }
        let shelf: Folder
        do throws(Errno) { shelf = try library.root.folder(at: Self.folder) } catch { throw .destination(error) }
        try shelf.keepCopy(of: source, as: path.name, unfinished: Self.unfinished, mode: 0o640)
    }

    private static func unreadable(_ errno: Errno) -> Problem {
        Problem(.stateIO, "Could not read the copy of the state: \(errno.description).")
    }

    static func name(_ schedule: BackupOperation.Schedule, at time: Timestamp, number: Int) -> Path {
        let moment = String(time.rfc3339.prefix(19)).replacing(":", with: "-")
        return Path("\(schedule.rawValue)-\(moment)Z\(number == 1 ? "" : "-\(number)").db")
    }

    /// Leaves the youngest.
    func clear(_ schedule: BackupOperation.Schedule) throws(Problem) {
        var names: [Path] = []
        try onShelf(Self.folder, doing: "list") { () throws(Errno) in
            try library.root.folder(at: Self.folder).forEachEntry { name, kind throws(Errno) in
                if kind == .regular, Self.isOurs(name, schedule) { names.append(name) }
                return true
            }
        }
        for name in names.sorted().dropLast(BackupOperation.kept) {
            try onShelf(Self.folder / name, doing: "remove") { () throws(Errno) in
                try library.root.unlink(Self.folder / name)
            }
        }
    }

    /// What somebody put there under another name stays.
    static func isOurs(_ name: Path, _ schedule: BackupOperation.Schedule) -> Bool {
        let text = name.shown
        let prefix = schedule.rawValue + "-"
        guard text.hasPrefix(prefix), text.hasSuffix(".db") else { return false }
        let shape = text.dropFirst(prefix.count).prefix(20).map { $0.isNumber ? "0" : $0 }
        return String(shape) == "0000-00-00T00-00-00Z"
    }

    private func onShelf<Result: ~Copyable>(
        _ path: Path, doing what: String, _ body: () throws(Errno) -> Result
    ) throws(Problem) -> Result {
        do throws(Errno) { return try body() } catch { throw .library(path, error, doing: what) }
    }
}
