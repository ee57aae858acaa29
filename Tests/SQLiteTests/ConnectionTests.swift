import Glibc
import SQLite
import Testing

@Suite("A database connection") struct ConnectionTests {
    @Test(arguments: [
        Value.null, .integer(0), .integer(.max), .integer(.min), .real(0.1), .real(-1e300), .text(""),
        .text("it's; DROP TABLE t --"), .text("a\u{0}b"), .text("日本 📷"), .blob([]), .blob([0, 255, 0x27]),
    ])
    func `gives back each value as it was bound`(value: Value) throws {
        let connection = try Connection(opening: Array(":memory:".utf8), for: .readWrite)
        try connection.execute("CREATE TABLE t (v ANY) STRICT")
        try connection.run("INSERT INTO t (v) VALUES (?)", [value])
        let back = try connection.first("SELECT v, typeof(v) FROM t") { row throws(SQLiteError) -> Value in
            switch try row.text(1) {
            case "null": .null
            case "integer": .integer(try row.integer(0))
            case "real": .real(try row.real(0))
            case "text": .text(try row.text(0))
            default: .blob(try row.blob(0))
            }
        }
        #expect(back == value)
    }

    @Test func `refuses to read a value as another type`() throws {
        let connection = try Connection(opening: Array(":memory:".utf8), for: .readWrite)
        #expect(throws: SQLiteError.self) {
            try connection.first("SELECT 'seven'") { row throws(SQLiteError) in try row.integer(0) }
        }
        #expect(throws: SQLiteError.self) {
            try connection.first("SELECT NULL") { row throws(SQLiteError) in try row.blob(0) }
        }
        #expect(
            try connection.first("SELECT NULL") { row throws(SQLiteError) in try row.optionalText(0) } == .some(nil))
    }

    @Test func `undoes a transaction whose body throws, and goes on`() throws {
        let connection = try Connection(opening: Array(":memory:".utf8), for: .readWrite)
        try connection.execute("CREATE TABLE t (v INTEGER UNIQUE) STRICT")
        var caught: SQLiteError?
        do {
            try connection.transaction(translate: asIs) { () throws(SQLiteError) in
                try connection.run("INSERT INTO t VALUES (1)")
                try connection.run("INSERT INTO t VALUES (1)")
            }
        } catch { caught = error }
        #expect(caught?.kind == .constraint)
        #expect(caught?.extendedCode == 2067)  // SQLITE_CONSTRAINT_UNIQUE, sqlite.org/rescode.html
        #expect(try count(connection) == 0)
        try connection.transaction(translate: asIs) { () throws(SQLiteError) in
            _ = try connection.run("INSERT INTO t VALUES (2)")
        }
        #expect(try count(connection) == 1)
    }

    @Test func `can run a statement inside itself`() throws {
        let connection = try Connection(opening: Array(":memory:".utf8), for: .readWrite)
        let sql = "SELECT value FROM json_each('[1,2,3]')"
        let sums = try connection.rows(sql) { outer throws(SQLiteError) -> Int64 in
            let base = try outer.integer(0)
            return try connection.rows(sql) { inner throws(SQLiteError) in base * (try inner.integer(0)) }
                .reduce(0, +)
        }
        #expect(sums == [6, 12, 18])
    }

    @Test func `does not take a misspelt column in double quotes for a text`() throws {
        let connection = try Connection(opening: Array(":memory:".utf8), for: .readWrite)
        try connection.execute("CREATE TABLE t (v TEXT) STRICT")
        #expect(throws: SQLiteError.self) { try connection.run("SELECT * FROM t WHERE v = \"nothing\"") }
    }

    @Test func `for reading changes nothing`() throws {
        let path = "/tmp/photospool-sqlite-\(getpid())-\(UInt64.random(in: 0 ... .max)).db"
        defer { for suffix in ["", "-wal", "-shm"] { unsafe unlink(path + suffix) } }
        let writer = try Connection(opening: Array(path.utf8), for: .readWrite)
        try writer.execute("PRAGMA journal_mode = WAL; CREATE TABLE t (v INTEGER) STRICT")
        let reader = try Connection(opening: Array(path.utf8), for: .readOnly)
        #expect(throws: SQLiteError.self) { try reader.run("INSERT INTO t VALUES (1)") }
        try writer.run("INSERT INTO t VALUES (1)")
        #expect(try count(reader) == 1)
        // A snapshot stays what it was, whatever is committed meanwhile.
        let counts = try reader.snapshot(translate: asIs) { () throws(SQLiteError) -> [Int64?] in
            let before = try count(reader)
            try writer.run("INSERT INTO t VALUES (2)")
            return [before, try count(reader)]
        }
        #expect(counts == [1, 1])
        #expect(try count(reader) == 2)
    }

    @Test func `says what is wrong with a file that is no database`() throws {
        let path = "/tmp/photospool-sqlite-\(getpid())-\(UInt64.random(in: 0 ... .max)).db"
        defer { unsafe unlink(path) }
        let file = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL, 0o600)
        let text = Array(String(repeating: "not a database at all. ", count: 200).utf8)
        #expect(unsafe write(file, text, text.count) == text.count)
        close(file)
        let connection = try Connection(opening: Array(path.utf8), for: .readWrite)
        let error = #expect(throws: SQLiteError.self) { try connection.run("SELECT * FROM sqlite_schema") }
        #expect(error?.kind == .corrupt)
        #expect(error?.description == "file is not a database (SQLITE_NOTADB)")
    }

    private func count(_ connection: borrowing Connection) throws(SQLiteError) -> Int64? {
        try connection.first("SELECT count(*) FROM t") { row throws(SQLiteError) in try row.integer(0) }
    }

    private func asIs(_ error: SQLiteError) -> SQLiteError { error }
}
