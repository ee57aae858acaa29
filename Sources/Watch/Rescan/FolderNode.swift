import PhotoModel

/// The filesystem a folder lies on, as far as it matters here.
final class Volume {
    let device: UInt64
    let id: FilesystemID
    /// Written to by other machines, or through a process: no events, and no way to know of a writer.
    let isRemote: Bool
    /// A file appeared there and no event told of it, although its folder was watched: so events do not count there.
    var isDeaf = false

    init(device: UInt64, id: FilesystemID, isRemote: Bool) {
        self.device = device
        self.id = id
        self.isRemote = isRemote
    }
}

/// A folder below a drop folder, or the drop folder itself: what is kept for each for as long as it is there.
///
/// Parent and child hold each other; ``DropWatch/detach(_:)`` parts them.
final class FolderNode {
    enum Pending: UInt8 {
        case none
        /// Its own names are to be read.
        case own
        /// And those of the folders below it.
        case full
    }

    let drop: DropWatch
    /// Empty for the drop folder itself.
    let name: Path
    private(set) var parent: FolderNode?
    var children: [Path: FolderNode] = [:]
    /// Files below it that have not been handed over yet, by stem.
    var shots: [Path: Shot] = [:]
    /// -1 without one.
    var watch: Int32 = -1
    var volume: Volume?
    /// 0 until it was opened.
    var inode: UInt64 = 0
    /// Number of the last listing of the parent that showed it.
    var seen: UInt64
    var pending = Pending.none
    var isPolled = false
    /// Whether all that lay in it has been found at least once, and nothing was left out since.
    var hasBeenListed = false
    /// How far a listing has come as long as it has not: of what begins before this, all has been found.
    var listedBelow: NameList.Beginning?
    /// Number of the listing before which an event was left out here, because too much was to settle already.
    var loss: UInt64 = 0
    var isBehind = false
    /// Number of the last listing since it has its watch; 0 before there was one. A file that a later one finds was made
    /// while the folder was watched.
    var listedWatched: UInt64 = 0
    var isDetached = false

    init(_ name: Path, in parent: FolderNode?, of drop: DropWatch, seen: UInt64) {
        self.name = name
        self.parent = parent
        self.drop = drop
        self.seen = seen
    }

    /// Below the drop folder; empty for the drop folder itself.
    var path: Path {
        var names: [Path] = []
        var node: FolderNode? = self
        while let current = node, current.parent != nil {
            names.append(current.name)
            node = current.parent
        }
        return Path(bytes: Array(names.reversed().map(\.bytes).joined(separator: [UInt8(ascii: "/")])))
    }

    func descendant(_ path: Path) -> FolderNode? {
        var node: FolderNode? = self
        for name in path.components { node = node?.children[name] }
        return node
    }

    /// Whether a listing may still find further files of this stem.
    func mayHoldMore(of stem: Path) -> Bool {
        if hasBeenListed { return false }
        guard let listedBelow else { return true }
        return NameList.Beginning(of: stem) >= listedBelow
    }

    /// Whether this folder is itself one of those it lies in: a directory bound into itself.
    func isLoop(device: UInt64, inode: UInt64) -> Bool {
        var node = parent
        while let current = node {
            if current.inode == inode, current.volume?.device == device { return true }
            node = current.parent
        }
        return false
    }

    /// Lets go of everything around it, so that the memory goes back.
    func isolate() {
        isDetached = true
        parent = nil
        children = [:]
        shots = [:]
    }
}
