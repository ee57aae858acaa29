package import Files
package import PhotoModel
package import Store
import Synchronization

/// The library, or its mirror, as found at one moment: a held directory that carries the expected marker.
///
/// Everything is reached from the held descriptor, so a disk mounted over the path meanwhile cannot catch half an
/// import. ``check()`` tells when the path leads elsewhere now.
package final class Library: Sendable {
    package let root: Folder
    package let path: Path
    /// The marker's: of the library, or of the mirror itself.
    package let id: String
    package let role: LibraryMarker.Role
    /// Of names, as its disk has them.
    let nameRules: NameRules
    private let rules: Mutex<Rules>
    private let device: UInt64
    private let inode: UInt64
    /// Held for as long as the library is open, so that no second service stages into it.
    private let lock: InstanceLock
    /// One line at a time in the journal. Held over an fsync, on purpose: the line after waits for the one before.
    let journalTurn = Mutex<Void>(())
    /// Whether previews lie on another filesystem than staging: seen when it was opened, or learnt from a rename.
    private let previewsElsewhere: Atomic<Bool>
    var hasPreviewsElsewhere: Bool { previewsElsewhere.load(ordering: .acquiring) }
    func notePreviewsElsewhere() { previewsElsewhere.store(true, ordering: .releasing) }
    package var journal: LibraryJournal { LibraryJournal(library: self) }

    /// What a reload can change while the library stays open.
    private struct Rules {
        var settings: LibrarySettings
        var groupID: UInt32?
    }

    var settings: LibrarySettings { rules.withLock { $0.settings } }
    package var groupID: UInt32? { rules.withLock { $0.groupID } }

    /// Works by other settings from now on; the path stays.
    package func adopt(_ settings: LibrarySettings) throws(Problem) {
        let group = try Self.groupID(named: settings.group)
        rules.withLock { $0 = Rules(settings: settings, groupID: group) }
    }

    package var fileMode: UInt32 { settings.fileMode }
    /// The file mode with x wherever there is r, and setgid so that what is made below belongs to the same group.
    package var folderMode: UInt32 { settings.fileMode | (settings.fileMode & 0o444) >> 2 | 0o2000 }

    /// Opens the library and makes sure that it is the one this state belongs to.
    ///
    /// - Parameters:
    ///   - knownID: the marker id that the state remembers; nil when it has never known a library. Then a directory
    ///     without marker is made a library if it is empty, and `onCreation` is told.
    ///   - original: the library whose mirror is to be opened, at `settings.mirror`; nil for a library. Another mirror of the
    ///     same library than the known one is opened, and its ``id`` tells. An empty directory is made one only where a
    ///     disk of its own begins.
    /// - Throws: `E_LIBRARY_OFFLINE` when the directory is absent, `E_MARKER` for a missing or foreign marker,
    ///   `E_LOCKED`, or an I/O problem.
    package init(
        settings: LibrarySettings, knownID: String?, mirrorOf original: Library? = nil, now: Timestamp,
        onCreation: (String) -> Void
    ) throws(Problem) {
        let role: LibraryMarker.Role = original == nil ? .library : .mirror
        self.role = role
        path = role == .library ? settings.path : settings.mirror
        let folder: Folder
        do throws(Errno) {
            folder = try Folder(opening: path)
        } catch {
            throw Self.offline(role, path, error)
        }
        let groupID = try Self.groupID(named: settings.group)
        rules = Mutex(Rules(settings: settings, groupID: groupID))
        id = try Self.identify(
            folder, path: path, knownID: knownID, mirrorOf: original, now: now, onCreation: onCreation)
        do throws(Errno) {
            let status = try folder.status()
            device = status.stamp.device
            inode = status.stamp.inode
            for own in [LibraryLayout.staging, LibraryLayout.previews, LibraryLayout.journal] {
                let mode: UInt32 = own == LibraryLayout.previews ? 0o2750 : 0o700
                try folder.makeFolders(at: own, mode: mode, gid: own == LibraryLayout.previews ? groupID : nil)
            }
            previewsElsewhere = Atomic(try Self.hasPreviewsElsewhere(in: folder))
        } catch {
            throw .library(LibraryLayout.own, error, doing: "prepare", in: role)
        }
        lock = try Self.takeLock(folder, path: path, role: role)
        Self.removeUnfinishedMarkers(in: folder)
        do throws(Errno) {
            nameRules = try folder.nameRules(tryingIn: LibraryLayout.own)
        } catch {
            throw .library(LibraryLayout.own, error, doing: "look at", in: role)
        }
        root = folder
    }

    private static func takeLock(
        _ folder: borrowing Folder, path: Path, role: LibraryMarker.Role
    ) throws(Problem) -> InstanceLock {
        do throws(InstanceLock.Failure) {
            return try InstanceLock.taking(LibraryLayout.lock, in: folder)
        } catch {
            switch error {
            case .held(let holder):
                throw Problem(
                    .locked,
                    "The \(role.rawValue) \(SafeText.of(path)) is in use by "
                        + "\(holder?.description ?? "another process").",
                    todo: "Stop the other instance; two services cannot share a \(role.rawValue).")
            case .unavailable(let errno): throw .library(LibraryLayout.lock, errno, doing: "lock", in: role)
            }
        }
    }

    private static func offline(_ role: LibraryMarker.Role, _ path: Path, _ errno: Errno) -> Problem {
        Problem(.libraryOffline, "The \(role.rawValue) \(SafeText.of(path)) cannot be opened: \(errno.description).")
    }

    private static func groupID(named name: String) throws(Problem) -> UInt32? {
        if name.isEmpty { return nil }
        guard let group = Accounts.groupID(named: name) else {
            throw Problem(
                .config, "The group \(SafeText.of(name)) of the library does not exist.",
                todo: "Create the group, or correct library.group.")
        }
        return group
    }

    private static func identify(
        _ folder: borrowing Folder, path: Path, knownID: String?, mirrorOf original: Library?, now: Timestamp,
        onCreation: (String) -> Void
    ) throws(Problem) -> String {
        let role: LibraryMarker.Role = original == nil ? .library : .mirror
        let shown = SafeText.of(path)
        if let marker = try LibraryMarker.read(role, in: folder, shown: path) {
            if let own = marker.mirrorID {
                try requireMirror(marker, of: original?.id, in: folder, path: path)
                return own
            }
            guard let knownID, knownID != marker.id else { return marker.id }
            throw Problem(
                .marker,
                "\(shown) holds another library (\(SafeText.of(marker.id))) than the one this state knows (\(knownID))."
            )
        }
        let remedy: String? =
            role == .library
            ? nil : "Mount the right disk; a new one is made a mirror by `photospool init --mirror \(shown)`."
        guard knownID == nil else {
            throw Problem(
                .marker,
                "\(shown) carries no \(role.rawValue) marker, although the \(role.rawValue) is known: its disk is "
                    + "probably not mounted.", todo: remedy)
        }
        let isEmpty: Bool
        do throws(Errno) { isEmpty = try Self.isEmpty(folder) } catch {
            throw .library(path, error, doing: "list", in: role)
        }
        guard isEmpty else {
            throw Problem(
                .marker, "\(shown) is not empty and carries no \(role.rawValue) marker.",
                todo: role == .library
                    ? "Run `photospool init \(shown)` if this folder is to be the library."
                    : "Run `photospool init --mirror --existing \(shown)` if this folder is to be the mirror.")
        }
        if let original { try original.requireOtherDisk(folder, path: path) }
        let marker = try LibraryMarker.create(in: folder, mirrorOf: original?.id, shown: path, now: now)
        let id = marker.mirrorID ?? marker.id
        onCreation(id)
        return id
    }

    /// A mirror lies on another disk, or keeps nothing safe; and a mount point whose disk is away is a folder of the disk
    /// above it, which must not be filled in its place.
    private func requireOtherDisk(_ folder: borrowing Folder, path: Path) throws(Problem) {
        let shown = SafeText.of(path)
        let isOther: Bool
        do throws(Errno) { isOther = try folder.isDisk(apartFrom: device) } catch {
            throw .library(path, error, doing: "look at", in: .mirror)
        }
        if isOther { return }
        throw Problem(
            .marker, "\(shown) is an empty folder and no disk of its own: that of the mirror is probably not mounted.",
            todo: "Mount the disk. If this folder is to be the mirror all the same, run"
                + " `photospool init --mirror \(shown)`.")
    }

    /// A mirror of this library, and not a library itself: one that was made a library has gone its own way since.
    private static func requireMirror(
        _ marker: LibraryMarker, of original: String?, in folder: borrowing Folder, path: Path
    ) throws(Problem) {
        let shown = SafeText.of(path)
        guard marker.id == original else {
            throw Problem(
                .marker,
                "\(shown) is the mirror of another library (\(SafeText.of(marker.id))) than this one "
                    + "(\(original ?? "")).", todo: "Mount the right disk, or correct library.mirror.")
        }
        let isLibrary: Bool
        do throws(Errno) { isLibrary = try folder.contains(LibraryMarker.Role.library.path) } catch {
            throw .library(path, error, doing: "look at", in: .mirror)
        }
        guard !isLibrary else {
            throw Problem(
                .marker, "\(shown) is a library itself, and a mirror of one.",
                todo: "Correct library.mirror; a mirror that was made a library has to be mirrored elsewhere.")
        }
    }

    /// Asks whether the configured path still leads to this library or mirror; cheap, and done before every commit.
    ///
    /// - Throws: `E_LIBRARY_OFFLINE` when it leads nowhere or elsewhere, `E_MARKER` when the marker is gone or another.
    package func check() throws(Problem) {
        let stamp: FileStamp
        let marker: LibraryMarker?
        do throws(Errno) {
            let now = try Folder(opening: path)
            stamp = try now.status().stamp
        } catch {
            throw Self.offline(role, path, error)
        }
        guard stamp.device == device, stamp.inode == inode else {
            throw Problem(
                .libraryOffline,
                "Another directory stands at \(SafeText.of(path)) now: its disk was unmounted or "
                    + "something was mounted over it.")
        }
        marker = try LibraryMarker.read(role, in: root, shown: path)
        guard (role == .library ? marker?.id : marker?.mirrorID) == id else {
            throw Problem(
                .marker, "The marker of the \(role.rawValue) \(SafeText.of(path)) is gone or another one.",
                todo: role == .library ? nil : "Mount the right disk; mirroring then goes on by itself.")
        }
    }

    /// Writes something, for nothing else tells: what has failed may still call itself writable.
    ///
    /// - Throws: `E_LIBRARY_OFFLINE` while its filesystem is read-only.
    package func requireWritable() throws(Problem) {
        let probe = LibraryLayout.staging / ".probe"
        do throws(Errno) {
            do throws(Errno) { try root.unlink(probe) } catch .noEntry {}
            _ = try root.create(probe, mode: 0o600)
            try root.unlink(probe)
        } catch {
            throw .library(probe, error, doing: "make", in: role)
        }
    }

    /// Bytes that the service's user can still write.
    package func freeBytes() throws(Problem) -> ByteCount {
        do throws(Errno) {
            return ByteCount(try root.filesystem().availableBytes)
        } catch {
            throw .library(path, error, doing: "ask the free space of", in: role)
        }
    }

    /// - Throws: `E_LIBRARY_FULL` when so many bytes would take from the reserve.
    package func requireRoom(for bytes: Int64) throws(Problem) {
        let free = try freeBytes().bytes - settings.reserveFree.bytes
        guard free < bytes else { return }
        throw Problem(
            .libraryFull,
            "The \(role.rawValue) has no room for \(bytes) bytes: \(max(0, free)) are free beside `reserve_free`.")
    }

    /// Less than this, beside the reserve, is no room for anybody; in a small library an eighth of it.
    private static let smallPhoto: Int64 = 32 << 20

    /// Whether there is no room worth going on for.
    package func isFull() throws(Problem) -> Bool {
        do throws(Errno) {
            let space = try root.filesystem()
            return space.availableBytes - settings.reserveFree.bytes < min(Self.smallPhoto, space.totalBytes / 8)
        } catch {
            throw .library(path, error, doing: "ask the free space of", in: role)
        }
    }

    /// Whether the library knows of acts that the state has never heard of: the state is then an older one, restored
    /// from a backup perhaps, and would file photos again that it has forgotten.
    ///
    /// - Throws: `E_STATE_STALE`.
    package func checkNotAhead(of store: Store) throws(Problem) {
        // In this order: ids are reserved before their lines are written, by imports that may be at work meanwhile.
        let written = try journal.lastID()
        let known = try store.highestJournalID()
        guard written > known else { return }
        throw Problem(
            .stateStale, "The library's journal has come to entry \(written), but this state only knows of \(known).")
    }

    /// The highest id in the library's journal; 0 for none.
    package func lastJournalID() throws(Problem) -> Int64 { try journal.lastID() }
}
