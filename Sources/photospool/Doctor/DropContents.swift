internal import Files
internal import PhotoModel

/// What lies in a drop folder: how many folders are to be watched, and some of what is in them.
struct DropContents {
    /// Counting ends here: no limit of inotify is higher in practice.
    static let mostFolders = 200_000
    /// So many are asked about one by one.
    static let some = 500

    /// With the drop folder itself.
    private(set) var folderCount = 1
    /// Whether all of them were counted.
    private(set) var isWhole = true
    private(set) var someFolders: [Path] = []
    private(set) var someFiles: [Path] = []
    /// Of the files at the top.
    private(set) var owners: Set<UInt32> = []
    /// The first folder that could not be listed.
    private(set) var failure: (path: Path, errno: Errno)?
    /// Whether no events are waited for here.
    let isPolled: Bool

    init(_ drop: DropFolder, in top: borrowing Folder, isPolled: Bool) {
        let rules = IgnoreRules(for: drop)
        let deadline = ContinuousClock.now + Tool.limit
        var rest = [Path(bytes: [])]
        self.isPolled = isPolled
        while let place = rest.popLast() {
            if folderCount >= Self.mostFolders || ContinuousClock.now > deadline {
                isWhole = false
                break
            }
            do throws(Errno) {
                try top.folder(at: place).forEachEntry { (name, kind) throws(Errno) in
                    guard !rules.ignores(name, in: place, isFolder: kind == .directory) else { return true }
                    let path = place / name
                    if kind == .directory, drop.isRecursive {
                        folderCount += 1
                        rest.append(path)
                        if someFolders.count < Self.some { someFolders.append(drop.path / path) }
                    } else if kind == .regular, someFiles.count < Self.some {
                        someFiles.append(drop.path / path)
                        if place.isEmpty { owners.insert(try top.status(of: path).uid) }
                    }
                    return true
                }
            } catch .noEntry {
                continue  // gone meanwhile
            } catch {
                if failure == nil { failure = (drop.path / place, error) }
            }
        }
    }
}
