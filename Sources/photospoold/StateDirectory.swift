import Files
import Glibc
import PhotoModel

/// The directory of queue and catalog, for this process alone.
enum StateDirectory {
    static let lock = Path("lock")
    static let crashMark = Path("crashed")

    /// Makes the directory if need be, for its owner only, and takes the lock in it.
    ///
    /// - Throws: `E_LOCKED`, which names the holder, or `E_STATE_IO`.
    static func take(_ path: Path) throws(Problem) -> InstanceLock {
        do throws(Errno) {
            try make(path)
        } catch {
            throw failed("make", path, error)
        }
        let folder: Folder
        do throws(Errno) {
            folder = try Folder(opening: path)
        } catch {
            throw failed("open", path, error)
        }
        do throws(InstanceLock.Failure) {
            return try InstanceLock.taking(lock, in: folder)
        } catch {
            switch error {
            case .held(let holder):
                throw Problem(
                    .locked,
                    "The state in \(SafeText.of(path)) is in use by \(holder?.description ?? "another process").")
            case .unavailable(let errno): throw failed("lock", path, errno)
            }
        }
    }

    private static func failed(_ what: String, _ path: Path, _ errno: Errno) -> Problem {
        Problem(.stateIO, "Could not \(what) the state directory \(SafeText.of(path)): \(errno.description).")
    }

    /// Makes a folder and what is missing above it, for the owner only.
    static func make(_ path: Path) throws(Errno) {
        do throws(Errno) {
            _ = try Folder(opening: path)
        } catch .noEntry {
            if path.parent != path, !path.parent.isEmpty { try make(path.parent) }
            let parent = try Folder(opening: path.parent)
            try parent.makeFolders(at: path.name, mode: 0o700)
        }
    }
}
