import Files
import PhotoModel

/// A folder whose names are being read, a portion at a time.
final class Listing {
    let node: FolderNode
    let held: OpenFolder
    /// Below the drop folder.
    let path: Path
    /// The same as the queue knows it.
    let absolute: Path
    /// Whether known folders below are read as well.
    let isFull: Bool
    /// Whether it goes before the scan that is under way.
    let isUrgent: Bool
    let number: UInt64
    /// Files that were read and that nobody has asked the store for yet.
    var found: [(name: Path, stamp: FileStamp)] = []
    private var reader = NameReader()

    /// So many are asked for at once: the store's locks are paid for once, and of a folder of usual size each page of
    /// the index is read once.
    static let portion = 1024

    init(of node: FolderNode, _ held: OpenFolder, isFull: Bool, isUrgent: Bool, number: UInt64) {
        self.node = node
        self.held = held
        path = node.path
        absolute = node.drop.settings.path / path
        self.isFull = isFull
        self.isUrgent = isUrgent
        self.number = number
    }

    func next() throws(Errno) -> NameReader.Name? { try reader.next(in: held.folder.descriptor.rawValue) }
}
