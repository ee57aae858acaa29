import Files
import PhotoModel

/// Where a library may be made, and what making one can leave behind.
extension Library {
    /// Whether nothing is in there but what belongs to nobody: a fresh ext4 has a `lost+found`, and a process that was
    /// killed while it made a library leaves our own folder without a marker.
    static func isEmpty(_ folder: borrowing Folder) throws(Errno) -> Bool {
        guard try names(in: folder).isSubset(of: [Path("lost+found"), LibraryLayout.own]) else { return false }
        guard try folder.contains(LibraryLayout.own) else { return true }
        let made = [LibraryLayout.staging, LibraryLayout.previews, LibraryLayout.journal]
        let own = try names(in: folder.folder(at: LibraryLayout.own)).filter { !isUnfinishedMarker($0) }
        guard own.isSubset(of: Set(made.map(\.name))) else { return false }
        for part in made where own.contains(part.name) {
            guard try names(in: folder.folder(at: part)).isEmpty else { return false }
        }
        return true
    }

    private static func names(in folder: borrowing Folder) throws(Errno) -> Set<Path> {
        var found: Set<Path> = []
        try folder.forEachEntry { name, _ throws(Errno) in
            found.insert(name)
            return true
        }
        return found
    }

    private static func isUnfinishedMarker(_ name: Path) -> Bool {
        LibraryMarker.Role.allCases.contains { role in
            name.bytes.starts(with: Array((role.path.name.shown + ".new-").utf8))
        }
    }

    /// Markers that a process did not live to finish. Whoever holds the lock finds none that is still being made.
    static func removeUnfinishedMarkers(in folder: borrowing Folder) {
        do throws(Errno) {
            for name in try names(in: folder.folder(at: LibraryLayout.own)) where isUnfinishedMarker(name) {
                try folder.unlink(LibraryLayout.own / name)
            }
        } catch _ {}  // a few bytes that nobody reads
    }
}
