import Files
import PhotoModel

extension SettledFile {
    /// Whether the filesystem that the file was found on is there, so that a missing name means a missing file and not
    /// a card that was pulled.
    ///
    /// - Parameters:
    ///   - relative: its path below `root`.
    ///   - root: the drop folder or import root.
    func isHome(_ relative: Path, in root: borrowing Folder) -> Bool {
        var parent = relative.parent
        while true {
            do throws(Errno) {
                let found = parent.isEmpty ? try root.filesystem() : try root.folder(at: parent).filesystem()
                return found.id == filesystem
            } catch {
                if parent.isEmpty { return false }  // not even the root answers
                parent = parent.parent
            }
        }
    }
}
