import CSQLite

/// One open database, owned by one place and used by one thread at a time: it is opened without SQLite's own lock
/// (`SQLITE_OPEN_NOMUTEX`), because ``GuardedConnection`` holds one around whole transactions anyway.
///
/// Values are always bound, never written into SQL; statements are prepared once and kept.
/// Safe: the handle never leaves this room. <https://www.sqlite.org/c3ref/sqlite3.html>
@safe package struct Connection: ~Copyable {
    package enum Access: Hashable, Sendable {
        case readWrite, readOnly
        /// As it lies, while no process has it open: nothing is written into it or beside it. `hasLog` when a write-ahead
        /// log lies beside it, which is then read with it.
        case untouched(hasLog: Bool)
    }

    let handle: OpaquePointer
    let cache: StatementCache

    /// Opens the file, making it when it is absent and may be written. Nothing is read from it yet.
    /// - Parameter path: bytes without NUL.
    package init(opening path: [UInt8], for access: Access) throws(SQLiteError) {
        unsafe handle = try Self.open(path, access)
        cache = StatementCache()
    }

    private static func open(_ path: [UInt8], _ access: Access) throws(SQLiteError) -> OpaquePointer {
        var flags = SQLITE_OPEN_NOMUTEX
        var name = path
        // Without locks SQLite may keep the log's index in its own memory instead of in a file beside it.
        var layer: String?
        switch access {
        case .readWrite: flags |= SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
        case .readOnly: flags |= SQLITE_OPEN_READWRITE
        case .untouched(hasLog: true):
            flags |= SQLITE_OPEN_READONLY
            layer = "unix-none"
        case .untouched(hasLog: false):
            flags |= SQLITE_OPEN_READONLY | SQLITE_OPEN_URI
            name = Array("file:".utf8) + percentEncoded(path) + Array("?immutable=1".utf8)
        }
        let terminated = name.map { CChar(bitPattern: $0) } + [0]
        var opened: OpaquePointer?
        var code = unsafe terminated.withUnsafeBufferPointer { name in
            unsafe sqlite3_open_v2(name.baseAddress, &opened, flags, layer)
        }
        guard let opened = unsafe opened else {
            throw SQLiteError(extendedCode: SQLITE_NOMEM, message: "out of memory", sql: "open")
        }
        if code == SQLITE_OK { code = unsafe sqlite3_extended_result_codes(opened, 1) }
        if code == SQLITE_OK { code = unsafe shim_sqlite3_harden(opened) }
        // Read-only is `query_only` on a writable file: a reader of a WAL has to be able to make its index.
        if code == SQLITE_OK, access == .readOnly {
            code = unsafe sqlite3_exec(opened, "PRAGMA query_only = ON", nil, nil, nil)
        }
        if code == SQLITE_OK, case .untouched = access {
            code = unsafe shim_sqlite3_leave_log(opened)
            if code == SQLITE_OK {
                code = unsafe sqlite3_exec(opened, "PRAGMA locking_mode = EXCLUSIVE", nil, nil, nil)
            }
        }
        guard code == SQLITE_OK else {
            let error = unsafe failure(code, of: opened, in: "open")
            unsafe sqlite3_close_v2(opened)  // asked for after a failed open too
            throw error
        }
        return unsafe opened
    }

    /// For a URI: <https://www.sqlite.org/uri.html>
    private static func percentEncoded(_ path: [UInt8]) -> [UInt8] {
        let digits = Array("0123456789ABCDEF".utf8)
        return path.flatMap { byte -> [UInt8] in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x2F, 0x5F: [byte]  // letters, digits, - . / _
            default: [0x25, digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
    }

    deinit {
        cache.finalizeAll()
        unsafe sqlite3_close_v2(handle)  // waits for whatever is still in use, so it cannot fail
    }

    /// Runs statements without parameters or rows that matter: schema and pragmas.
    package func execute(_ sql: String) throws(SQLiteError) {
        let code = unsafe sqlite3_exec(handle, sql, nil, nil, nil)
        guard code == SQLITE_OK else { throw failure(code, in: sql) }
    }

    /// Runs one statement that changes something.
    /// - Returns: how many rows it changed itself, those of triggers and cascades not counted.
    @discardableResult
    package func run(_ sql: String, _ values: [Value] = []) throws(SQLiteError) -> Int {
        let statement = try Statement(sql, on: self)
        try statement.bind(values, on: self)
        while try statement.step(on: self) {}
        return unsafe Int(sqlite3_changes(handle))
    }

    /// The id of the row inserted last.
    package var lastInsertedRow: Int64 { unsafe sqlite3_last_insert_rowid(handle) }

    package func rows<Result>(
        _ sql: String, _ values: [Value] = [], _ read: (borrowing Row) throws(SQLiteError) -> Result
    ) throws(SQLiteError) -> [Result] {
        let statement = try Statement(sql, on: self)
        try statement.bind(values, on: self)
        var results: [Result] = []
        while try statement.step(on: self) { results.append(try read(statement.row)) }
        return results
    }

    package func first<Result>(
        _ sql: String, _ values: [Value] = [], _ read: (borrowing Row) throws(SQLiteError) -> Result
    ) throws(SQLiteError) -> Result? {
        let statement = try Statement(sql, on: self)
        try statement.bind(values, on: self)
        guard try statement.step(on: self) else { return nil }
        return try read(statement.row)
    }

    /// Asks the same for many values: the first column of each first row, nil where there is none.
    package func firstNumbers(
        _ sql: String, times: Int, _ values: (Int) -> [Value]
    ) throws(SQLiteError) -> [Int64?] {
        let statement = try Statement(sql, on: self)
        var numbers: [Int64?] = []
        numbers.reserveCapacity(times)
        for time in 0..<times {
            try statement.bind(values(time), on: self)
            numbers.append(try statement.step(on: self) ? try statement.row.optionalInteger(0) : nil)
            statement.reset()
        }
        return numbers
    }

    /// Runs `body` whole or not at all. When it returns, the change is on the medium (with `synchronous = FULL`);
    /// when anything throws, or the process dies, there was none.
    /// - Parameter translate: makes of SQLite's words the error that `body` throws.
    package func transaction<Result, Failure: Error>(
        translate: (SQLiteError) -> Failure, _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try whole("BEGIN IMMEDIATE", translate, body)
    }

    /// Runs `body` on one state of the database, whatever others commit meanwhile.
    package func snapshot<Result, Failure: Error>(
        translate: (SQLiteError) -> Failure, _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try whole("BEGIN DEFERRED", translate, body)
    }

    private func whole<Result, Failure: Error>(
        _ begin: String, _ translate: (SQLiteError) -> Failure, _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        do throws(SQLiteError) { try run(begin) } catch { throw translate(error) }
        do throws(Failure) {
            let result = try body()
            do throws(SQLiteError) { try run("COMMIT") } catch { throw translate(error) }
            return result
        } catch {
            rollBack()
            throw error
        }
    }

    private func rollBack() {
        // After some errors (full disk, I/O) SQLite has rolled back already and would complain.
        guard unsafe sqlite3_get_autocommit(handle) == 0 else { return }
        _ = unsafe sqlite3_exec(handle, "ROLLBACK", nil, nil, nil)  // the error that led here is the one to report
    }

    func failure(_ code: Int32, in sql: String) -> SQLiteError { unsafe Self.failure(code, of: handle, in: sql) }

    private static func failure(_ code: Int32, of handle: OpaquePointer, in sql: String) -> SQLiteError {
        let extended = unsafe sqlite3_extended_errcode(handle)
        let message = unsafe sqlite3_errmsg(handle).map { unsafe String(cString: $0) } ?? "no message"
        return SQLiteError(extendedCode: extended == SQLITE_OK ? code : extended, message: message, sql: sql)
    }
}
