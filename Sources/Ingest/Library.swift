package import Files
package import PhotoModel
package import Store
import Synchronization

/// The library as found at one moment: a held directory that carries the expected marker.
///
/// Everything is reached from the held descriptor, so a disk mounted over the path meanwhile cannot catch half an
/// import. ``check()`` tells when the path leads elsewhere now.
package final class Library: Sendable {
    package let root: Folder
    package let path: Path
    package let id: String
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

    var fileMode: UInt32 { settings.fileMode }
    /// The file mode with x wherever there is r, and setgid so that what is made below belongs to the same group.
    var folderMode: UInt32 { settings.fileMode | (settings.fileMode & 0o444) >> 2 | 0o2000 }

    /// Opens the library and makes sure that it is the one this state belongs to.
    ///
    /// - Parameters:
    ///   - knownID: the marker id that the state remembers; nil when it has never known a library. Then a directory
    ///     without marker is made a library if it is empty, and `onCreation` is told.
    /// - Throws: `E_LIBRARY_OFFLINE` when the directory is absent, `E_MARKER` for a missing or foreign marker,
    ///   `E_LOCKED`, or an I/O problem.
    package init(
        settings: LibrarySettings, knownID: String?, now: Timestamp, onCreation: (String) -> Void
    ) throws(Problem) {
        path = settings.path
        let folder: Folder
        do throws(Errno) {
            folder = try Folder(opening: settings.path)
        } catch {
            throw Self.offline(settings.path, error)
        }
        let groupID = try Self.groupID(named: settings.group)
        rules = Mutex(Rules(settings: settings, groupID: groupID))
        id = try Self.identify(folder, path: settings.path, knownID: knownID, now: now, onCreation: onCreation)
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
            throw .library(LibraryLayout.own, error, doing: "prepare")
        }
        lock = try Self.takeLock(folder, path: settings.path)
        Self.removeUnfinishedMarkers(in: folder)
        root = folder
    }

    private static func takeLock(_ folder: borrowing Folder, path: Path) throws(Problem) -> InstanceLock {
        do throws(InstanceLock.Failure) {
            return try InstanceLock.taking(LibraryLayout.lock, in: folder)
        } catch {
            switch error {
            case .held(let holder):
                throw Problem(
                    .locked,
                    "The library \(SafeText.of(path)) is in use by \(holder?.description ?? "another process").",
                    todo: "Stop the other instance; two services cannot share a library.")
            case .unavailable(let errno): throw .library(LibraryLayout.lock, errno, doing: "lock")
            }
        }
    }

    private static func offline(_ path: Path, _ errno: Errno) -> Problem {
        Problem(.libraryOffline, "The library \(SafeText.of(path)) cannot be opened: \(errno.description).")
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
        _ folder: borrowing Folder, path: Path, knownID: String?, now: Timestamp, onCreation: (String) -> Void
    ) throws(Problem) -> String {
        if let marker = try LibraryMarker.read(in: folder, shown: path) {
            guard let knownID, knownID != marker.id else { return marker.id }
            throw Problem(
                .marker,
                "\(SafeText.of(path)) holds another library (\(SafeText.of(marker.id))) than the one this state knows "
                    + "(\(knownID)).")
        }
        guard knownID == nil else {
            throw Problem(
                .marker,
                "\(SafeText.of(path)) carries no library marker, although the library is known: its disk is "
                    + "probably not mounted.")
        }
        let isEmpty: Bool
        do throws(Errno) { isEmpty = try Self.isEmpty(folder) } catch { throw .library(path, error, doing: "list") }
        guard isEmpty else {
            throw Problem(
                .marker, "\(SafeText.of(path)) is not empty and carries no library marker.",
                todo: "Run `photospool init \(SafeText.of(path))` if this folder is to be the library.")
        }
        let marker = try LibraryMarker.create(in: folder, shown: path, now: now)
        onCreation(marker.id)
        return marker.id
    }

    /// Asks whether the configured path still leads to this library; cheap, and done before every commit.
    ///
    /// - Throws: `E_LIBRARY_OFFLINE` when it leads nowhere or elsewhere, `E_MARKER` when the marker is gone or another.
    package func check() throws(Problem) {
        let stamp: FileStamp
        let marker: LibraryMarker?
        do throws(Errno) {
            let now = try Folder(opening: path)
            stamp = try now.status().stamp
        } catch {
            throw Self.offline(path, error)
        }
        guard stamp.device == device, stamp.inode == inode else {
            throw Problem(
                .libraryOffline,
                "Another directory stands at \(SafeText.of(path)) now: its disk was unmounted or "
                    + "something was mounted over it.")
        }
        marker = try LibraryMarker.read(in: root, shown: path)
        guard marker?.id == id else {
            throw Problem(.marker, "The marker of the library \(SafeText.of(path)) is gone or another one.")
        }
    }

    /// Bytes that the service's user can still write.
    package func freeBytes() throws(Problem) -> ByteCount {
        do throws(Errno) {
            return ByteCount(try root.filesystem().availableBytes)
        } catch {
            throw .library(path, error, doing: "ask the free space of")
        }
    }

    /// - Throws: `E_LIBRARY_FULL` when so many bytes would take from the reserve.
    package func requireRoom(for bytes: Int64) throws(Problem) {
        let free = try freeBytes().bytes - settings.reserveFree.bytes
        guard free < bytes else { return }
        throw Problem(
            .libraryFull,
            "The library has no room for \(bytes) bytes: \(max(0, free)) are free beside `reserve_free`.")
    }

    /// Less than this, beside the reserve, is no room for anybody; in a small library an eighth of it.
    private static let smallPhoto: Int64 = 32 << 20

    /// Whether there is no room worth going on for.
    func isFull() throws(Problem) -> Bool {
        do throws(Errno) {
            let space = try root.filesystem()
            return space.availableBytes - settings.reserveFree.bytes < min(Self.smallPhoto, space.totalBytes / 8)
        } catch {
            throw .library(path, error, doing: "ask the free space of")
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
