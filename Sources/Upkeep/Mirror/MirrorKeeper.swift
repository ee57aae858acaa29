import Files
import Ingest
import PhotoModel
import Store
import Synchronization

/// Opens the mirror for as long as somebody works at it, and no longer: its disk can be unmounted whenever nothing is owed.
final class MirrorKeeper: Sendable {
    /// The one that is open; those who work at it at the same time share its lock.
    private struct Open: ~Copyable { weak var mirror: Library? }

    private let open = Mutex(Open())
    private let store: Store
    private let log: Log
    private let now: @Sendable () -> Timestamp

    init(store: Store, log: @escaping Log, now: @escaping @Sendable () -> Timestamp) {
        self.store = store
        self.log = log
        self.now = now
    }

    /// Opens it, makes an empty disk one when the state has never known a mirror, and takes over another mirror of the
    /// same library, whose marks then begin anew.
    ///
    /// - Throws: why it cannot be used: `E_LIBRARY_OFFLINE`, `E_MARKER`, `E_LOCKED`, or trouble with the state.
    func open(_ settings: LibrarySettings, of library: Library) throws(Problem) -> Library {
        try open.withLock { open throws(Problem) in
            if let mirror = open.mirror, mirror.path == settings.mirror {
                try mirror.check()
                try mirror.adopt(settings)
                return mirror
            }
            let known = try store.mirrorID
            let fields = [("PATH", SafeText.of(settings.mirror))]
            let mirror = try Library(settings: settings, knownID: known, mirrorOf: library, now: now()) { id in
                log(
                    LogLine(
                        .warning, "An empty disk was made the mirror of the library.",
                        fields + [("MIRROR_ID", id)]))
            }
            if known != mirror.id {
                try store.adoptMirror(mirror.id)
                if let known {
                    log(
                        LogLine(
                            .warning, "Another mirror of this library is there; what it holds is looked at anew.",
                            fields + [("MIRROR_ID", mirror.id), ("BEFORE", known)]))
                }
            }
            Self.sweep(mirror)
            open.mirror = mirror
            return mirror
        }
    }

    /// Whoever holds the lock finds nothing in staging that is still being made.
    private static func sweep(_ mirror: Library) {
        do throws(Errno) {
            var names: [Path] = []
            try mirror.root.folder(at: LibraryLayout.staging).forEachEntry { name, _ in
                names.append(name)
                return true
            }
            for name in names { try mirror.root.removeTree(LibraryLayout.staging / name) }
        } catch _ {}  // in nobody's way: each copy removes what has its name
    }

    /// A look at the mirror without opening it: nothing is written, and nothing held.
    /// - Returns: its free bytes; nil when it is not there as it was, which ``open(_:of:)`` tells more of.
    func look(_ settings: LibrarySettings) throws(Problem) -> Int64? {
        guard let known = try store.mirrorID else { return nil }
        do throws(Errno) {
            let folder = try Folder(opening: settings.mirror)
            do throws(Problem) {
                let marker = try LibraryMarker.read(.mirror, in: folder, shown: settings.mirror)
                guard marker?.mirrorID == known else { return nil }
            } catch { return nil }
            return try folder.filesystem().availableBytes
        } catch { return nil }
    }
}
