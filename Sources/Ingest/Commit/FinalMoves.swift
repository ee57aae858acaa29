import Files
import PhotoModel

enum MoveFailure: Error {
    case nameTaken(Path)
    case problem(Problem)
}

/// The renames of one commit, and their way back. Both can be repeated at any point: what is done already stays done.
struct FinalMoves {
    let library: Library
    let calls: MoveCalls

    /// Moves every staged file to its final path without replacing anything, then makes the names durable: first the
    /// final folders, then staging.
    func perform(_ moves: [CommitIntent.Move]) throws(MoveFailure) {
        for folder in Set(moves.map(\.final.parent)) where !folder.isEmpty {
            do throws(Errno) {
                try library.root.makeFolders(at: folder, mode: library.folderMode, gid: library.groupID)
            } catch {
                throw .problem(.library(folder, error, doing: "make the folder"))
            }
        }
        for move in moves where !isOurs(move, at: move.final) {
            do throws(Errno) {
                try calls.rename(move.staged, move.final, library.root)
            } catch {
                if error == .exists { throw .nameTaken(move.final) }
                throw .problem(.library(move.final, error, doing: "name"))
            }
        }
        do throws(Problem) {
            try synchronize(Set(moves.map(\.final.parent)))
            try synchronize(Set(moves.map(\.staged.parent)))
        } catch {
            throw .problem(error)
        }
    }

    /// Takes back what ``perform(_:)`` did: a final path that is ours goes back to staging, anything else is left alone.
    func undo(_ moves: [CommitIntent.Move]) throws(Problem) {
        var touched: Set<Path> = []
        for move in moves where isOurs(move, at: move.final) {
            try onLibrary(move.final, doing: "take back") { () throws(Errno) in
                do throws(Errno) {
                    try calls.rename(move.final, move.staged, library.root)
                } catch  where error == .exists || error == .noEntry {
                    // Still staged too (a link made in place of a rename), or staging is gone: the source has it.
                    try library.root.unlink(move.final)
                }
            }
            touched.insert(move.final.parent)
        }
        try synchronize(touched)
    }

    /// Whether `path` leads to the very file that the intent speaks of: same inode and size.
    func isOurs(_ move: CommitIntent.Move, at path: Path) -> Bool {
        do throws(Errno) {
            let stamp = try library.root.status(of: path).stamp
            return stamp.inode == move.inode && stamp.size == move.size
        } catch {
            return false  // absent or unreadable is not ours: nothing is unlinked on a guess
        }
    }

    private func synchronize(_ folders: Set<Path>) throws(Problem) {
        for folder in folders {
            do throws(Errno) {
                if folder.isEmpty {
                    try library.root.sync()
                } else {
                    try library.root.folder(at: folder).sync()
                }
            } catch {
                // Staging may be gone when recovery runs for the second time; its names are then durable enough.
                if error == .noEntry { continue }
                throw .library(folder, error, doing: "make durable the folder")
            }
        }
    }
}

/// The calls of a commit that a test makes fail.
struct MoveCalls: Sendable {
    var rename: @Sendable (_ from: Path, _ to: Path, _ root: borrowing Folder) throws(Errno) -> Void

    static let live = MoveCalls { (from, to, root) throws(Errno) in try root.renameNoReplace(from, to: to, in: root) }
}
