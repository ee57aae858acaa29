import Files
import PhotoModel
import Store

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
        for move in moves { try perform(move) }
        do throws(Problem) {
            for folder in Set(moves.map(\.final.parent)) { try synchronize(folder) }
            // Staging may be gone when recovery runs for the second time; the names in it are then durable enough.
            for folder in Set(moves.map(\.staged.parent)) { try synchronize(folder, mayBeGone: true) }
        } catch {
            throw .problem(error)
        }
    }

    private func perform(_ move: CommitIntent.Move) throws(MoveFailure) {
        do throws(Problem) {
            if try isOurs(move, at: move.final) { return }
        } catch {
            throw .problem(error)
        }
        do throws(Errno) {
            try calls.rename(move.staged, move.final, library.root)
        } catch {
            if error == .exists { throw .nameTaken(move.final) }
            if error == .crossDevice, move.final.below(LibraryLayout.previews) != nil {
                library.notePreviewsElsewhere()
            }
            throw .problem(.library(move.final, error, doing: "name"))
        }
    }

    /// Takes back what ``perform(_:)`` did: a final path that is ours goes back to staging, anything else is left alone.
    ///
    /// - Throws: the first problem, when every file was tried. What could not be taken back then still stands under its
    ///   final name, and the intent must not be forgotten.
    func undo(_ moves: [CommitIntent.Move]) throws(Problem) {
        var first: Problem?
        var touched: Set<Path> = []
        for move in moves {
            do throws(Problem) {
                guard try isOurs(move, at: move.final) else { continue }
                try takeBack(move)
                touched.insert(move.final.parent)
            } catch {
                first = first ?? error
            }
        }
        for folder in touched {
            do throws(Problem) { try synchronize(folder, mayBeGone: true) } catch { first = first ?? error }
        }
        if let first { throw first }
    }

    private func takeBack(_ move: CommitIntent.Move) throws(Problem) {
        try onLibrary(move.final, doing: "take back") { () throws(Errno) in
            do throws(Errno) {
                try calls.rename(move.final, move.staged, library.root)
            } catch  where error == .exists || error == .noEntry {
                // Still staged too (a link made in place of a rename), or staging is gone: the source has it.
                try library.root.unlink(move.final)
            }
        }
    }

    /// Whether `path` leads to the very file that the intent speaks of: same inode and size.
    ///
    /// - Throws: when that cannot be known. Neither answer may be guessed: one would unlink what is not ours, the other
    ///   leave behind what is.
    func isOurs(_ move: CommitIntent.Move, at path: Path) throws(Problem) -> Bool {
        do throws(Errno) {
            let stamp = try library.root.status(of: path).stamp
            return stamp.inode == move.inode && stamp.size == move.size
        } catch {
            // A link that stands on the way is not ours either, and nothing is done behind it.
            if [.noEntry, .notDirectory, .loop].contains(error) { return false }
            throw .library(path, error, doing: "look at")
        }
    }

    /// Whether no path of `moves` is taken, as far as a look can tell; the rename alone decides.
    func areFree(_ moves: [CommitIntent.Move], in store: Store) throws(Problem) -> Bool {
        for move in moves {
            let exists = try onLibrary(move.final, doing: "look at") { () throws(Errno) in
                try library.root.contains(move.final)
            }
            if exists { return false }
        }
        return try !areListed(moves, in: store)
    }

    /// Whether the catalog lists one of the paths. It stays that asset's, also while its file is missing.
    func areListed(_ moves: [CommitIntent.Move], in store: Store) throws(Problem) -> Bool {
        for move in moves where try store.isListed(move.final) { return true }
        return false
    }

    private func synchronize(_ folder: Path, mayBeGone: Bool = false) throws(Problem) {
        do throws(Errno) {
            if folder.isEmpty {
                try library.root.sync()
            } else {
                try library.root.folder(at: folder).sync()
            }
        } catch {
            if mayBeGone, error == .noEntry { return }
            throw .library(folder, error, doing: "make durable the folder")
        }
    }
}

/// The calls of a commit that a test makes fail.
struct MoveCalls: Sendable {
    var rename: @Sendable (_ from: Path, _ to: Path, _ root: borrowing Folder) throws(Errno) -> Void

    static let live = MoveCalls { (from, to, root) throws(Errno) in try root.renameNoReplace(from, to: to, in: root) }
}
