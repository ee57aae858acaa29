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
            if try run.orEnd({ () throws(Problem) in try store.expects(path) }) { return }
            count += 1
            if count <= Self.most {
                run.find(
                    Operation.Finding(
                        "foreign", path: path,
                        "\(SafeText.of(path)) is not in the catalog"
                            + (library.role == .library ? "; `photospool adopt` takes it in." : ".")))
            }
        }
        if count > Self.most {
            run.find(
                Operation.Finding(
                    "foreign", path: nil, "\(count - Self.most) further files are not in the catalog."))
        }
    }
}

extension Store {
    /// Whether the catalog lists the file, or is about to. A commit puts files in place before it lists them: so the list is
    /// asked again after the commits are.
    func expects(_ path: Path) throws(Problem) -> Bool {
        if try isListed(path) { return true }
        if try isBeingCommitted(path) { return true }
        return try isListed(path)
    }
}
