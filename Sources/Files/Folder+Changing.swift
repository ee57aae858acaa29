import CLinux
import Glibc
package import PhotoModel

extension Folder {
    /// Calls `body` for every name but `.` and `..`, in no order, until it returns false. What is made or removed
    /// meanwhile may or may not be seen; see readdir(3).
    package func forEachEntry(
        _ body: (_ name: Path, _ kind: FileKind) throws(Errno) -> Bool
    ) throws(Errno) {
        // Opened anew: a duplicate would share, and move, the position of the held descriptor.
        let opened = try open(Path("."), O_RDONLY | O_DIRECTORY)
        guard let stream = unsafe fdopendir(opened.rawValue) else { throw .last }
        _ = opened.release()  // the stream closes it
        defer { unsafe closedir(stream) }
        guard let nameOffset = MemoryLayout<dirent>.offset(of: \.d_name) else { throw .invalid }
        while true {
            errno = 0  // the only way to tell the end from a failure
            guard let found = unsafe readdir(stream) else {
                let failure = Errno.last
                if failure.rawValue == 0 { return }
                throw failure
            }
            let type = Int(unsafe found.pointee.d_type)
            // Some filesystems give names longer than the 256 bytes the C declaration shows, so go by the NUL.
            let start = unsafe UnsafeRawPointer(found).advanced(by: nameOffset).assumingMemoryBound(to: UInt8.self)
            let name = unsafe Path(bytes: UnsafeBufferPointer(start: start, count: strlen(start)))
            if name == Path(".") || name == Path("..") { continue }
            let kind: FileKind
            switch type {
            case Int(DT_REG): kind = .regular
            case Int(DT_DIR): kind = .directory
            case Int(DT_LNK): kind = .symlink
            case Int(DT_UNKNOWN):
                do throws(Errno) { kind = try status(of: name).kind } catch .noEntry { continue }  // gone already
            default: kind = .other
            }
            guard try body(name, kind) else { return }
        }
    }

    /// Makes every missing folder of the path, and returns once the names of all of them are on the medium.
    ///
    /// The name of a folder that is already there is made durable too, once in the life of the process: another
    /// import, or a daemon that was killed, may have made it and not got as far as its fsync.
    /// - Parameters:
    ///   - mode: the exact bits of folders newly made, setgid among them.
    ///   - gid: their group; nil leaves what the parent or the process gives.
    package func makeFolders(at relative: Path, mode: UInt32, gid: UInt32? = nil) throws(Errno) {
        if relative.isEmpty { return }
        try relative.requireBelow()
        var parent = try duplicate()
        for name in relative.components {
            let isNew = try parent.makeFolder(name)
            let child = try parent.folder(at: name)
            if isNew {
                if let gid { try retryingInterrupted { fchown(child.descriptor.rawValue, uid_t.max, gid) } }
                do throws(Errno) {
                    try retryingInterrupted { fchmod(child.descriptor.rawValue, mode_t(mode)) }
                } catch .notPermitted {} catch .notSupported {}  // a filesystem that keeps no modes
                try child.sync()
            }
            try DurableNames.ensure(child.descriptor, in: parent)
            parent = consume child
        }
    }

    /// Whether the folder was made; false when something of that name is there.
    private func makeFolder(_ name: Path) throws(Errno) -> Bool {
        try withParent(of: name) { directory, name throws(Errno) in
            do throws(Errno) {
                try retryingInterrupted { unsafe mkdirat(directory, name, 0o700) }
                return true
            } catch .exists {
                return false
            }
        }
    }

    /// Gives a file its new name, which must be free: nothing is ever replaced.
    ///
    /// Where the filesystem has no such rename (NFS says EINVAL) the new name is linked and the old one unlinked;
    /// killed in between, both names lead to the same inode, which recovery knows. Neither folder is synchronised.
    /// - Throws: ``Errno/exists`` when the name is taken by another file.
    package func renameNoReplace(_ from: Path, to: Path, in target: borrowing Folder) throws(Errno) {
        try renameNoReplace(from, to: to, in: target, calls: .live)
    }

    func renameNoReplace(
        _ from: Path, to: Path, in target: borrowing Folder, calls: RenameCalls
    ) throws(Errno) {
        do throws(Errno) {
            try withParent(of: from) { fromDirectory, fromName throws(Errno) in
                try target.withParent(of: to) { toDirectory, toName throws(Errno) in
                    let ends = unsafe RenameCalls.Ends(
                        fromDirectory: fromDirectory, from: fromName, toDirectory: toDirectory, to: toName)
                    do throws(Errno) {
                        try retryingInterrupted { unsafe calls.rename(ends) }
                    } catch {
                        guard [.invalid, .notImplemented, .notSupported].contains(error) else { throw error }
                        try retryingInterrupted { unsafe calls.link(ends) }
                        try retryingInterrupted { unsafe unlinkat(fromDirectory, fromName, 0) }
                    }
                }
            }
        } catch .exists {
            // Done before? A server whose answer was lost, or a life that ended between link and unlink.
            let here = try status(of: from)
            guard here.kind == .regular, here.isSameFile(as: try target.status(of: to)) else { throw .exists }
            try unlink(from)
        }
    }

    /// Gives a file its new name, and takes it from whatever file has it: for what is ours alone and is written anew as a
    /// whole. Neither folder is synchronised.
    package func renameReplacing(_ from: Path, to: Path, in target: borrowing Folder) throws(Errno) {
        try withParent(of: from) { fromDirectory, fromName throws(Errno) in
            try target.withParent(of: to) { toDirectory, toName throws(Errno) in
                _ = try retryingInterrupted { unsafe renameat(fromDirectory, fromName, toDirectory, toName) }
            }
        }
    }

    /// Removes a folder with all that is in it, or a file; nothing there is fine.
    ///
    /// Symbolic links are removed, never followed; a mount below is not entered (``Errno/crossDevice``). What we make
    /// is at most a few folders deep, so deeper than 64 is not ours: ``Errno/loop``.
    package func removeTree(_ relative: Path) throws(Errno) {
        try removeTree(relative, depth: 0)
    }

    private func removeTree(_ relative: Path, depth: Int) throws(Errno) {
        guard depth < 64 else { throw .loop }
        do throws(Errno) {
            guard try status(of: relative).kind == .directory else { return try unlink(relative) }
            try removeContents(of: relative, depth: depth)
            try removeFolder(relative)
        } catch .noEntry {}  // gone already, which is what was asked for
    }

    private func removeContents(of relative: Path, depth: Int) throws(Errno) {
        let confined = Folder(descriptor: try descriptor.duplicate(), entersMounts: false)
        let inside = try confined.folder(at: relative)
        var names: [Path] = []  // first all, then remove: POSIX leaves open what readdir shows of a changing folder
        try inside.forEachEntry { name, _ in
            names.append(name)
            return true
        }
        for name in names { try inside.removeTree(name, depth: depth + 1) }
    }
}

/// The two calls of a rename that a filesystem may not have: a test puts one that fails in its place.
@safe struct RenameCalls {
    /// Two names, each in its folder; the pointers are good only during the call.
    @unsafe struct Ends {
        let fromDirectory: Int32
        let from: UnsafePointer<CChar>
        let toDirectory: Int32
        let to: UnsafePointer<CChar>
    }

    let rename: (Ends) -> Int32
    let link: (Ends) -> Int32

    static var live: RenameCalls {
        unsafe RenameCalls(
            rename: { unsafe files_rename_noreplace($0.fromDirectory, $0.from, $0.toDirectory, $0.to) },
            link: { unsafe linkat($0.fromDirectory, $0.from, $0.toDirectory, $0.to, 0) })
    }
}
