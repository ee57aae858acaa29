import Files
package import PhotoModel

/// The private folder of a drop, `<drop>/.photospool/claim/`, into which a source is renamed before anything is done to
/// it. Between a look at a name and an act on it another file can take the name; a claimed file cannot be exchanged.
package struct SourceClaims: ~Copyable {
    private static let folder = Path(".photospool") / "claim"
    private let drop: Path
    private let root: Folder

    init(drop: Path) throws(Errno) {
        self.drop = drop
        root = try Folder(opening: drop)
    }

    /// Where a claim lies, relative to the drop folder.
    static func name(_ id: Int64) -> Path { folder / String(id) }

    /// The journal ids of the claims that lie in `drop`.
    static func left(in drop: Path) throws(Errno) -> [Int64] {
        var ids: [Int64] = []
        try Folder(opening: drop).folder(at: folder).forEachEntry { name, _ throws(Errno) in
            if let id = Int64(name.shown) { ids.append(id) }
            return true
        }
        return ids.sorted()
    }

    /// Renames the source into the private folder and looks at what was caught.
    ///
    /// - Returns: false when it was another file than `stamp` says; it is back under its name then, or beside it.
    func claim(_ source: Path, as id: Int64, expecting stamp: FileStamp) throws(Errno) -> Bool {
        try root.makeFolders(at: Self.folder, mode: 0o700, gid: nil)
        try root.renameNoReplace(source, to: Self.name(id), in: root)
        if try holds(id, expecting: stamp) { return true }
        try putBack(id, to: source)
        return false
    }

    /// Same inode, size and mtime, and the same bytes where they are known: the very version that was imported.
    func holds(_ id: Int64, expecting stamp: FileStamp, sha256: SHA256Digest? = nil) throws(Errno) -> Bool {
        let found = try root.status(of: Self.name(id)).stamp
        guard found.inode == stamp.inode, found.size == stamp.size, found.mtime == stamp.mtime else { return false }
        guard let sha256 else { return true }
        let file = try root.openForReading(Self.name(id))
        do throws(CopyFailure) {
            return try hash(file).sha256 == sha256
        } catch {
            return false  // what cannot be read is not known to be the same
        }
    }

    func delete(_ id: Int64, from source: Path) throws(Errno) {
        try root.unlink(Self.name(id))
        synchronize(source)
    }

    /// Moves the claimed file to an absolute path on the same filesystem; a taken name gets a number.
    func move(_ id: Int64, to target: Path, from source: Path) throws(Errno) {
        do throws(Errno) {
            let folder = try openMakingFolders(target.parent)
            try place(id, in: folder, name: target.name)
            try folder.sync()
        } catch {
            // Still claimed, or moved already and only not yet durable; then there is nothing to put back.
            guard try root.contains(Self.name(id)) else { return }
            try putBack(id, to: source)
            throw error
        }
        synchronize(source)
    }

    /// Gives a claimed file its name again; when that is taken meanwhile, a numbered one beside it. Never replaces.
    func putBack(_ id: Int64, to source: Path) throws(Errno) {
        let folder = source.parent.isEmpty ? try root.duplicate() : try root.folder(at: source.parent)
        try place(id, in: folder, name: source.name)
        synchronize(source)
    }

    private func place(_ id: Int64, in folder: borrowing Folder, name target: Path) throws(Errno) {
        var number = 1
        while true {
            let tried = number == 1 ? target : Self.numbered(target, number)
            do throws(Errno) {
                return try root.renameNoReplace(Self.name(id), to: tried, in: folder)
            } catch  where error == .exists && number < 1000 {
                number += 1
            }
        }
    }

    /// The name that a source gets where its own is taken.
    package static func numbered(_ name: Path, _ number: Int) -> Path {
        Path(bytes: name.stem.bytes + Array("-\(number)".utf8) + name.suffix.bytes)
    }

    /// Below the drop folder without following links, which others may have put there; elsewhere as configured.
    private func openMakingFolders(_ path: Path) throws(Errno) -> Folder {
        if path == drop { return try root.duplicate() }
        if let relative = path.below(drop) {
            try root.makeFolders(at: relative, mode: 0o750, gid: nil)
            return try root.folder(at: relative)
        }
        do throws(Errno) {
            return try Folder(opening: path)
        } catch  where error == .noEntry && path != Path("/") {
            let parent = try openMakingFolders(path.parent)
            try parent.makeFolders(at: path.name, mode: 0o750, gid: nil)
            return try parent.folder(at: path.name)
        }
    }

    /// Makes an act durable that has been done. Should the disk refuse, nobody is hurt: at worst a power cut brings the
    /// claim back, and the next start puts the file where it was.
    private func synchronize(_ source: Path) {
        do throws(Errno) {
            try root.folder(at: Self.folder).sync()
            try source.parent.isEmpty ? root.sync() : root.folder(at: source.parent).sync()
        } catch _ {}  // see above
    }
}
