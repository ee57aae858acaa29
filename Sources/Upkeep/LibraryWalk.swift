import Files
import Ingest
import PhotoModel

/// Goes through the files of the library that are not the daemon's own, folder by folder in the order of their names.
struct LibraryWalk {
    let library: Library
    /// Below it; empty for everything.
    var start = Path(bytes: [])

    /// - Parameter body: gets each file's path below the library. Hidden names are passed over, links not followed.
    func run(
        _ run: OperationRun, _ body: (Path, FileStatus) throws(OperationRun.Ended) -> Void
    ) throws(OperationRun.Ended) {
        var rest = [start]
        while let folder = rest.popLast() {
            try run.check()
            var files: [Path] = []
            var folders: [Path] = []
            do throws(Errno) {
                try library.root.folder(at: folder).forEachEntry { name, kind throws(Errno) in
                    if name.bytes.first == UInt8(ascii: ".") { return true }
                    if kind == .regular { files.append(name) }
                    if kind == .directory { folders.append(name) }
                    return true
                }
            } catch {
                if error == .noEntry { continue }
                throw .failed(.library(folder, error, doing: "list"))
            }
            for name in files.sorted() {
                let path = folder / name
                let status: FileStatus
                do throws(Errno) { status = try library.root.status(of: path) } catch {
                    if error == .noEntry { continue }
                    throw .failed(.library(path, error, doing: "look at"))
                }
                if status.kind == .regular { try body(path, status) }
            }
            for name in folders.sorted().reversed() { rest.append(folder / name) }
        }
    }
}
