import CSQLite

/// What SQLite said: its extended result code and its words. <https://www.sqlite.org/rescode.html>
package struct SQLiteError: Error, Hashable, Sendable {
    /// What a caller can act on; everything else is ``Kind/other``.
    package enum Kind: Sendable {
        /// The file is damaged, or no database at all.
        case corrupt
        /// No space left.
        case full
        /// The disk, or permission to use it.
        case io
        /// Another program holds the file.
        case busy
        case memory
        /// A uniqueness, foreign key, or check rule of the schema refused the change.
        case constraint
        case other
    }

    package let extendedCode: Int32
    package let message: String
    /// The statement that failed, without its values.
    package let sql: String

    package init(extendedCode: Int32, message: String, sql: String) {
        self.extendedCode = extendedCode
        self.message = message
        self.sql = sql
    }

    package var kind: Kind {
        switch extendedCode & 0xff {
        case SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_MISMATCH: .corrupt
        case SQLITE_FULL: .full
        case SQLITE_IOERR, SQLITE_CANTOPEN, SQLITE_READONLY, SQLITE_PERM, SQLITE_PROTOCOL, SQLITE_NOLFS: .io
        case SQLITE_BUSY, SQLITE_LOCKED: .busy
        case SQLITE_NOMEM: .memory
        case SQLITE_CONSTRAINT: .constraint
        default: .other
        }
    }

    /// Why, in words and with the name of the code's family: `database or disk is full (SQLITE_FULL)`.
    package var description: String { "\(message) (\(name))" }

    private var name: String {
        switch extendedCode & 0xff {
        case SQLITE_CORRUPT: "SQLITE_CORRUPT"
        case SQLITE_NOTADB: "SQLITE_NOTADB"
        case SQLITE_MISMATCH: "SQLITE_MISMATCH"
        case SQLITE_FULL: "SQLITE_FULL"
        case SQLITE_IOERR: "SQLITE_IOERR, \(extendedCode)"
        case SQLITE_CANTOPEN: "SQLITE_CANTOPEN"
        case SQLITE_READONLY: "SQLITE_READONLY"
        case SQLITE_BUSY: "SQLITE_BUSY"
        case SQLITE_LOCKED: "SQLITE_LOCKED"
        case SQLITE_NOMEM: "SQLITE_NOMEM"
        case SQLITE_CONSTRAINT: "SQLITE_CONSTRAINT, \(extendedCode)"
        default: "SQLite code \(extendedCode)"
        }
    }

    /// A stored value is not what the schema promises: the file was changed by another hand.
    package static func unexpected(_ what: String, in sql: String) -> SQLiteError {
        SQLiteError(extendedCode: SQLITE_MISMATCH, message: "unexpected \(what)", sql: sql)
    }
}
