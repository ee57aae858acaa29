import CSQLite

/// The prepared statements of one connection that are not in use. A statement is owned either by the cache or by the
/// one ``Statement`` that took it, never by both; whoever owns it last finalizes it.
///
/// Not thread-safe: it goes with its connection, which is used by one thread at a time.
@safe final class StatementCache {
    private var idle: [String: OpaquePointer] = unsafe [:]

    func take(_ sql: String) -> OpaquePointer? { unsafe idle.removeValue(forKey: sql) }

    /// Takes `handle` over. The same text can come back twice, when it was run inside itself; one is kept.
    func giveBack(_ handle: OpaquePointer, _ sql: String) {
        if let previous = unsafe idle.updateValue(handle, forKey: sql) { unsafe sqlite3_finalize(previous) }
    }

    func finalizeAll() {
        while let (_, handle) = unsafe idle.popFirst() {
            unsafe sqlite3_finalize(handle)
        }
    }

    deinit { finalizeAll() }
}
