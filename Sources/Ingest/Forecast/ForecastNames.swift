import Files
import PhotoModel
import Store

/// The names that shots would get one after the other, when nothing else came.
struct ForecastNames {
    private let library: Library
    private let store: Store
    /// Whether the library takes names that differ in case for one.
    private let foldsCase: Bool
    private var taken: Set<Key> = []
    /// The folders of ``taken``, as the first shot in each calls it.
    private var folders: [Key: Path] = [:]
    private var lastNumber: Int64

    init(library: Library, store: Store) throws(Problem) {
        self.library = library
        self.store = store
        foldsCase = try onLibrary(IgnoreRules.ownFolder, doing: "look at") { () throws(Errno) in
            try library.root.ignoresCase(of: IgnoreRules.ownFolder)
        }
        lastNumber = try store.lastNumber(of: "seq")
    }

    /// The first paths that are free, and are taken from now on.
    ///
    /// - Parameters:
    ///   - paths: those of try n; calls its second argument for what `{seq}` stands for.
    ///   - isFree: whether nothing but names is in the way.
    mutating func take(
        paths: (_ collision: Int, _ number: () throws(Problem) -> Int64) throws(Problem) -> [Path],
        isFree: (_ paths: [Path]) throws(Problem) -> Bool
    ) throws(ImportEnded) -> [Path] {
        try endingImport { () throws(Problem) in
            var used: Int64?
            let next = lastNumber + 1
            func tried(_ collision: Int) throws(Problem) -> [Path] {
                var tried = try paths(collision) { () throws(Problem) in
                    used = next
                    return next
                }
                if foldsCase { for place in tried.indices { tried[place] = try asListed(tried[place]) } }
                return tried
            }
            let collision = try FreeNumber.first { (collision) throws(Problem) in
                let tried = try tried(collision)
                guard try areFree(tried) else { return false }
                return try isFree(tried)
            }
            guard let collision else { throw Problem(.libraryIO, "No free name was found.") }
            let found = try tried(collision)
            taken.formUnion(found.map(key))
            for path in found { folders[key(path.parent)] = path.parent }
            lastNumber = used ?? lastNumber
            return found
        }
    }

    private func asListed(_ path: Path) throws(Problem) -> Path {
        if let folder = folders[key(path.parent)] { return folder / path.name }
        let folder = try onLibrary(path.parent, doing: "look at") { () throws(Errno) in
            try library.root.spelled(path.parent)
        }
        return folder / path.name
    }

    private func areFree(_ paths: [Path]) throws(Problem) -> Bool {
        let keys = paths.map(key)
        guard Set(keys).count == keys.count, taken.isDisjoint(with: keys) else { return false }
        for path in paths {
            let exists = try onLibrary(path, doing: "look at") { () throws(Errno) in try library.root.contains(path) }
            if exists { return false }
            if try store.isListed(path) { return false }
        }
        return true
    }

    /// What two paths have in common that lead to one file.
    private enum Key: Hashable {
        case bytes([UInt8])
        /// Compared as Unicode does it: composed or not is the same. So do most filesystems that fold case; where one does
        /// not (vfat), a number is foretold that will not be needed.
        case text(String)
    }

    private func key(_ path: Path) -> Key {
        foldsCase && path.isText ? .text(path.shown.lowercased()) : .bytes(path.bytes)
    }
}
