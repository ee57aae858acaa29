import Files
import Ingest
import PhotoModel
import Store

/// Writes down which bytes the library holds, for programs that know nothing of the catalog, into
/// `.photospool/manifests/`.
///
/// Arguments: `format`, `sha256` (as sha256sum(1) checks it, from the catalog) or `mhl` (ASC MHL 2.0, each file read again
/// and compared); `batch`, to take only what one batch brought.
package struct ManifestOperation: Sendable {
    private let rooms: UpkeepRooms

    package init(_ rooms: UpkeepRooms) { self.rooms = rooms }

    private static let folder = LibraryLayout.own / "manifests"
    private static let portion = 200

    package func run(_ run: OperationRun) throws(OperationRun.Ended) {
        let library = try run.orEnd(rooms.library)
        let format = run.operation.arguments["format"] ?? "sha256"
        let batch = try run.orEnd { () throws(Problem) in try self.batch(run.operation.arguments["batch"]) }
        guard format == "sha256" || format == "mhl" else {
            throw .failed(
                Problem(
                    .badRequest, "There is no manifest format `\(SafeText.of(format, limit: 20))`.",
                    todo: "Use sha256 or mhl."))
        }
        // Begun anew after an interruption: a manifest is of one moment.
        run.restart()
        let stamp = rooms.now().rfc3339.prefix(19).filter { $0 != "-" && $0 != ":" }
        let name = Path((batch.map { "batch-\($0)-" } ?? "library-") + stamp + "Z." + format)
        let mhl = format == "mhl" ? MediaHashList(hostName: hostName(), at: rooms.now()) : nil
        let file = try ManifestFile(name, in: Self.folder, of: library)
        if let mhl { try file.write(mhl.head) }
        try eachOriginal(of: batch, run) { resource throws(OperationRun.Ended) in
            if let mhl {
                if let entry = try mhl.entry(for: resource, in: library, run, at: rooms.now()) { try file.write(entry) }
            } else {
                try file.write(Self.line(for: resource))
            }
            run.advance(by: 1)
            try run.check()
        }
        if let mhl { try file.write(mhl.tail) }
        try file.publish()
        run.setResult("path", to: (Self.folder / name).shown)
    }

    private func batch(_ text: String?) throws(Problem) -> Batch.ID? {
        guard let text else { return nil }
        guard let id = Int64(text), try rooms.store.batch(id) != nil else {
            throw Problem(
                .notFound, "There is no batch \(SafeText.of(text, limit: 40)).",
                todo: "`photospool batches` lists them.")
        }
        return id
    }

    private func eachOriginal(
        of batch: Batch.ID?, _ run: OperationRun, _ body: (Resource) throws(OperationRun.Ended) -> Void
    ) throws(OperationRun.Ended) {
        guard let batch else {
            run.setTotal(try run.orEnd { () throws(Problem) in try rooms.store.resourceTotals().files })
            var place: Store.ResourcePlace?
            while true {
                let after = place
                let portion = try run.orEnd { () throws(Problem) in
                    try rooms.store.resources(after: after, limit: Self.portion)
                }
                guard let last = portion.last else { return }
                for (_, resource) in portion { try body(resource) }
                place = last.place
            }
        }
        var seen: Set<Asset.ID> = []
        var cursor: String?
        repeat {
            let after = cursor
            let page: Page<Job> = try run.orEnd { () throws(Problem) in
                try rooms.store.jobs(JobFilter(batch: batch), limit: Self.portion, after: after)
            }
            for job in page.items where job.state == .imported || job.state == .duplicate {
                guard let id = job.asset, seen.insert(id).inserted else { continue }
                let asset: Asset? = try run.orEnd { () throws(Problem) in try rooms.store.asset(id) }
                for resource in asset?.resources ?? [] { try body(resource) }
            }
            cursor = page.next
        } while cursor != nil
    }

    /// As sha256sum(1) writes and checks it: a name with a newline or backslash is escaped, and the line says so.
    static func line(for resource: Resource) -> [UInt8] {
        var name: [UInt8] = []
        var isEscaped = false
        for byte in resource.path.bytes {
            switch byte {
            case UInt8(ascii: "\\"): name += Array("\\\\".utf8)
            case UInt8(ascii: "\n"): name += Array("\\n".utf8)
            case UInt8(ascii: "\r"): name += Array("\\r".utf8)
            default:
                name.append(byte)
                continue
            }
            isEscaped = true
        }
        return Array(((isEscaped ? "\\" : "") + lowercaseHex(resource.sha256.bytes) + "  ").utf8) + name
            + [UInt8(ascii: "\n")]
    }
}

/// A file that is whole when it has its name, and not there before.
private struct ManifestFile: ~Copyable {
    private let library: Library
    private let path: Path
    private let temporary: Path
    private let file: StagedFile

    init(_ name: Path, in folder: Path, of library: Library) throws(OperationRun.Ended) {
        self.library = library
        path = folder / name
        temporary = folder / Path(bytes: [UInt8(ascii: ".")] + name.bytes + Array(".part".utf8))
        do throws(Errno) {
            try library.root.makeFolders(at: folder, mode: 0o2750)
            // What a run that was interrupted in this second left.
            do throws(Errno) { try library.root.unlink(temporary) } catch .noEntry {}
            file = try library.root.create(temporary, mode: 0o640, gid: library.groupID)
        } catch {
            throw .failed(.library(folder, error, doing: "write to"))
        }
    }

    func write(_ bytes: [UInt8]) throws(OperationRun.Ended) {
        do throws(Errno) { try file.write(bytes) } catch { throw .failed(.library(temporary, error, doing: "write")) }
    }

    func publish() throws(OperationRun.Ended) {
        do throws(Errno) {
            try file.synchronize()
            try library.root.renameNoReplace(temporary, to: path, in: library.root)
            try library.root.folder(at: path.parent).sync()
        } catch {
            throw .failed(.library(path, error, doing: "write"))
        }
    }
}
