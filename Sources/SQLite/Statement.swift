import CSQLite

/// A prepared statement on loan from its connection's cache: bound, stepped, and reset when it goes out of scope.
///
/// Safe in any order of release: `sqlite3_close_v2` waits for it. <https://www.sqlite.org/c3ref/stmt.html>
@safe struct Statement: ~Copyable {
    private let handle: OpaquePointer
    private let sql: String
    private let cache: StatementCache

    init(_ sql: String, on connection: borrowing Connection) throws(SQLiteError) {
        cache = connection.cache
        self.sql = sql
        if let idle = unsafe cache.take(sql) {
            unsafe handle = idle
            return
        }
        var prepared: OpaquePointer?
        let code = unsafe sqlite3_prepare_v3(
            connection.handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &prepared, nil)
        guard code == SQLITE_OK, let prepared = unsafe prepared else { throw connection.failure(code, in: sql) }
        unsafe handle = prepared
    }

    deinit {
        unsafe sqlite3_reset(handle)  // repeats the last step's error, which was thrown there
        unsafe sqlite3_clear_bindings(handle)
        unsafe cache.giveBack(handle, sql)
    }

    /// - Precondition: as many values as parameters. SQLite copies the bytes.
    func bind(_ values: [Value], on connection: borrowing Connection) throws(SQLiteError) {
        let count = unsafe sqlite3_bind_parameter_count(handle)
        precondition(Int(count) == values.count, "\(values.count) values for \(count) parameters: \(sql)")
        for (position, value) in values.enumerated() {
            let index = Int32(position + 1)
            let code =
                switch value {
                case .null: unsafe sqlite3_bind_null(handle, index)
                case .integer(let number): unsafe sqlite3_bind_int64(handle, index, number)
                case .real(let number): unsafe sqlite3_bind_double(handle, index, number)
                case .text(let text): bind(text, at: index)
                case .blob(let bytes): bind(bytes, at: index)
                }
            guard code == SQLITE_OK else { throw connection.failure(code, in: sql) }
        }
    }

    private func bind(_ text: String, at index: Int32) -> Int32 {
        var text = text
        return text.withUTF8 { bytes in
            unsafe bytes.withMemoryRebound(to: CChar.self) { characters in
                // An empty string may have no address, and a NULL would be bound as NULL.
                unsafe characters.baseAddress == nil
                    ? shim_sqlite3_bind_text(handle, index, "", 0)
                    : shim_sqlite3_bind_text(handle, index, characters.baseAddress, Int32(characters.count))
            }
        }
    }

    private func bind(_ bytes: [UInt8], at index: Int32) -> Int32 {
        unsafe bytes.withUnsafeBytes { buffer in
            unsafe shim_sqlite3_bind_blob(handle, index, buffer.baseAddress, Int32(buffer.count))
        }
    }

    /// Ready for other values.
    func reset() {
        unsafe sqlite3_reset(handle)  // repeats the last step's error, which was thrown there
    }

    /// - Returns: whether there is a row to read.
    func step(on connection: borrowing Connection) throws(SQLiteError) -> Bool {
        switch unsafe sqlite3_step(handle) {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        case let code: throw connection.failure(code, in: sql)
        }
    }

    /// The row that the last step reached, good until the next.
    var row: Row { unsafe Row(handle: handle, sql: sql) }
}
