import Files
import PhotoModel

/// A folder that is being listed: first its names are read, then its files are looked at in order, all of one shot
/// together. Both a portion at a time.
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
    private var names = NameList()
    private var hasReadNames = false
    /// Why not all of it could be read. What could be is gone through first: on a card with a bad sector it is all there is.
    private var failure: Errno?

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

    enum Step {
        /// Read from the folder just now.
        case read(NameReader.Name)
        /// One of those that were kept; the next in order.
        case inOrder(Path)
        case end
    }

    /// - Throws: at its end, what could not be read of it.
    func next() throws(Errno) -> Step {
        if !hasReadNames {
            do throws(Errno) {
                if let name = try reader.next(in: held.folder.descriptor.rawValue) { return .read(name) }
            } catch { note(error) }
            hasReadNames = true
            reader = NameReader()
            names.endFilling()
        }
        if let name = names.next() { return .inOrder(name) }
        if let failure { throw failure }
        return .end
    }

    /// One of its files could not be looked at; the others can.
    func note(_ error: Errno) { failure = failure ?? error }

    /// Whether the next file may belong to the shot of the last one that was found; so many that begin alike are no shot.
    var isAmidShot: Bool {
        guard found.count < 4 * Self.portion, let last = found.last else { return false }
        return names.continues(last.name)
    }

    /// Has a name come again in its place.
    func keep(_ name: Path) { names.append(name) }
}
