import CSQLite

/// One row of a result, lent to the closure that reads it. Columns count from 0. A value of another type than asked
/// for is an error and not converted in silence: STRICT tables make it a sign of damage.
///
/// Safe: the statement outlives the loan, and what is read is copied. <https://www.sqlite.org/c3ref/column_blob.html>
@safe package struct Row: ~Copyable {
    private let handle: OpaquePointer
    private let sql: String

    init(handle: OpaquePointer, sql: String) {
        unsafe self.handle = handle
        self.sql = sql
    }

    package func isNull(_ column: Int32) -> Bool { unsafe sqlite3_column_type(handle, column) == SQLITE_NULL }

    package func integer(_ column: Int32) throws(SQLiteError) -> Int64 {
        guard unsafe sqlite3_column_type(handle, column) == SQLITE_INTEGER else { throw unexpected(column) }
        return unsafe sqlite3_column_int64(handle, column)
    }

    package func real(_ column: Int32) throws(SQLiteError) -> Double {
        guard unsafe sqlite3_column_type(handle, column) == SQLITE_FLOAT else { throw unexpected(column) }
        return unsafe sqlite3_column_double(handle, column)
    }

    package func text(_ column: Int32) throws(SQLiteError) -> String {
        guard unsafe sqlite3_column_type(handle, column) == SQLITE_TEXT,
            let bytes = unsafe sqlite3_column_text(handle, column)
        else { throw unexpected(column) }
        let count = unsafe Int(sqlite3_column_bytes(handle, column))
        return unsafe String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
    }

    package func blob(_ column: Int32) throws(SQLiteError) -> [UInt8] {
        guard unsafe sqlite3_column_type(handle, column) == SQLITE_BLOB else { throw unexpected(column) }
        // A blob of no bytes has no address.
        guard let bytes = unsafe sqlite3_column_blob(handle, column) else { return [] }
        let count = unsafe Int(sqlite3_column_bytes(handle, column))
        return unsafe Array(UnsafeRawBufferPointer(start: bytes, count: count))
    }

    package func optionalInteger(_ column: Int32) throws(SQLiteError) -> Int64? {
        isNull(column) ? nil : try integer(column)
    }

    package func optionalReal(_ column: Int32) throws(SQLiteError) -> Double? {
        isNull(column) ? nil : try real(column)
    }

    package func optionalText(_ column: Int32) throws(SQLiteError) -> String? {
        isNull(column) ? nil : try text(column)
    }

    package func optionalBlob(_ column: Int32) throws(SQLiteError) -> [UInt8]? {
        isNull(column) ? nil : try blob(column)
    }

    /// A value that only some texts can have.
    package func word<Word: RawRepresentable>(
        _ column: Int32, as _: Word.Type = Word.self
    ) throws(SQLiteError) -> Word where Word.RawValue == String {
        guard let word = Word(rawValue: try text(column)) else { throw unexpected(column) }
        return word
    }

    package func optionalWord<Word: RawRepresentable>(
        _ column: Int32, as _: Word.Type = Word.self
    ) throws(SQLiteError) -> Word? where Word.RawValue == String {
        isNull(column) ? nil : try word(column)
    }

    /// The error for a value in `column` that means nothing to its reader.
    package func unexpected(_ column: Int32) -> SQLiteError {
        let name = unsafe sqlite3_column_name(handle, column).map { unsafe String(cString: $0) } ?? "column \(column)"
        return .unexpected("value in \(name)", in: sql)
    }
}
