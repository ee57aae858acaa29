package import Ingest
package import PhotoModel
package import Store

/// What every operation works with.
package struct UpkeepRooms: Sendable {
    package let store: Store
    /// - Throws: why the library is not open.
    package let library: @Sendable () throws(Problem) -> Library
    package let drops: @Sendable () -> [DropFolder]
    package let log: Log
    package let now: @Sendable () -> Timestamp

    package init(
        store: Store, library: @escaping @Sendable () throws(Problem) -> Library,
        drops: @escaping @Sendable () -> [DropFolder], log: @escaping Log, now: @escaping @Sendable () -> Timestamp
    ) {
        self.store = store
        self.library = library
        self.drops = drops
        self.log = log
        self.now = now
    }
}
