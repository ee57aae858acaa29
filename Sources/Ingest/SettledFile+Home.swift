import Files
import PhotoModel

extension SettledFile {
    /// Whether the filesystem that the file was found on is there, or another medium in its slot, so that a missing name
    /// means a missing file and not a card that was pulled. What is on another medium has jobs of its own, also when it is
    /// the same card put in again.
    ///
    /// - Parameters:
    ///   - relative: its path below `root`.
    ///   - root: the drop folder or import root.
    func isHome(_ relative: Path, in root: borrowing Folder) -> Bool {
        var parent = relative.parent
        while true {
            do throws(Errno) {
                let found = parent.isEmpty ? try root.filesystem() : try root.folder(at: parent).filesystem()
                return isSameSlot(found.id, filesystem)
            } catch {
                if parent.isEmpty { return false }  // not even the root answers
                parent = parent.parent
            }
        }
    }
}
