import Files
import Ingest
import PhotoModel
import Store

/// Files of the library that the catalog does not know: put there by somebody else, or left by a fault.
struct ForeignFiles {
    let store: Store
    let library: Library

    /// So many are named; more of them are one finding.
    static let most = 10_000

    func look(_ run: OperationRun) throws(OperationRun.Ended) {
        var count = 0
        try LibraryWalk(library: library).run(run) { path, _ throws(OperationRun.Ended) in
            // A commit puts files in place before it lists them: so the list is asked again after the commits are.
            let isKnown = try run.orEnd { () throws(Problem) in
                let isListed = try store.isListed(path)
                if isListed { return true }
                if try store.isBeingCommitted(path) { return true }
                return try store.isListed(path)
            }
            if isKnown { return }
            count += 1
            if count <= Self.most {
                run.find(
                    Operation.Finding(
                        "foreign", path: path,
                        "\(SafeText.of(path)) is not in the catalog; `photospool adopt` takes it in."))
            }
        }
        if count > Self.most {
            run.find(
                Operation.Finding(
                    "foreign", path: nil, "\(count - Self.most) further files are not in the catalog."))
        }
    }
}

/// Goes through the files of the library that are not the daemon's own, folder by folder in the order of their names.
struct LibraryWalk {
    let library: Library

    /// - Parameter body: gets each file's path below the library. Hidden names are passed over, links not followed.
    func run(
        _ run: OperationRun, _ body: (Path, FileStatus) throws(OperationRun.Ended) -> Void
    ) throws(OperationRun.Ended) {
        var rest = [Path(bytes: [])]
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
