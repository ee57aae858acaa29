import Files
package import Ingest
package import PhotoModel
import Store

/// Takes files into the catalog that lie in the library and are not listed: an existing library, or what other programs put
/// there. Nothing is moved, renamed or written but previews.
///
/// Arguments: `path`, below the library or absolute: only that folder and what is below it. The place to go on from is the
/// last folder that was done; within a folder the catalog itself tells.
package struct AdoptOperation: Sendable {
    private let rooms: UpkeepRooms
    /// - Throws: why the library is not open.
    private let adoption: @Sendable () throws(Problem) -> Adoption

    package init(_ rooms: UpkeepRooms, adoption: @escaping @Sendable () throws(Problem) -> Adoption) {
        self.rooms = rooms
        self.adoption = adoption
    }

    package func run(_ run: OperationRun) throws(OperationRun.Ended) {
        let adoption = try run.orEnd(adoption)
        // What a rebuild would list under its own id must not be listed under another before.
        try run.orEnd { () throws(Problem) in try adoption.library.checkNotAhead(of: rooms.store) }
        let start = try run.orEnd { () throws(Problem) in
            try Self.start(run.operation.arguments, in: adoption.library)
        }
        let done = run.cursor.flatMap(FolderCursor.init(text:))
        if done == nil { run.restart() }
        let desk = FolderAdoption(store: rooms.store, adoption: adoption, run: run)
        var folder: Path?
        var names: [Path] = []
        let walk = LibraryWalk(library: adoption.library, start: start)
        try walk.run(run) { path, _ throws(OperationRun.Ended) in
            if path.parent != folder {
                if let folder { try finish(folder, names, desk, run) }
                folder = path.parent
                names = []
            }
            if let done, !FolderCursor(path.parent).isBehind(done) { return }
            names.append(path.name)
        }
        if let folder { try finish(folder, names, desk, run) }
    }

    private func finish(
        _ folder: Path, _ names: [Path], _ desk: FolderAdoption, _ run: OperationRun
    ) throws(OperationRun.Ended) {
        if names.isEmpty { return }
        try desk.adopt(folder, names)
        try run.reached(FolderCursor(folder).text)
    }

    private static func start(_ arguments: [String: String], in library: Library) throws(Problem) -> Path {
        guard let text = arguments["path"], !text.isEmpty else { return Path(bytes: []) }
        let path = Path(text)
        if path == library.path { return Path(bytes: []) }
        let shown = SafeText.of(path)
        guard let below = path.isAbsolute ? path.below(library.path) : path, !below.components.contains(where: isHidden)
        else {
            throw Problem(
                .badRequest, "\(shown) is no folder of photos below the library.",
                todo: "Name a folder below \(SafeText.of(library.path)).")
        }
        do throws(Errno) {
            _ = try library.root.folder(at: below)
            return below
        } catch {
            throw Problem(
                .notFound, "The folder \(shown) of the library cannot be opened: \(error.description).",
                todo: "Name a folder below \(SafeText.of(library.path)).")
        }
    }

    private static func isHidden(_ name: Path) -> Bool { name.bytes.first == UInt8(ascii: ".") }
}

/// A folder as a place in the order in which ``LibraryWalk`` comes by: a folder, then what is below it, by name.
package struct FolderCursor: Sendable {
    private let components: [Path]

    package init(_ folder: Path) { components = folder.components }

    /// Hexadecimal, for names are bytes: `-` for the library itself.
    init?(text: String) {
        if text == "-" {
            components = []
            return
        }
        let digits = Array(text.utf8)
        guard !digits.isEmpty, digits.count.isMultiple(of: 2) else { return nil }
        var bytes: [UInt8] = []
        for position in stride(from: 0, to: digits.count, by: 2) {
            guard let byte = UInt8(String(decoding: digits[position..<position + 2], as: UTF8.self), radix: 16)
            else { return nil }
            bytes.append(byte)
        }
        components = Path(bytes: bytes).components
    }

    var text: String {
        let path = components.reduce(Path(bytes: [])) { $0 / $1 }
        return path.isEmpty ? "-" : lowercaseHex(path.bytes)
    }

    /// Whether this folder comes after the other one.
    func isBehind(_ other: FolderCursor) -> Bool { other.components.lexicographicallyPrecedes(components) }
}
