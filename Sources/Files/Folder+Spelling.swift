import Glibc
package import PhotoModel

extension Folder {
    /// How many bytes a name may have here, as the filesystem says it (NAME_MAX of fpathconf(3)): 255 on nearly every one,
    /// 143 where names are encrypted. One that says nothing, or nonsense, is taken to have 255.
    package var longestName: Int {
        let said = fpathconf(descriptor.rawValue, Int32(_PC_NAME_MAX))
        return (64...255).contains(said) ? said : 255
    }

    /// The same folders below this one, called as they are listed.
    ///
    /// Where the filesystem takes names that differ in case, or in how an accent is composed, for one, a path may lead to a
    /// folder that is called otherwise; whoever lists it meets the other name. What is not there stays as it is. Costs two
    /// looks for each name with letters, and a listing only where that may tell more.
    package func spelled(_ relative: Path) throws(Errno) -> Path {
        var done = Path(bytes: [])
        var rest = relative.components[...]
        while let name = rest.popFirst() {
            do throws(Errno) {
                done = done / (try spelledName(name, in: done))
            } catch .noEntry {
                return rest.reduce(done / name) { $0 / $1 }
            }
        }
        return done
    }

    private func spelledName(_ name: Path, in parent: Path) throws(Errno) -> Path {
        let own = try status(of: parent / name)
        let folder = parent.isEmpty ? try duplicate() : try self.folder(at: parent)
        guard own.kind == .directory, try Self.mayBeCalledOtherwise(name, in: folder) else { return name }
        var isListed = false
        var others: [Path] = []
        try folder.forEachEntry { other, kind throws(Errno) in
            if other == name { isListed = true }
            if kind == .directory { others.append(other) }
            return !isListed
        }
        if isListed { return name }
        for other in others where try folder.status(of: other).isSameFile(as: own) { return other }
        return name
    }

    private static func mayBeCalledOtherwise(_ name: Path, in folder: borrowing Folder) throws(Errno) -> Bool {
        if name.bytes.contains(where: { $0 >= 0x80 }) { return true }
        guard name.bytes.contains(where: { (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0) }) else {
            return false
        }
        return try folder.ignoresCase(of: name)
    }
}
