package import PhotoModel
package import Store
import Synchronization

/// Holds the library while it is there, and opens it again when it comes back.
package final class LibraryKeeper: Sendable {
    /// The setting under which the state remembers the id of its library.
    static let setting = "library_id"

    private let current = Mutex<Library?>(nil)
    private let store: Store
    private let log: Log
    private let now: @Sendable () -> Timestamp

    package init(store: Store, log: @escaping Log, now: @escaping @Sendable () -> Timestamp) {
        self.store = store
        self.log = log
        self.now = now
    }

    package var library: Library? { current.withLock { $0 } }

    /// Makes sure that the library is open and the right one; blocking.
    ///
    /// - Throws: why it is not: `E_LIBRARY_OFFLINE`, `E_MARKER`, `E_LOCKED`, or trouble with the state.
    @discardableResult package func open(_ settings: LibrarySettings) throws(Problem) -> Library {
        if let library, library.path == settings.path {
            do throws(Problem) {
                try library.check()
                try library.adopt(settings)
                return library
            } catch {
                // Imports under way still hold it; they fail by themselves. Opened anew below.
                current.withLock { $0 = nil }
            }
        }
        current.withLock { $0 = nil }
        let known = try store.setting(Self.setting)
        let library = try Library(settings: settings, knownID: known, now: now()) { id in
            log(
                LogLine(
                    .warning, "An empty directory was made a new library.",
                    [("PATH", SafeText.of(settings.path)), ("LIBRARY_ID", id)]))
        }
        if known == nil { try store.set(Self.setting, to: library.id) }
        current.withLock { $0 = library }
        return library
    }

    package func close() { current.withLock { $0 = nil } }
}
